"""How each operation on tensors is computed, forward and backward: a row of the one table for each.

Knows nothing of how a graph is walked through.
"""
