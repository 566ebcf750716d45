"""Observations of a network while it is trained: layers, doubts, the start.

It knows graphs, rows and figures, and must not know a language, a terminal or a file.
"""
