"""What is read from rows before anything becomes an integer: the `rows` of a training, the `ranges`
that they show, and channels brought nearer to one range by `levelling`.

Knows no code for a device.
"""
