"""What can be seen of a network by looking at it while it is trained: layers, doubts, the start.

It knows graphs, rows and figures; no language, no terminal, no file.
"""
