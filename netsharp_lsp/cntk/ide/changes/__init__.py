"""Edits that a user asks for: fixes, steps of a migration, renames.

Writes nothing; the edits are returned.
"""
