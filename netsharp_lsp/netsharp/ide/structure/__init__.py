"""The structure of a text: outline, folding, selection, and the colours of its words.

Explains nothing.
"""
