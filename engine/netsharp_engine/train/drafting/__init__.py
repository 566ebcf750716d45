"""The programs of a run before memory is taken for them, and the number of their threads; it must
not know back ends.
"""
