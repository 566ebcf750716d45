"""Builds the documentation site out of documents, rules and docstrings; nothing else uses it."""
