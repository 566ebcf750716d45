"""Unified differences between a text and what a command would make of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_LINE_END = "\\ No newline at end of file\n"


def unified(name: str, before: bytes, after: bytes) -> Iterator[str]:
    """Yield the difference as `patch` reads it; only LF separates its lines."""
    from difflib import unified_diff

    lines = unified_diff(_lines(before), _lines(after), name, name)
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n{_NO_LINE_END}"


def _lines(text: bytes) -> list[str]:
    pieces = text.decode("utf-8", "replace").split("\n")
    last = pieces.pop()
    return [f"{piece}\n" for piece in pieces] + ([last] if last else [])
