"""The edited text with its runs, and the syntax at a place: blocks, calls, sections, nodes.

Knows no feature that uses it.
"""
