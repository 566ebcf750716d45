"""Descriptions of the words of CNTK's languages for users: options, functions, nodes, words of
values.

Knows no edited text.
"""
