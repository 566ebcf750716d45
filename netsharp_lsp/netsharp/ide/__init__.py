"""Net# for editors: one module for each feature, from a network and an offset to plain values.

Nothing here knows a protocol, reads a disk, or keeps state between two requests.
"""
