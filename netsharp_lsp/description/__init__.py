"""Renders what `describe` says of a network, for people and programs; knows no language."""
