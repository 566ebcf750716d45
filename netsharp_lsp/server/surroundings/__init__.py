"""What lies around open documents: files, settings, numbers, runs, and what to do when they change.

Knows no request.
"""
