"""The files in which CNTK stores networks and their state, written and read as plain values.

It must not know kernels or training.
"""
