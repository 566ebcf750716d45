"""The meaning of a joined configuration: its commands, its values in order, the readers of its
blocks.

Reads no file and splits no text.
"""
