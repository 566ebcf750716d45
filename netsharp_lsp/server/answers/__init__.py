"""What requests and commands answer with: diagnostics, changes, places in any file, runs begun.

Knows the session, and no method.
"""
