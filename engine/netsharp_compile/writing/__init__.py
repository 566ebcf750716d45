"""What is written for a device: C of a network and of what checks its tables, the tables as a file,
the manifest, and all files together.

Knows the network in integers, and nothing of how it was made.
"""
