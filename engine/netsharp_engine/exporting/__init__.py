"""Trained networks in the formats of other programs.

Knows graphs and their numbers; no language, no file of CNTK's and no command.
"""
