"""Edits that a person asks for: fixes, steps of a migration, other names.

Writes nothing; edits are answers.
"""
