"""Code of any host language: its strings, variables and calls, and which strings are Net#."""
