"""The comments of one text, kept as plain numbers: long texts have tens of thousands of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import add, itemgetter

from netsharp_lsp.netsharp.reading.syntax import Comment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    #: First byte, end, kind.
    Span = tuple[int, int, str]


class Comments:
    """Comments in text order; a `Comment` is created when one is asked for."""

    __slots__ = ("_kinds", "_lengths", "_odd", "_starts")

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        ordered = sorted(spans, key=itemgetter(0))
        self._starts = [start for start, _, _ in ordered]
        #: Lengths, not ends: an edit before a comment leaves them as they are.
        self._lengths = [end - start for start, end, _ in ordered]
        self._kinds = [kind for _, _, kind in ordered]
        self._odd: list[Comment] | None = None

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Comment]:
        return map(Comment, self._starts, self._ends(), self._kinds)

    def _ends(self) -> Iterator[int]:
        return map(add, self._starts, self._lengths)

    def spans(self) -> list[tuple[int, int]]:
        """Return the first byte and the end of every comment."""
        return list(zip(self._starts, self._ends(), strict=True))

    def odd(self) -> list[Comment]:
        """Return the comments that do not start with `//`."""
        if self._odd is None:
            usual = self._kinds.count("line") == len(self._kinds)
            odd = [] if usual else [at for at, kind in enumerate(self._kinds) if kind != "line"]
            self._odd = [self._made(at) for at in odd]
        return self._odd

    def hold(self, offset: int) -> bool:
        """Return whether the byte at an offset is in a comment."""
        at = bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self._starts[at] + self._lengths[at]

    def around(self, offset: int) -> Comment | None:
        """Return the comment that contains the byte at an offset."""
        if not self.hold(offset):
            return None
        return self._made(bisect_right(self._starts, offset) - 1)

    def within(self, start: int, end: int) -> list[Span]:
        """Return the comments that begin in a stretch, as offsets from its start."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return [
            (
                self._starts[at] - start,
                self._starts[at] - start + self._lengths[at],
                self._kinds[at],
            )
            for at in range(first, last)
        ]

    def _made(self, at: int) -> Comment:
        start = self._starts[at]
        return Comment(start, start + self._lengths[at], self._kinds[at])

    def spliced(self, start: int, end: int, spans: Iterable[Span], shift: int) -> Comments:
        """Return these comments with others for those that begin in ``start:end``.

        Those after the stretch move by ``shift`` bytes.
        """
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        middle = Comments(spans)
        spliced = Comments()
        spliced._starts = self._starts[:first] + middle._starts + moved(self._starts[last:], shift)
        spliced._lengths = self._lengths[:first] + middle._lengths + self._lengths[last:]
        spliced._kinds = self._kinds[:first] + middle._kinds + self._kinds[last:]
        return spliced


def moved(offsets: list[int], shift: int) -> list[int]:
    """Return offsets after an edit before them."""
    return [offset + shift for offset in offsets] if shift else offsets
