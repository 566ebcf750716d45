"""Specifications as commands look at them: found, checked one after another, their errors told.

Decides no exit code.
"""
