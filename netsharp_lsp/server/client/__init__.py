"""The client of a session: its abilities, its connection, and messages sent without a request.

Everything in a session builds on `connection`.
"""
