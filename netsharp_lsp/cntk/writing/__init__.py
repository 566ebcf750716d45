"""A network without a text, written as BrainScript: names become records, nodes become calls.

Knows no file and no value of a parameter: the caller supplies the initialization of each.
"""
