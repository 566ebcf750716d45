"""Calls that train in R and Python, read and written as specifications and run files.

Knows the arguments of MicrosoftML and microsoftml; reads no disk.
"""
