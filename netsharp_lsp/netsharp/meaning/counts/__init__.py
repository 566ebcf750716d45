"""Counts of a network: edges of filtered bundles, shared weights, parameters of layers.

Knows how a network is made up, not how it is found; reports no findings.
"""
