"""What a file holds, as sentences may show it: short, on one line; imports nothing."""

from __future__ import annotations

#: So many characters of a value are shown.
MOST = 60


def excerpt(value: object) -> str:
    """A value in few characters, none of which a terminal would obey."""
    try:
        text = str(value)
    except (ValueError, RecursionError):  # a number of too many digits, lists too deep
        return f"a {type(value).__name__} that is too large to be shown"
    short = text if len(text) <= MOST else f"{text[: MOST - 3]}..."
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in short)
