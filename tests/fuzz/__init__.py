"""Seeded fuzzers: bytes, programs, edits, experiments; `python -m tests.fuzz --help` runs them."""
