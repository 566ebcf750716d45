"""How good a network in integers is beside the one in floating point: `comparing` adds up answers.

Knows no files and no terminal.
"""
