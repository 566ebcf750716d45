"""Images as the original's reader of them has them: lists, pixels, changes.

Arrays are [rows, columns, channels], and channels blue, green, red.
"""
