"""What the blocks of a training ask for, as plans: rates, sizes, adjusting, workers.

Knows no file.
"""
