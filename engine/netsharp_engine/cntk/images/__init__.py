"""Images as CNTK's image reader has them: lists, pixels, transforms.

Arrays are [rows, columns, channels], and channels blue, green, red.
"""
