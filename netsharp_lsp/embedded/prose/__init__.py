"""Hosts with code in several pieces: Markdown, R Markdown, Quarto and notebooks."""
