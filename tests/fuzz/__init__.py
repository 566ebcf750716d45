"""Three seeded fuzzers: bytes, programs, edits. `python -m tests.fuzz --help` runs them by hand."""
