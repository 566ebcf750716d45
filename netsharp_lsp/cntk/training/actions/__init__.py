"""The actions of commands, one module for each kind: an action checks its command completely before
it runs.

Does not know which commands there are.
"""
