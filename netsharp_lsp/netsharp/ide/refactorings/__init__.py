"""Changes on request: one file each, a function from a site to the actions it offers.

All except those that say so leave the network as it is; comments are never lost.
"""
