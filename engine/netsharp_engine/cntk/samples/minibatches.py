"""Minibatches of an epoch: which sequences, in which order; never across the end of a sweep.

Source: CNTK, Readers/ReaderLib/BlockRandomizer.cpp and SequencePacker.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.order import shuffled
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.packing import Indices, Packing, packed
from netsharp_engine.program import Packed, Sparse


class Minibatch(NamedTuple):
    """Values by stream of these sequences, which are numbered as in the file; ``samples`` is what
    minibatches are counted by, ``columns`` what a program computes of the longest stream, gaps
    included.
    """

    inputs: Mapping[str, Array | Sparse | Packed]
    sequences: Indices
    samples: int
    columns: int


class Parts(NamedTuple):
    """The parts of a minibatch that are computed one after the other: their ``number``, else at
    most ``samples`` samples each.
    """

    number: int = 1
    samples: int = 0

    def of(self, batch: Minibatch, source: Sweeps, size: int) -> Iterator[Minibatch]:
        """Yield the parts of a minibatch of ``size`` samples: rows of its packing where all streams
        have the same, else whole sequences.

        A part may be empty. Source: SGDLib/DataReaderHelpers.h, DecimateMinibatch.
        """
        packing = _common(batch)
        total = len(batch.sequences) if packing is None else packing.rows
        count = min(self._count(source, size), total)
        if count == 1:
            yield batch
            return
        for start, end in pairwise(total * one // count for one in range(count + 1)):
            if packing is None:
                yield source.minibatch(batch.sequences[start:end])
            else:
                yield _rows_of(batch, packing, start, end)

    def widest(self, source: Sweeps, size: int) -> int:
        """Return the most columns that a part of a minibatch of ``size`` samples can have."""
        count, steps = self._count(source, size), source.cuts(size)
        if not steps:
            return source.widest(-(-size // count))
        return -(-(source.widest(size) // steps) // count) * steps

    def _count(self, source: Sweeps, size: int) -> int:
        if self.number > 1 or not self.samples:
            return max(self.number, 1)
        return -(-(source.widest(size) if source.cuts(size) else size) // self.samples)


def _common(batch: Minibatch) -> Packing | None:
    """Return the packing that all streams of a minibatch share; None where they differ."""
    first: Packing | None = None
    for one in batch.inputs.values():
        if not isinstance(one, Packed) or not (first or one.packing).same(one.packing):
            return None
        first = first or one.packing
    return first


def _rows_of(batch: Minibatch, packing: Packing, start: int, end: int) -> Minibatch:
    """Return a minibatch with the rows from ``start`` up to ``end``."""
    here = (packing.row >= start) & (packing.row < end)
    known = None if packing.before is None else packing.before[here]
    each = packing.row[here] - start, packing.begin[here], packing.length[here]
    part = Packing(end - start, packing.steps, *each, known)
    columns = np.arange(packing.columns).reshape(-1, packing.rows)[:, start:end].reshape(-1)
    inputs = {name: taken(one, columns, part) for name, one in batch.inputs.items()}
    return Minibatch(inputs, batch.sequences[here], part.samples, part.columns)


def taken(one: Array | Sparse | Packed, columns: Indices, packing: Packing) -> Packed:
    """Return some columns of a stream of sequences, with the given packing. ``columns`` are their
    indexes, [columns].
    """
    assert isinstance(one, Packed)
    values = one.values
    some = sparse_rows(values, columns) if isinstance(values, Sparse) else values[columns]
    return Packed(some, packing)


class Sweeps:
    """The sequences of a reader as an endless stream of sweeps.

    ``randomize``: each sweep in an order of its own, else that of the file; samples are shuffled
    within a ``window`` of that number of samples, without one over the whole set.
    """

    def __init__(self, sequences: Sequences, randomize: bool, window: int | None = None) -> None:
        self.sequences = sequences
        self.randomize = randomize
        self._window = window
        self._sweep = -1
        self._order: Array = np.empty(0, np.intp)
        #: Where the sequences of a sweep begin in its order, and where it ends.
        self._begins: Indices = np.empty(0, np.intp)
        self._spread = self._spread_of(sequences.values)

    @property
    def count(self) -> int:
        """Return the samples of a sweep."""
        return self.sequences.total

    @property
    def longest(self) -> int:
        """Return the samples of the longest sequence, of any stream."""
        found = [self.sequences.lines, *self.sequences.lengths.values()]
        return max((int(one.max()) for one in found if one is not None), default=1)

    def widest(self, samples: int) -> int:
        """Return the most columns that a minibatch of ``samples`` samples can have."""
        longest = self.longest
        held = min(max(samples, longest), max(self.count, longest))
        return held if longest == 1 else 2 * held + longest

    def cuts(self, samples: int) -> int:
        """Return the steps after which minibatches of ``samples`` samples cut sequences; 0: they
        cut none.
        """
        del samples
        return 0

    def _spread_of(
        self, values: Mapping[str, Array | Sparse], chosen: Indices | None = None
    ) -> dict[str, _Spread]:
        """Return streams with the lengths of their sequences: of the chosen ones, or of all."""
        found = {}
        for name, one in values.items():
            lengths = self.sequences.lengths.get(name, self.sequences.lines)
            some = lengths if lengths is None or chosen is None else lengths[chosen]
            found[name] = _Spread(one, some)
        return found

    def epoch(self, number: int, size: int, samples: int) -> Iterator[Minibatch]:
        """Yield the minibatches of an epoch (from 0).

        ``size`` is that of an epoch in samples, 0 for a sweep; ``samples`` those of a minibatch. A
        minibatch has sequences as long as they fit, and the first whatever its length; an epoch
        that would begin inside a sequence begins with the next.
        """
        return map(self.minibatch, self.chosen(number, size, samples))

    def chosen(self, number: int, size: int, samples: int) -> Iterator[Indices]:
        """Yield the sequences of each minibatch of an epoch. Indexes are [sequences]."""
        size = size or self.count
        at, end = number * size, (number + 1) * size
        while at < end:
            sweep, place = divmod(at, self.count)
            self._turn(sweep)
            first = int(np.searchsorted(self._begins, place))
            begin = int(self._begins[first])
            if begin >= min(self.count, end - sweep * self.count):
                at = max(sweep * self.count + begin, at + 1)
                continue
            room = min(samples, self.count - begin, end - sweep * self.count - begin)
            stop = int(np.searchsorted(self._begins, begin + room, side="right")) - 1
            stop = max(stop, first + 1)
            yield self._order[first:stop]
            at = sweep * self.count + int(self._begins[stop])

    def minibatch(self, chosen: Indices) -> Minibatch:
        """Return the minibatch of these sequences. ``chosen`` are their indexes, [sequences]."""
        lines = self.sequences.lines
        samples = len(chosen) if lines is None else int(lines[chosen].sum())
        packings: dict[bytes, Packing] = {}
        spread, places = self._spread, chosen
        if self.sequences.again is not None:
            read = self.sequences.again(chosen)
            spread, places = self._spread_of(read, chosen), np.arange(len(chosen))
        inputs = {name: one.of(places, packings) for name, one in spread.items()}
        columns = max((one.columns for one in packings.values()), default=len(chosen))
        return Minibatch(inputs, chosen, samples, columns)

    def _turn(self, sweep: int) -> None:
        """Go to a sweep."""
        if sweep != self._sweep:
            chunks, lines = self.sequences.chunks, self.sequences.lines
            count = sum(chunks)
            drawn = self._shuffled(sweep) if self.randomize else range(count)
            self._order, self._sweep = np.fromiter(drawn, np.intp, count), sweep
            steps = np.ones(count, np.intp) if lines is None else lines[self._order]
            self._begins = np.r_[0, np.cumsum(steps)]

    def _shuffled(self, sweep: int) -> list[int]:
        chunks, lines = self.sequences.chunks, self.sequences.lines
        samples = None
        if lines is not None and self._window is not None:
            samples = np.add.reduceat(lines, np.r_[0, np.cumsum(chunks)[:-1]]).tolist()
        return shuffled(chunks, sweep, self._window, samples)


class _Spread:
    """A stream, and where its sequences begin."""

    def __init__(self, values: Array | Sparse, lengths: Indices | None) -> None:
        self._values, self._lengths = values, lengths
        self._begins = None if lengths is None else np.cumsum(lengths) - lengths

    def of(self, chosen: Indices, packings: dict[bytes, Packing]) -> Array | Sparse | Packed:
        """Return these sequences; streams of equal lengths share a packing."""
        values = self._values
        if self._lengths is None or self._begins is None:
            return sparse_rows(values, chosen) if isinstance(values, Sparse) else values[chosen]
        lengths = self._lengths[chosen]
        packing = packings.setdefault(lengths.tobytes(), packed(lengths))
        rows = np.repeat(self._begins[chosen], lengths) + packing.position
        if isinstance(values, Sparse):
            places = np.full(packing.columns, -1, np.intp)
            places[packing.places] = rows
            return Packed(sparse_rows(values, places), packing)
        found = np.zeros((packing.columns, *values.shape[1:]), values.dtype)
        found[packing.places] = values[rows]
        return Packed(found, packing)


def sparse_rows(values: Sparse, rows: Indices) -> Sparse:
    """Return some rows of sparse ones, by their indexes [rows]; that of -1 is empty."""
    known = np.asarray(values.starts, np.intp)
    begins = known[rows]
    counts = np.where(rows < 0, 0, known[rows + 1] - begins)
    starts = np.r_[0, np.cumsum(counts)]
    places = np.repeat(begins - starts[:-1], counts) + np.arange(starts[-1])
    return Sparse(values.values[places], values.columns[places], starts)
