"""A language that is not ours: it lives in this folder, and nothing else knows it."""
