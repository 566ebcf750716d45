"""Specifications as commands use them: found, checked one after another, their errors printed.

Decides no exit code.
"""
