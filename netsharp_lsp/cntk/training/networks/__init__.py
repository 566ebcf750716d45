"""Networks as the engine takes them: lowered, with how they begin, stored with their numbers, told.

Knows no block of a command.
"""
