"""Positions of the protocol to byte offsets and back, in the encoding agreed on."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.text.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Callable

_TO_OFFSET: dict[str, Callable[[LineIndex, int, int], int]] = {
    "utf-8": LineIndex.utf8_offset,
    "utf-16": LineIndex.utf16_offset,
    "utf-32": lambda lines, line, character: lines.offset(line + 1, character + 1),
}


def _utf32_position(lines: LineIndex, offset: int) -> tuple[int, int]:
    line, column = lines.position(offset)
    return line - 1, column - 1


_TO_POSITION: dict[str, Callable[[LineIndex, int], tuple[int, int]]] = {
    "utf-8": LineIndex.utf8_position,
    "utf-16": LineIndex.utf16_position,
    "utf-32": _utf32_position,
}


class Ruler:
    """Reads and writes positions in one encoding; those outside a text move to its nearest end."""

    __slots__ = ("_to_offset", "_to_position", "encoding")

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self._to_offset = _TO_OFFSET[encoding]
        self._to_position = _TO_POSITION[encoding]

    def offset(self, lines: LineIndex, line: int, character: int) -> int:
        """Return the byte offset of a position."""
        return self._to_offset(lines, line, character)

    def position(self, lines: LineIndex, offset: int) -> tuple[int, int]:
        """Return line and character of a byte offset."""
        return self._to_position(lines, offset)

    def places(
        self, lines: LineIndex, start: int, end: int
    ) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return both ends of a range; a list has thousands, most of them on one line of ASCII."""
        starts = lines.starts
        line = bisect_right(starts, start) - 1
        begin = starts[line]
        one_line = end < (starts[line + 1] if line + 1 < len(starts) else len(lines.text))
        if one_line and lines.text[begin:end].isascii():
            return (line, start - begin), (line, end - begin)
        return self._to_position(lines, start), self._to_position(lines, end)

    def span(self, lines: LineIndex, start: int, end: int) -> dict[str, Any]:
        """Return a range as plain JSON."""
        (line, character), (end_line, end_character) = self.places(lines, start, end)
        return {
            "start": {"line": line, "character": character},
            "end": {"line": end_line, "character": end_character},
        }

    def range(self, lines: LineIndex, start: int, end: int) -> lsp.Range:
        """Return a range in the protocol's type."""
        first, last = self.places(lines, start, end)
        return lsp.Range(lsp.Position(*first), lsp.Position(*last))

    def offsets(self, lines: LineIndex, place: lsp.Range) -> tuple[int, int]:
        """Return start and end of a range in bytes, in order."""
        start = self._to_offset(lines, place.start.line, place.start.character)
        end = self._to_offset(lines, place.end.line, place.end.character)
        return min(start, end), max(start, end)
