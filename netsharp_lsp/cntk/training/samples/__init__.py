"""The files that blocks of readers name, as samples.

Knows no network.
"""
