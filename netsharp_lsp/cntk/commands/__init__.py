"""The interface of CNTK for commands and server: runs on a disk and their results, as plain
values.
"""
