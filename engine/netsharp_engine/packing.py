"""Sequences of unequal length beside each other: in which column each of their steps stands.

Column ``step * rows + row``; a sequence lies in one row, several may follow each other there, and
what is left over are gaps.  It knows nothing of what the columns hold.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

Indices = npt.NDArray[np.intp]


class Packing:
    """Where sequences stand: ``row``, ``begin`` and ``length`` of each, in their order.

    ``places`` are the columns of all their steps, sequence after sequence; ``gaps`` are the columns
    of none.  Where sequences are cut into pieces, ``before`` has the steps of each that stood in
    packings before this one, and ``length`` those that stand here; without it all are whole.
    """

    __slots__ = (
        *("before", "begin", "columns", "gaps", "length", "places", "position", "row", "rows"),
        "steps",
    )

    def __init__(
        self,
        rows: int,
        steps: int,
        row: Indices,
        begin: Indices,
        length: Indices,
        before: Indices | None = None,
    ):
        self.rows, self.steps, self.columns = rows, steps, rows * steps
        self.row, self.begin, self.length, self.before = row, begin, length, before
        #: Of every step in its sequence, in the order of ``places``.
        self.position = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        self.places: Indices = np.repeat(begin * rows + row, length) + rows * self.position
        taken = np.zeros(self.columns, bool)
        taken[self.places] = True
        self.gaps: Indices = np.flatnonzero(~taken)

    @property
    def samples(self) -> int:
        """The steps of all sequences, without gaps."""
        return len(self.places)

    def same(self, other: Packing) -> bool:
        """Whether all sequences stand in the same columns."""
        return self is other or (
            self.rows == other.rows
            and np.array_equal(self.row, other.row)
            and np.array_equal(self.begin, other.begin)
            and np.array_equal(self.length, other.length)
            and np.array_equal(self._passed, other._passed)
        )

    @property
    def _passed(self) -> Indices:
        return np.zeros_like(self.length) if self.before is None else self.before

    def carried(self, step: int, steps: int) -> Indices:
        """The rows in which that of so many steps before ``step`` stood in the packing before."""
        if self.before is None or step >= steps:
            return np.empty(0, np.intp)
        reaches = (self.before + step >= steps) & (self.begin == 0) & (self.length > step)
        found: Indices = self.row[reaches]
        return found

    def earlier(self, steps: int) -> Indices:
        """For every column that of so many steps before in its sequence (after it, where they are
        negative); -1 where the sequence has none, and in gaps.
        """
        at = self.position - steps
        inside = (at >= 0) & (at < np.repeat(self.length, self.length))
        found = np.full(self.columns, -1, np.intp)
        found[self.places[inside]] = self.places[inside] - steps * self.rows
        return found


def packed(length: Indices) -> Packing:
    """Sequences of these lengths, each in the first row that has room, in their order."""
    width = int(length.max(initial=0))
    if (length == width).all():
        rows = np.arange(len(length))
        return Packing(max(len(length), 1), width, rows, np.zeros_like(rows), length)
    if twins is not None:
        given = np.ascontiguousarray(length, np.int64)
        row, begin, filled = np.empty((3, len(given)), np.int64)
        count = twins.first_fit(given, row, begin, filled, np.empty(width + 1, np.int64))
        return Packing(count, width, row, begin, length)
    return _packed(length, width)


def _packed(length: Indices, width: int) -> Packing:
    """The same where nothing was compiled."""
    filled: list[int] = []
    placed: list[tuple[int, int]] = []
    # Rows only become fuller, so that none before the last one taken has room for the same length.
    first: dict[int, int] = {}
    for one in length.tolist():
        at = first.get(one, 0)
        while at < len(filled) and filled[at] + one > width:
            at += 1
        if at == len(filled):
            filled.append(0)
        first[one] = at
        placed.append((at, filled[at]))
        filled[at] += one
    row, begin = np.array(placed, np.intp).T
    return Packing(len(filled), width, row, begin, length)


def single(count: int) -> Packing:
    """So many sequences of one step."""
    return packed(np.ones(count, np.intp))
