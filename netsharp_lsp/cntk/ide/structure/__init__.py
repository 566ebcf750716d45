"""The structure of a text: outline, folding, selection, and semantic tokens.

Knows no name's declaration.
"""
