"""The answers of requests and commands: diagnostics, changes, places in any file, runs started.

Knows the session, and no method.
"""
