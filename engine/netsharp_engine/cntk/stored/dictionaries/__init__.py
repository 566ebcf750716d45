"""Models of CNTK's second format: dictionaries, functions and blocks become nodes.

It knows the nodes of the first format by name, and must not know its files.
"""
