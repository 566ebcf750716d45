"""Net# as editors see it: one module a feature, from a network and an offset to plain values.

Nothing here knows a protocol, reads a disk, or keeps anything between two questions.
"""
