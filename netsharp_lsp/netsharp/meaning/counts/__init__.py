"""What a network adds up to: edges of filtered bundles, what is shared, parameters of layers.

Knows how a network is made up, not how it is found; judges nothing.
"""
