"""Lines of a UTF-8 text: byte offsets to lines and columns and back; knows no language.

Only LF, CRLF and a lone CR end a line. Values are computed at their first use.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.text.edits import Edit


#: Of a line of more bytes, characters are counted once for each stretch of `STRETCH` bytes.
LONG = 4096
STRETCH = 1024
_BLANKS = b" \t\r\x0b\x0c"


class _Counts:
    """The characters of one long line: `points` and UTF-16 `units` before each of its `places`."""

    __slots__ = ("places", "points", "units")

    def __init__(self, text: bytes, start: int, end: int) -> None:
        self.places, self.points, self.units = [start], [0], [0]
        while start < end:
            to = min(start + STRETCH, end)
            while to < end and text[to] & 0xC0 == 0x80:
                to += 1
            piece = text[start:to].decode("utf-8", "replace")
            self.places.append(to)
            self.points.append(self.points[-1] + len(piece))
            self.units.append(self.units[-1] + _units(piece))
            start = to


class LineIndex:
    """The lines of one immutable text.

    `position` and `offset` count lines and columns from 1, columns in Unicode code points (what
    people and the JSON report read); `utf16_position` and `utf16_offset` count both from 0 in
    UTF-16 code units, `utf8_position` and `utf8_offset` in bytes (what editors send). An offset
    inside a character counts as the character's start; positions outside the text or the line are
    moved to its nearest end.
    """

    __slots__ = ("_ascii", "_counts", "_starts", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._ascii: bool | None = None
        self._counts: dict[int, _Counts] = {}
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """The byte offset at which each line starts; a text has at least one line."""
        if self._starts is None:
            lines = self.text.splitlines(keepends=True)
            starts = [0, *accumulate(map(len, lines))]
            if lines and not lines[-1].endswith((b"\n", b"\r")):
                starts.pop()
            self._starts = starts
        return self._starts

    def edited(self, text: bytes, edit: Edit) -> LineIndex:
        """Return the lines of `text`, which one edit made of this text; it counts only nearby."""
        after = LineIndex(text)
        starts = self._starts
        if starts is None:
            return after
        # The line before too: a line feed inserted at a line's start may join its carriage return.
        first = max(0, self.line_at(edit.start) - 1)
        following = bisect_right(starts, edit.end)
        shift = len(text) - len(self.text)
        end = starts[following] + shift if following < len(starts) else len(text)
        near = LineIndex(text[starts[first] : end]).starts
        moved = [start + starts[first] for start in near]
        if following < len(starts):
            moved.pop()  # The stretch ends with a line end: its last, empty line is the next one.
        after._starts = [*starts[:first], *moved, *(start + shift for start in starts[following:])]
        return after

    @property
    def ascii(self) -> bool:
        """Return whether every byte is a character, so that columns are differences of offsets."""
        if self._ascii is None:
            self._ascii = self.text.isascii()
        return self._ascii

    @property
    def count(self) -> int:
        """The number of lines; a text that ends in a line end has an empty last line."""
        return len(self.starts)

    def line_at(self, offset: int) -> int:
        """Return the line, from 0, of the byte `offset`."""
        return bisect_right(self.starts, max(0, offset)) - 1

    def span(self, line: int) -> tuple[int, int]:
        """Return the bytes of a line, from 0, without its line end."""
        start, end = self.full_span(line)
        if end > start and self.text[end - 1] == 0x0A:
            end -= 1
        if end > start and self.text[end - 1] == 0x0D:
            end -= 1
        return start, end

    def full_span(self, line: int) -> tuple[int, int]:
        """Return the bytes of a line, from 0, with its line end."""
        starts = self.starts
        end = starts[line + 1] if line + 1 < len(starts) else len(self.text)
        return starts[line], end

    def line_text(self, line: int) -> str:
        """Return a line, from 0, as text without its line end."""
        start, end = self.span(line)
        return self.text[start:end].decode("utf-8", "replace")

    def position(self, offset: int) -> tuple[int, int]:
        """Return (line, column) of a byte offset, both from 1, columns in code points."""
        line, start, offset = self._on_line(offset)
        if self.ascii:
            return line + 1, offset - start + 1
        known, points, _ = self._known_before(line, start, offset)
        return line + 1, points + len(self.text[known:offset].decode("utf-8", "replace")) + 1

    def offset(self, line: int, column: int) -> int:
        """Return the byte offset of a line and column, both from 1, columns in code points."""
        if line < 1:
            return 0
        if line > self.count:
            return len(self.text)
        start, end = self.span(line - 1)
        wanted = max(0, column - 1)
        if self.ascii:
            return min(start + wanted, end)
        if end - start > LONG:
            counts = self._counted(line - 1)
            at = bisect_right(counts.points, wanted) - 1
            start, wanted = counts.places[at], wanted - counts.points[at]
            end = min(end, start + 4 * wanted)
        content = self.text[start:end].decode("utf-8", "replace")
        return min(start + len(content[:wanted].encode("utf-8")), end)

    def utf8_position(self, offset: int) -> tuple[int, int]:
        """Return (line, byte) of a byte offset, both from 0."""
        line, start, offset = self._on_line(offset)
        return line, offset - start

    def utf8_offset(self, line: int, character: int) -> int:
        """Return the byte offset of a line and a byte of it, both from 0."""
        if line < 0:
            return 0
        if line >= self.count:
            return len(self.text)
        start, end = self.span(line)
        offset = min(start + max(0, character), end)
        while start < offset < end and self.text[offset] & 0xC0 == 0x80:
            offset -= 1
        return offset

    def utf16_position(self, offset: int) -> tuple[int, int]:
        """Return (line, character) of a byte offset, both from 0, in UTF-16 code units."""
        line, start, offset = self._on_line(offset)
        if self.ascii:
            return line, offset - start
        known, _, units = self._known_before(line, start, offset)
        return line, units + _units(self.text[known:offset].decode("utf-8", "replace"))

    def utf16_offset(self, line: int, character: int) -> int:
        """Return the byte offset of a line and a UTF-16 code unit, both from 0.

        A position between the two halves of a surrogate pair is the start of its character.
        """
        if line < 0:
            return 0
        if line >= self.count:
            return len(self.text)
        start, end = self.span(line)
        wanted = max(0, character)
        if self.ascii:
            return min(start + wanted, end)
        if end - start > LONG:
            counts = self._counted(line)
            at = bisect_right(counts.units, wanted) - 1
            start, wanted = counts.places[at], wanted - counts.units[at]
            end = min(end, start + 4 * wanted)
        units = self.text[start:end].decode("utf-8", "replace").encode("utf-16-le")
        before = units[: 2 * wanted].decode("utf-16-le", "ignore")
        return min(start + len(before.encode("utf-8")), end)

    def _on_line(self, offset: int) -> tuple[int, int, int]:
        """Return the line, from 0, of an offset, its start, and the start of the character."""
        offset = min(max(0, offset), len(self.text))
        line = self.line_at(offset)
        start = self.starts[line]
        if not self.ascii:
            while start < offset < len(self.text) and self.text[offset] & 0xC0 == 0x80:
                offset -= 1
        return line, start, offset

    def _known_before(self, line: int, start: int, offset: int) -> tuple[int, int, int]:
        """Return a place on a line not far before an offset, with the counts before it."""
        if offset - start <= LONG:
            return start, 0, 0
        counts = self._counted(line)
        at = bisect_right(counts.places, offset) - 1
        return counts.places[at], counts.points[at], counts.units[at]

    def _counted(self, line: int) -> _Counts:
        if line not in self._counts:
            self._counts[line] = _Counts(self.text, *self.full_span(line))
        return self._counts[line]


def first_on_line(data: bytes, offset: int) -> int | None:
    """Return the count of blanks between a line's start and an offset; None for other bytes.

    No more bytes are read than that takes: a line may be long.
    """
    reach = STRETCH
    while True:
        begin = max(0, offset - reach)
        kept = len(data[begin:offset].rstrip(_BLANKS))
        if kept:
            before = begin + kept
            return offset - before if data[before - 1] == 0x0A else None
        if not begin:
            return offset
        reach *= 16


def _units(text: str) -> int:
    """Return the number of UTF-16 code units of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
