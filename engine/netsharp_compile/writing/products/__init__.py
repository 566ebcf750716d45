"""How the functions in C of layers add products: a `row` of weights at a time, four `rows` for
processors of signals; `targets` says for which of them what is written.

Knows sums, and nothing of what becomes of one.
"""
