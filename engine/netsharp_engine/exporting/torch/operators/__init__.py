"""The rows of operations in PyTorch, a module for each kind; `table` joins them.

They know one operation at a time, and must not know graphs, loops, or the columns around a network.
"""
