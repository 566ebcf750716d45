"""The files that commands are given: read, decoded, with the specifications inside of hosts.

Knows no flag.
"""
