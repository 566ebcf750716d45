"""Networks of tensors, as CNTK's are, becoming layers: `views` are values by element, `elements`
numbers for each, `sums` what no operator was applied to, `windows` kernels and pools over images,
`names` what layers are called, `ends` the outputs that the last layer answers, and `tensors` is the
walk over a graph.

Knows no integers.
"""
