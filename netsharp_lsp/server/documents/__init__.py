"""Open documents: their versions, places in them, and the specifications that they hold.

Knows no client and no disk.
"""
