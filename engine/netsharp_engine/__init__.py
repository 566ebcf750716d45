"""Training and evaluation of neural networks on numpy.

It knows graphs of operations, plans and arrays; it must not know any language
that a network can be written in.
"""
