"""How a text is arranged: outline, folding, selection, and the colours of its words.

Knows no name's declaration.
"""
