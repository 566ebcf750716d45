"""Lines of a UTF-8 text: byte offsets to lines and columns and back; knows no language.

Only LF, CRLF and a lone CR end a line. Nothing is computed before it is asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.text.edits import Edit


class LineIndex:
    """The lines of one immutable text.

    `position` and `offset` speak lines and columns from 1, columns in Unicode code points (what
    people and the JSON report read); `utf16_position` and `utf16_offset` speak both from 0 in
    UTF-16 code units, `utf8_position` and `utf8_offset` in bytes (what editors send). An offset
    inside a character counts as the character's start; positions outside the text or the line
    are moved to its nearest end.
    """

    __slots__ = ("_ascii", "_starts", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._ascii: bool | None = None
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
        """Return the lines of `text`, which one edit of this text made; counts only near it."""
        after = LineIndex(text)
        starts = self._starts
        if starts is None:
            return after
        # The line before too: a line feed put in at a line's start may join its carriage return.
        first = max(0, self.line_at(edit.start) - 1)
        behind = bisect_right(starts, edit.end)
        shift = len(text) - len(self.text)
        end = starts[behind] + shift if behind < len(starts) else len(text)
        near = LineIndex(text[starts[first] : end]).starts
        moved = [start + starts[first] for start in near]
        if behind < len(starts):
            moved.pop()  # The stretch ends with a line end: its last, empty line is the next one.
        after._starts = [*starts[:first], *moved, *(start + shift for start in starts[behind:])]
        return after

    @property
    def ascii(self) -> bool:
        """Whether every byte is a whole character, so that columns are differences of offsets."""
        if self._ascii is None:
            self._ascii = self.text.isascii()
        return self._ascii

    @property
    def count(self) -> int:
        """The number of lines; a text that ends in a line end has an empty last line."""
        return len(self.starts)

    def line_at(self, offset: int) -> int:
        """Return the line, from 0, that holds the byte `offset`."""
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
        line, before = self._before(offset)
        return line + 1, len(before) + 1

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
        content = self.text[start:end].decode("utf-8", "replace")
        return min(start + len(content[:wanted].encode("utf-8")), end)

    def utf8_position(self, offset: int) -> tuple[int, int]:
        """Return (line, character) of a byte offset, both from 0, in bytes."""
        line, before = self._before(offset)
        return line, len(before if isinstance(before, bytes) else before.encode("utf-8"))

    def utf8_offset(self, line: int, character: int) -> int:
        """Return the byte offset of a line and byte of it, both from 0."""
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
        line, before = self._before(offset)
        if isinstance(before, bytes):
            return line, len(before)
        return line, len(before.encode("utf-16-le", "surrogatepass")) // 2

    def utf16_offset(self, line: int, character: int) -> int:
        """Return the byte offset of a line and UTF-16 code unit, both from 0.

        A position between the two halves of a surrogate pair is the start of its character.
        """
        if line < 0:
            return 0
        if line >= self.count:
            return len(self.text)
        start, end = self.span(line)
        wanted = max(0, character)
        content = self.text[start:end]
        if content.isascii():
            return min(start + wanted, end)
        units = content.decode("utf-8", "replace").encode("utf-16-le")
        before = units[: 2 * wanted].decode("utf-16-le", "ignore")
        return min(start + len(before.encode("utf-8")), end)

    def _before(self, offset: int) -> tuple[int, bytes | str]:
        """The line, from 0, and what stands on it before `offset`: bytes where that is ASCII."""
        offset = min(max(0, offset), len(self.text))
        line = self.line_at(offset)
        start = self.starts[line]
        if self.ascii:
            return line, self.text[start:offset]
        while start < offset < len(self.text) and self.text[offset] & 0xC0 == 0x80:
            offset -= 1
        before = self.text[start:offset]
        return line, before if before.isascii() else before.decode("utf-8", "replace")
