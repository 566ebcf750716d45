"""The files that the original keeps networks and their state in, written and read as plain values.

Knows no kernel and no training.
"""
