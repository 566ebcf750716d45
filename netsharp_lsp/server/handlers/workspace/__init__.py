"""Notifications of a client: beginning and end, folders, settings, texts, watched files.

Knows no question about a text.
"""
