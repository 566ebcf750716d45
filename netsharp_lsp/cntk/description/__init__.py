"""Runs as users see them: the network that is meant, and the differences between two runs.

Knows no rule and no editor, and not how results are drawn and printed.
"""
