"""Seeded fuzzers: bytes, programs, edits, experiments, models.

`python -m tests.fuzz --help` runs them.
"""
