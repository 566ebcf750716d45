"""Renders the result of `describe`, for people and programs; knows no language."""
