"""Changes that people ask for: one file each, a function from a site to the actions it offers.

All but those that say so leave the network as it is; comments are never lost.
"""
