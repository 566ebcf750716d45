"""What the words of a command line mean: flags, settings, context, models, runs that are named.

Knows no command.
"""
