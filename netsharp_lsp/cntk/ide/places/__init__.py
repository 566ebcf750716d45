"""The edited text with its runs, and what stands at a place of it: blocks, calls, sections, nodes.

Knows no feature that asks for it.
"""
