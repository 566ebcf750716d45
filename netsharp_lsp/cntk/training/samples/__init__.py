"""The files that blocks of readers name, as the samples that they bring.

Knows no network.
"""
