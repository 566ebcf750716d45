"""What a client tells of itself: beginning and end, folders, settings, texts, watched files.

Knows no question about a text.
"""
