"""The surroundings of open documents: files, settings, sizes, runs, and updates on changes.

Knows no request.
"""
