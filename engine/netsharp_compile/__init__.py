"""Networks in integers: quantisation schemes, and transfer functions as precomputed tables.

Stands beside the engine; knows no language and no editor.
"""
