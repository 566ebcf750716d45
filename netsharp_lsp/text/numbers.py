"""Reads whole numbers from texts of any length; knows no language."""

from __future__ import annotations

#: Digits of a number that is read; Python itself refuses to read and to print some thousand.
MOST_DIGITS = 18
#: The value of every longer number: no text, shape or list is as long.
BEYOND = 10**MOST_DIGITS


def whole_number(text: str) -> int | None:
    """Return the whole number of some digits, `BEYOND` for a longer one, None for other text."""
    if not (text.isascii() and text.isdecimal()):
        return None
    digits = text.lstrip("0")
    return BEYOND if len(digits) > MOST_DIGITS else int(digits or "0")
