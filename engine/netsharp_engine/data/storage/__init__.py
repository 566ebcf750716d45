"""The storage of arrays: in memory, in temporary files, in files that are kept and found again.

It knows named arrays and plain values, and must not know what they mean to a table or a training.
"""
