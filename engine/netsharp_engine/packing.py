"""Sequences of unequal length side by side: the column of each of their steps.

Column ``step * rows + row``; a sequence is in one row, several may follow each other there, and the
columns left over are gaps. It must not know what the columns hold.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

Indices = npt.NDArray[np.intp]
#: The most sequences of one step whose packing is kept.
_SHORT = 4096


class Packing:
    """The places of sequences: ``row``, ``begin`` and ``length`` of each, in their order.

    ``places`` are the columns of all their steps, sequence after sequence; ``gaps`` are the columns
    of none. Where sequences are cut into pieces, ``before`` has the steps of each in packings
    before this one, and ``length`` those in this one; without it all are whole.
    """

    __slots__ = (
        *("before", "begin", "columns", "gaps", "length", "places", "position", "row", "rows"),
        *("samples", "steps"),
    )

    def __init__(
        self,
        rows: int,
        steps: int,
        row: Indices,
        begin: Indices,
        length: Indices,
        before: Indices | None = None,
        samples: int | None = None,
    ):
        self.rows, self.steps, self.columns = rows, steps, rows * steps
        self.row, self.begin, self.length, self.before = row, begin, length, before
        #: Of every step in its sequence, in the order of ``places``.
        self.position: Indices
        self.places: Indices
        self.gaps: Indices
        #: The steps of all sequences, without gaps.
        self.samples = int(length.sum()) if samples is None else samples
        self.position, self.places, self.gaps = self._columns()

    def _columns(self) -> tuple[Indices, Indices, Indices]:
        """Return positions and places of all steps, [samples] each, and the gaps."""
        if twins is None:
            return self._plain_columns()
        position, places = np.empty((2, self.samples), np.int64)
        gaps = np.empty(max(self.columns - self.samples, 0), np.int64)
        given = (np.ascontiguousarray(one, np.int64) for one in (self.row, self.begin, self.length))
        twins.columns_taken(
            max(self.rows, 1), *given, places, position, gaps, np.empty(self.columns, bool)
        )
        return position, places, gaps

    def _plain_columns(self) -> tuple[Indices, Indices, Indices]:
        """Return the same where nothing was compiled."""
        length, rows = self.length, self.rows
        position = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        places: Indices = np.repeat(self.begin * rows + self.row, length) + rows * position
        taken = np.zeros(self.columns, bool)
        taken[places] = True
        return position, places, np.flatnonzero(~taken)

    def same(self, other: Packing) -> bool:
        """Return whether all sequences are in the same columns."""
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
        """Return the rows, [rows], whose value ``steps`` steps before ``step`` was in the packing
        before.
        """
        if self.before is None or step >= steps:
            return np.empty(0, np.intp)
        reaches = (self.before + step >= steps) & (self.begin == 0) & (self.length > step)
        found: Indices = self.row[reaches]
        return found

    def earlier(self, steps: int) -> Indices:
        """Return, for every column, the column ``steps`` steps before it in its sequence (after it,
        where that is negative), [columns]; -1 where the sequence has none, and in gaps.
        """
        at = self.position - steps
        inside = (at >= 0) & (at < np.repeat(self.length, self.length))
        found = np.full(self.columns, -1, np.intp)
        found[self.places[inside]] = self.places[inside] - steps * self.rows
        return found


def packed(length: Indices) -> Packing:
    """Return sequences of these lengths, each in the first row that has room, in their order.
    Source: CNTK, Common/Include/Sequences.h, PackSequences. ``length`` is [sequences], in steps.
    """
    if twins is not None and len(length):
        given = np.ascontiguousarray(length, np.int64)
        row, begin = np.empty((2, len(given)), np.int64)
        rows, width, samples = twins.first_fit(given, row, begin)
        if width == 1 and samples == len(given) <= _SHORT:
            return _short_single(samples)
        if width:
            return Packing(rows, width, row, begin, length, samples=samples)
    width = int(length.max(initial=0))
    if (length == width).all():
        each = np.arange(len(length))
        return Packing(max(len(length), 1), width, each, np.zeros_like(each), length)
    return _packed(length, width)


def _packed(length: Indices, width: int) -> Packing:
    """Return the same where nothing was compiled."""
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
    """Return ``count`` sequences of one step."""
    return _short_single(count) if count <= _SHORT else packed(np.ones(count, np.intp))


@lru_cache(64)
def _short_single(count: int) -> Packing:
    rows = np.arange(count)
    found = Packing(max(count, 1), 1, rows, np.zeros_like(rows), np.ones_like(rows))
    for one in (found.row, found.begin, found.length, found.places, found.position, found.gaps):
        one.flags.writeable = False  # A later call returns the same array.
    return found
