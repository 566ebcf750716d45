"""Statistics of rows from before quantisation: the `rows` of a training, the `ranges` of their
values, channels scaled to more equal ranges by `levelling`, and biases corrected for roundings by
`correcting`.

Knows no code for a device.
"""
