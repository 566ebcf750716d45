"""Trained networks in the formats of other programs. It knows graphs and their numbers, and must
not know languages, CNTK's files or commands.
"""
