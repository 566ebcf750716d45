"""The values of expressions and attributes, and the faults met while they are worked out.

Knows no layer and no bundle.
"""
