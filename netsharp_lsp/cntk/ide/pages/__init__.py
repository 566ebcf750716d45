"""Descriptions of a node, a declaration or an option at a place, in Markdown.

Do not know whether a hover, a lens or a proposal shows them.
"""
