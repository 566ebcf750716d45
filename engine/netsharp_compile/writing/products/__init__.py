"""The functions in C that add the products of layers: a `row` of weights at a time, several `rows`
for processors with DSP instructions, nodes in the `lanes` of vectors; `targets` selects among them.

Knows sums, and not what is done with them.
"""
