"""Where arrays lie: in memory, in files for a while, in files that are kept and found again.

Knows named arrays and plain values, and nothing of what they mean to a table or a training.
"""
