"""The cost of a plan's calls: their work, rates of each kind of work, and how these are measured.
Plans must not know it.
"""
