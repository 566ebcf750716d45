"""The client of a session: what it can, how it is reached, and what it is told by itself.

Whatever a session is made of stands on `connection`.
"""
