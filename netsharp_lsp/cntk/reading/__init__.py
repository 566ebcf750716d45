"""Parsing of a configuration's text to its syntax: no meaning, no look-up, no disk."""
