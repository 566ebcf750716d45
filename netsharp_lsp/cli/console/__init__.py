"""The terminal and the streams of a process: the only way to a person, whatever is at its end.

Knows no command.
"""
