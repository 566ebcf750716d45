"""Hosts that hold code in pieces: Markdown, R Markdown, Quarto and notebooks."""
