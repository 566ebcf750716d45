"""Unified differences between a text and what a command would make of it."""

from __future__ import annotations

from netsharp_lsp.text.visible import visible

_NO_LINE_END = "\\ No newline at end of file\n"


def unified(name: str, before: bytes, after: bytes) -> bytes:
    """Return the difference as `patch` reads it; only LF separates its lines."""
    from difflib import unified_diff

    shown = visible(name)
    lines = unified_diff(_lines(before), _lines(after), shown, shown)
    ended = (line if line.endswith("\n") else f"{line}\n{_NO_LINE_END}" for line in lines)
    return "".join(ended).encode()


def _lines(text: bytes) -> list[str]:
    pieces = text.decode("utf-8", "replace").split("\n")
    last = pieces.pop()
    return [f"{piece}\n" for piece in pieces] + ([last] if last else [])
