"""From files of any format to tables: found, opened, told apart, read in chunks.

Knows cells and columns, and nothing that is fitted to them.
"""
