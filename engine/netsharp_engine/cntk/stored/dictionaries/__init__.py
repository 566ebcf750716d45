"""Models of the original's second format: dictionaries, functions and blocks become nodes.

Knows the nodes of the first format by name, and none of its files.
"""
