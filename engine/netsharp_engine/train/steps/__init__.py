"""What shapes the steps of a training: nodes that are left out, and rates that fall.

It knows graphs and settings; no back end, no table, no file.
"""
