"""A file's contents as sentences may quote them: short, on one line; imports nothing."""

from __future__ import annotations

#: The most characters of a value that are shown.
MOST = 60


def excerpt(value: object, most: int = MOST) -> str:
    """Return a value in few characters, the first of its lines, without characters that control a
    terminal.
    """
    try:
        text = str(value)
    except (ValueError, RecursionError):  # a number of too many digits, lists too deep
        return f"a {type(value).__name__} that is too large to be shown"
    text = text.partition("\n")[0]
    short = text if len(text) <= most else f"{text[: most - 3]}..."
    return printable(short)


def printable(text: str) -> str:
    """Return a text in which characters that end lines or control a terminal are escapes."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
