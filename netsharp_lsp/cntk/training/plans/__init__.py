"""The plans that the blocks of a training set: rates, sizes, adjusting, workers.

Knows no file.
"""
