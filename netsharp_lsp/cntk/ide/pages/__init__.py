"""What is said at a place, in Markdown: a node, a declaration, an option.

Knows not whether a hover, a lens or a proposal shows it.
"""
