"""The meaning of a command line: flags, settings, context, models, runs that are named.

Knows no command.
"""
