"""The objects and ignore rules of git, read from its files: no program is started, no configuration
is obeyed.

Knows no specification and no settings.
"""
