"""The node at an offset, the subject of its words, and what may be written there.

Knows no feature that uses it.
"""
