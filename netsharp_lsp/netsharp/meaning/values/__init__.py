"""The values of expressions and attributes, and the faults of their evaluation.

Knows no layer and no bundle.
"""
