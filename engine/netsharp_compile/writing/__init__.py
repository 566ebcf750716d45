"""What is written for a device beside the network itself: the tables as a file, the C that checks
it, and all files together.

Knows the network in integers, and nothing of how it was made.
"""
