"""Conditions of filtered bundles: as terms, over whole ranges, and the edges that they let through.

Knows values, and no network.
"""
