"""Sequences cut into pieces that are trained one after the other, several side by side
(Readers/ReaderLib/TruncatedBpttPacker.cpp).

It must not know which sequence comes next, which the order decides, nor the state carried from
piece to piece, which a program keeps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.minibatches import Minibatch, Sweeps
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.data.errors import DataError
from netsharp_engine.packing import Packing
from netsharp_engine.program import Packed, Sparse


class Cut(NamedTuple):
    """The cut of sequences: into pieces of ``length`` steps, with as many rows as a minibatch has
    room for. Without ``length`` the size of a minibatch is that of a piece, of ``rows`` side by
    side.
    """

    length: int = 0
    rows: int = 1

    def of(self, samples: int) -> tuple[int, int]:
        """Return the rows and the steps of a minibatch of ``samples`` samples."""
        if self.length:
            return max(samples // self.length, 1), self.length
        return self.rows, samples


class _Open(NamedTuple):
    """A sequence, of which a row has trained some of the steps or none."""

    number: int
    values: Mapping[str, Array]
    length: int


class _Row:
    """Sequences one after the other in a row: ``at`` is the next step of the first."""

    def __init__(self) -> None:
        self.waiting: deque[_Open] = deque()
        self.at = 0

    @property
    def steps(self) -> int:
        """Return the number of steps in the row."""
        return sum(one.length for one in self.waiting) - self.at


class _Piece(NamedTuple):
    """Steps of a sequence: ``before`` of it are trained, and it begins at a step of a row."""

    sequence: _Open
    row: int
    begin: int
    before: int
    length: int


class Truncated(Sweeps):
    """The sequences of a reader, cut into pieces: a row takes the next sequence where one ends.

    Every minibatch is as large as the first; rows of the last ones may be empty. An epoch has the
    sequences that begin in it, to their ends, so that none continues in the next. Samples are
    dense, with the size that ``sizes`` has by stream.
    """

    def __init__(
        self,
        sequences: Sequences,
        randomize: bool,
        window: int | None,
        cut: Cut,
        sizes: Mapping[str, int],
    ) -> None:
        super().__init__(sequences, randomize, window)
        self._cut, self._sizes = cut, sizes
        _require_lines(sequences)

    def widest(self, samples: int) -> int:
        """Return the columns of every minibatch of ``samples`` samples."""
        rows, steps = self._cut.of(samples)
        return rows * steps

    def cuts(self, samples: int) -> int:
        """Return the steps of a piece."""
        return self._cut.of(samples)[1]

    def epoch(self, number: int, size: int, samples: int) -> Iterator[Minibatch]:
        """Yield the minibatches of an epoch (from 0), each of the next piece of every row."""
        count, steps = self._cut.of(samples)
        rows = [_Row() for _ in range(count)]
        following = (int(one) for (one,) in self.chosen(number, size, 1))
        while True:
            for row in rows:
                self._fill(row, steps, following)
            pieces = [piece for at, row in enumerate(rows) for piece in _taken(row, at, steps)]
            if not pieces:
                return
            yield self._packed(pieces, count, steps)

    def _fill(self, row: _Row, steps: int, following: Iterator[int]) -> None:
        """Give a row more than a piece, as long as there is any."""
        while row.steps <= steps:
            number = next(following, None)
            if number is None:
                return
            row.waiting.append(self._read(number))

    def _read(self, number: int) -> _Open:
        lines, place = self.sequences.lines, np.array([number])
        length = 1 if lines is None else int(lines[number])
        whole = self.minibatch(place).inputs
        values = {
            name: _dense(one.values if isinstance(one, Packed) else one, self._sizes[name])
            for name, one in whole.items()
        }
        return _Open(number, values, length)

    def _packed(self, pieces: list[_Piece], rows: int, steps: int) -> Minibatch:
        row, begin, before, length = np.array([one[1:] for one in pieces], np.intp).T
        packing = Packing(rows, steps, row, begin, length, before)
        inputs = {}
        for name, first in pieces[0].sequence.values.items():
            found = np.zeros((packing.columns, *first.shape[1:]), first.dtype)
            found[packing.places] = np.concatenate(
                [one.sequence.values[name][one.before :][: one.length] for one in pieces]
            )
            inputs[name] = Packed(found, packing)
        numbers = np.array([one.sequence.number for one in pieces])
        return Minibatch(inputs, numbers, packing.samples, packing.columns)


def _require_lines(sequences: Sequences) -> None:
    """Raise DataError where a stream has another length than a sequence."""
    for name in sequences.lengths:
        place = sequences.differing(name, "")
        if place is not None:
            number, samples, lines = place
            raise DataError(
                f"sequence {number + 1:,} has {samples:,} samples of '{name}' in {lines:,} lines: "
                "where truncated cuts sequences, each line brings one of every stream."
            )


def _dense(values: Array | Sparse, size: int) -> Array:
    """Return samples, which may be sparse, as [samples, size]."""
    if not isinstance(values, Sparse):
        return values
    starts = np.asarray(values.starts, np.intp)
    found = np.zeros((len(starts) - 1, size), values.values.dtype)
    sample = np.repeat(np.arange(len(found)), np.diff(starts))
    np.add.at(found, (sample, np.asarray(values.columns, np.intp)), values.values)
    return found


def _taken(row: _Row, at: int, steps: int) -> Iterator[_Piece]:
    """Yield the pieces that fill the steps of a row, as far as there are any."""
    begin = 0
    while row.waiting and begin < steps:
        first = row.waiting[0]
        length = min(steps - begin, first.length - row.at)
        yield _Piece(first, at, begin, row.at, length)
        begin += length
        row.at += length
        if row.at == first.length:
            row.waiting.popleft()
            row.at = 0
