"""The actions of commands, a module a kind: each looks through its command before it is done.

Knows not which commands there are.
"""
