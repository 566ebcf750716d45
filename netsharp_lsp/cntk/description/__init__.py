"""Runs as people are shown them: the network that is meant, and what differs between two runs.

Knows no rule and no editor; how it is drawn and printed is not known here.
"""
