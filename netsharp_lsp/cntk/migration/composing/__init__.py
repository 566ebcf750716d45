"""Composition of edited texts to the files that replace the old ones.

Knows no rule and proves nothing.
"""
