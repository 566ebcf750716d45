"""Python as a host: its tolerant tree, its literals, and the specifications in them.

The only place of parso.
"""
