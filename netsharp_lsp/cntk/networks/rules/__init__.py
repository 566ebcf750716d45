"""The shape rules of all native node types, by kind of operation.  A rule sets the shape and axis
of a node and infers those of its parameters; the final pass raises `Misfit`.
"""
