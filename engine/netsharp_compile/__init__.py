"""Networks in integers: quantisation schemes, and transfer functions as precomputed tables.

Uses the engine; knows no language and no editor.
"""
