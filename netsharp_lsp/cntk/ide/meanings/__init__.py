"""What the words of CNTK's languages mean, for people: options, functions, nodes, words of values.

Knows no text that is edited.
"""
