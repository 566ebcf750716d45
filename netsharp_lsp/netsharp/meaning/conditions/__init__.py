"""Conditions of filtered bundles: as terms, over whole ranges, and as edges.

Knows values, and no network.
"""
