"""The names in the files of runs, with their places and the declarations that they mean.

Knows no feature of an editor and no cursor.
"""
