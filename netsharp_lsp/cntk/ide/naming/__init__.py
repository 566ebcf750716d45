"""Every name in the files of runs: where it stands, and which declaration it means.

Knows no feature of an editor and no place that is asked about.
"""
