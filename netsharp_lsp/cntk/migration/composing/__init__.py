"""From edited texts to the files that stand in their place.

Knows no rule and proves nothing.
"""
