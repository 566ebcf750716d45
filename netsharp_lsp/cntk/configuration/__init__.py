"""Evaluation of a CNTK configuration, parsed as CNTK parses it; no syntax tree, no disk."""
