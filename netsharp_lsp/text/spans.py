"""A growing set of byte spans with a fast search for those that touch a span; no language."""

from __future__ import annotations

from bisect import bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Spans:
    """Spans of bytes that may overlap. A query sorts them again after some were added."""

    __slots__ = ("_added", "_reach", "_sorted", "_starts")

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        self._added = list(spans)
        self._sorted: list[tuple[int, int]] = []
        self._starts: list[int] = []
        self._reach: list[int] = []

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._added)

    def __bool__(self) -> bool:
        return bool(self._added)

    def add(self, start: int, end: int) -> None:
        """Add one span."""
        self._added.append((start, end))

    def touches(self, start: int, end: int) -> bool:
        """Return whether any of the spans shares a byte or an end with ``start:end``."""
        self._sort()
        before = bisect_right(self._starts, end)
        return before > 0 and self._reach[before - 1] >= start

    def around(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the last span to start at or before ``start``, if it has all of ``start:end``."""
        self._sort()
        before = bisect_right(self._starts, start)
        found = self._sorted[before - 1] if before else None
        return found if found is not None and found[1] >= end else None

    def _sort(self) -> None:
        if len(self._starts) == len(self._added):
            return
        self._sorted = sorted(self._added)
        self._starts = [start for start, _ in self._sorted]
        self._reach = []
        furthest = -1
        for _, end in self._sorted:
            furthest = max(furthest, end)
            self._reach.append(furthest)
