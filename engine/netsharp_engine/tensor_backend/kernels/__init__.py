"""The computation of each operation on tensors, forward and backward: a row of the one table for
each.

It must not know how a graph is walked.
"""
