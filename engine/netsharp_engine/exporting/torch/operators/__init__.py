"""The rows of operations in PyTorch, a module for each kind; `table` joins them.

Knows one operation at a time: neither graphs, nor loops, nor what stands around a network.
"""
