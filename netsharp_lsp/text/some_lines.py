"""Some lines of a text that is too long to be kept, each by its number in that text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class SomeLines(LineIndex):
    """Lines by their numbers from 1, in order; offsets are those in their texts, joined by LF.

    It answers what reports ask of a whole text, with the numbers that the lines have in that text.
    """

    __slots__ = ("_numbers",)

    def __init__(self, lines: Mapping[int, bytes]) -> None:
        super().__init__(b"".join(b"%b\n" % line for line in lines.values()))
        self._numbers = [number - 1 for number in lines] or [0]
        self._starts = [0, *accumulate(len(line) + 1 for line in lines.values())]

    def start_of(self, number: int) -> int:
        """Return the offset at which a line begins, by its number from 1."""
        return self.starts[bisect_left(self._numbers, number - 1)]

    @property
    def count(self) -> int:
        """Return a lower bound of the number of lines of the text."""
        return self._numbers[-1] + 1

    def line_at(self, offset: int) -> int:
        """Return the line, from 0, that holds the byte `offset`."""
        return self._numbers[self._place_at(offset)]

    def full_span(self, line: int) -> tuple[int, int]:
        """Return the bytes of a line, from 0, with its line end; none of one that is not held."""
        place = bisect_left(self._numbers, line)
        if place == len(self._numbers) or self._numbers[place] != line:
            return 0, 0
        return self.starts[place], self.starts[place + 1] if self.text else 0

    def _place_at(self, offset: int) -> int:
        return min(bisect_right(self.starts, max(0, offset)), len(self._numbers)) - 1

    def _on_line(self, offset: int) -> tuple[int, int, int]:
        offset = min(max(0, offset), len(self.text))
        place = self._place_at(offset)
        start = self.starts[place]
        if not self.ascii:
            while start < offset < len(self.text) and self.text[offset] & 0xC0 == 0x80:
                offset -= 1
        return self._numbers[place], start, offset
