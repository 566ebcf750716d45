"""What git holds and ignores, read from its files: no program is started, no configuration obeyed.

Knows no specification and no settings.
"""
