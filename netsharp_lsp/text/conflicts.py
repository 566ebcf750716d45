"""Merge conflicts that version control has left in a text, by the marks at the starts of lines.

Knows no language: a text is read as if one side of every conflict was kept, at the same offsets.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    #: A line that marks a conflict: its sign, where it starts and where it ends.
    Mark = tuple[bytes, int, int]
    Span = tuple[int, int]

#: No text without one of these holds a conflict.
_OUTER = (b"<<<<<<<", b">>>>>>>")
#: How many bytes each of them has.
SIGN = 7
_MARKS = late(rb"(?<![^\r\n])(?:(?:<{7}|\|{7}|>{7})(?![^ \t\r\n])[^\r\n]*|={7}[ \t]*(?![^\r\n]))")
#: The signs in their order: our side, what both come from, their side, and the end.
_ORDER = b"<|=>"
#: What replaces the text of the other side; the line ends stay.
_WRITTEN = bytes({*range(256)}.difference(b"\r\n"))
_BLANKS = bytes.maketrans(_WRITTEN, b" " * len(_WRITTEN))


class Conflict:
    """One conflict: the lines that mark it. `is_whole`: no mark between its sides is missing."""

    __slots__ = ("distances", "is_whole", "marks")

    def __init__(self, data: bytes, marks: Sequence[Mark]) -> None:
        self.marks = tuple(marks)
        met = b"".join(sign for sign, _, _ in marks)
        self.is_whole = met.startswith(b"<") and met.endswith(b"=>")
        #: The distance in lines of each mark after the first from the one before it.
        self.distances = [
            len(data[before:start].splitlines())
            for (_, before, _), (_, start, _) in pairwise(marks)
        ]

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return the spans of the conflict: all of it, or only its markers if some are missing."""
        if self.is_whole:
            return ((self.marks[0][1], self.marks[-1][2]),)
        return tuple((start, end) for _, start, end in self.marks)

    def left_out(self, ours: bool) -> tuple[Span, ...]:
        """Return the spans that are dropped where one side is kept."""
        if not self.is_whole:
            return self.spans
        (_, start, begin), (_, middle_end, _) = self.marks[:2]
        (_, _, middle), (_, last, end) = self.marks[-2:]
        return ((start, begin), (middle_end, end)) if ours else ((start, middle), (last, end))

    @property
    def message(self) -> str:
        """Return the message for the first mark."""
        below = 0
        places = []
        for (sign, _, _), distance in zip(self.marks[1:], self.distances, strict=True):
            below += distance
            lines = "line" if below == 1 else "lines"
            places.append(f"'{sign.decode() * 7}' is {below} {lines} below")
        begins = "An unresolved merge conflict begins here"
        if not self.is_whole:
            begins = "A mark of a merge conflict was left here"
        where = f": {', '.join(places)}" if places else ""
        lines = "this line" if not places else f"these {len(self.marks)} lines"
        return f"{begins}{where}. Keep what is right, and delete {lines}."

    @property
    def notes(self) -> Iterator[tuple[str, int, int]]:
        """Yield a sentence for each further mark."""
        texts = {b"|": "The common ancestor.", b"=": "The other side.", b">": "The end."}
        return ((texts[sign], start, end) for sign, start, end in self.marks[1:])


def may_conflict(data: bytes) -> bool:
    """Return whether a text contains marks that only texts with conflicts have, at any offset."""
    return any(sign in data for sign in _OUTER)


def conflicts_in(data: bytes) -> tuple[Conflict, ...]:
    """Return the conflicts of a text in order."""
    if not may_conflict(data):
        return ()
    found: list[Conflict] = []
    marks: list[Mark] = []
    for line in _MARKS.finditer(data):
        mark = (line[0][:1], *line.span())
        place = _ORDER.index(mark[0])
        if marks and place <= _ORDER.index(marks[-1][0]):
            # A second line of `=` belongs to one of the sides.
            if mark[0] in b"|=" and marks[0][0] == b"<":
                continue
            _close(data, marks, found)
        marks.append(mark)
        if mark[0] == b">":
            _close(data, marks, found)
    _close(data, marks, found)
    return tuple(found)


def _close(data: bytes, marks: list[Mark], found: list[Conflict]) -> None:
    """Add the conflict that the marks so far make; lines of `=` alone make none."""
    if any(sign in b"<>" for sign, _, _ in marks):
        found.append(Conflict(data, marks))
    marks.clear()


def one_side(data: bytes, conflicts: Sequence[Conflict], *, ours: bool) -> bytes:
    """Return the text as if one side of every conflict was kept, with blanks for the rest."""
    pieces = []
    done = 0
    for conflict in conflicts:
        for start, end in conflict.left_out(ours):
            pieces += [data[done:start], data[start:end].translate(_BLANKS)]
            done = end
    return b"".join([*pieces, data[done:]])


class Undecided:
    """The spans of a text that belong to unresolved conflicts."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        spans = [span for conflict in conflicts for span in conflict.spans]
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def holds(self, offset: int) -> bool:
        """Return whether an offset is in one of them, or at its edge."""
        return self.meets(offset, offset)

    def meets(self, start: int, end: int) -> bool:
        """Return whether a span shares a byte or an edge with one of them."""
        return bisect_left(self._ends, start) < bisect_right(self._starts, end)
