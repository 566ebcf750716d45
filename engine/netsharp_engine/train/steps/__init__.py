"""Changes to the steps of a training: nodes that are left out, and rates that fall.

It knows graphs and settings, and must not know back ends, tables or files.
"""
