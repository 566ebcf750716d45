"""Networks as the engine takes them: lowered, with the starts of parameters, stored with their
numbers, logged.

Knows no block of a command.
"""
