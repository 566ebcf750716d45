"""Calls of scripts as files."""
