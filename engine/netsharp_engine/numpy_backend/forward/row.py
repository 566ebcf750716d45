"""The memory of a row's numbers, and the steps and tables that the compiled forward pass reads.

It knows the words of a step in twins/forward.c, and must not know a graph's operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array, IntArray

MULTIPLY, GATHER, POOL, NORM, ADD, APPLY = range(6)
ALONE, ADDED = range(2)
NOTHING, LOWEST, SQUARED = range(3)
LARGEST, MEAN = range(2)
#: The bytes of a panel's column, and those of rows that are computed together.
PANEL_BYTES, BLOCK_BYTES, LEAST_ROWS = 64, 1 << 19, 12
WORD_BYTES = 8

Values = Mapping[str, Any]
Made = Callable[[Values], Array]


class ForwardStep:
    """The words of one step, in the order of twins/forward.c."""

    __slots__ = ("words",)

    def __init__(
        self, kind: int, mode: int = 0, source: int = 0, out: int = 0, size: int = 0
    ) -> None:
        self.words = [kind, mode, source, out, size, 0, 0, 0, 0, 0, 0, -1]

    def places(self, at: int, count: int) -> None:
        """Set where the table lists places."""
        self.words[5:7] = at, count

    def runs(self, at: int, count: int) -> None:
        """Set where the table lists runs or distances."""
        self.words[7:9] = at, count

    def numbers(self, depth: int, at: int) -> None:
        """Set where weights, shares or factors are."""
        self.words[9:11] = depth, at

    def more(self, at: int) -> None:
        """Set where biases, constants or the offset are."""
        self.words[11] = at

    @property
    def is_product_of_one_place(self) -> bool:
        """Return whether biases of single nodes can be joined with it."""
        return self.words[0] == MULTIPLY and self.words[6] == 1 and self.words[11] < 0


class PackedNumbers(NamedTuple):
    """Numbers of the network from a place on, and what makes them of canonical weights.

    Where there is a ``depth``, these are a matrix [rows, depth], which is put into panels.
    """

    at: int
    depth: int | None
    made: Made


class Row:
    """The stretch of memory of one row, and all that is done in it."""

    def __init__(self, dtype: np.dtype[Any], features: int) -> None:
        self.dtype, self.features = dtype, features
        self.lanes = PANEL_BYTES // dtype.itemsize
        self.steps: list[ForwardStep] = []
        self.size = self.numbers = self.words = 0
        self.output = self.outputs = 0
        self._table: list[IntArray] = []
        self._known: dict[bytes, int] = {}
        self._packed: list[PackedNumbers] = []
        self.place(features)

    def place(self, count: int) -> int:
        """Return the place of ``count`` numbers, with room for a vector after them."""
        begin = self.size
        self.size += -(-(count + self.lanes) // self.lanes) * self.lanes
        return begin

    def table(self, words: IntArray) -> int:
        """Return where the table lists these words; equal lists are stored once."""
        known = self._known.setdefault(words.tobytes(), self.words)
        if known == self.words:
            self._table.append(words.ravel())
            self.words += words.size
        return known

    def panels(self, rows: int, depth: int, made: Made) -> int:
        """Return where a matrix [rows, depth] is packed."""
        return self._pack(-(-rows // self.lanes) * self.lanes * depth, depth, made)

    def vector(self, count: int, made: Made) -> int:
        """Return the place of ``count`` packed numbers, with zeros up to the end of a panel."""
        return self._pack(-(-count // self.lanes) * self.lanes + self.lanes, None, made)

    def _pack(self, count: int, depth: int | None, made: Made) -> int:
        begin = self.numbers
        self.numbers += count
        self._packed.append(PackedNumbers(begin, depth, made))
        return begin

    def add(self, step: ForwardStep) -> ForwardStep:
        """Go on with a step."""
        self.steps.append(step)
        return step

    @property
    def needs(self) -> int:
        """Return the bytes of numbers, tables and steps together."""
        block = max(BLOCK_BYTES, LEAST_ROWS * self.size * self.dtype.itemsize)
        words = self.words + len(self.steps) * len(ForwardStep(0).words)
        return block + self.numbers * self.dtype.itemsize + words * WORD_BYTES

    def arrays(self) -> tuple[IntArray, IntArray]:
        """Return all steps [steps, words], and the table that they refer to."""
        table = np.concatenate(self._table) if self._table else np.zeros(1, np.int64)
        return np.array([step.words for step in self.steps], np.int64), table

    def pack(self, values: Values, numbers: Array) -> None:
        """Write all numbers of the network to ``numbers`` [numbers], of canonical weights by name,
        each in its parameter's shape.
        """
        for at, depth, made in self._packed:
            found = np.asarray(made(values))
            if depth is None:
                numbers[at : at + found.size] = found.ravel()
            elif depth:
                self._put(
                    found, numbers[at : at - (-len(found) // self.lanes) * self.lanes * depth]
                )

    def _put(self, matrix: Array, numbers: Array) -> None:
        """Put a matrix [rows, depth] into panels [panel, depth, lanes]."""
        rows, depth = matrix.shape
        whole, rest = divmod(rows, self.lanes)
        panels = numbers.reshape(-1, depth, self.lanes)
        inside = matrix[: whole * self.lanes].reshape(whole, self.lanes, depth)
        panels[:whole] = inside.transpose(0, 2, 1)
        if rest:
            panels[whole, :, :rest] = matrix[whole * self.lanes :].T


def runs_of(places: IntArray) -> IntArray:
    """Return the runs [runs, 2] of consecutive places in rising order: from, length."""
    begins = np.flatnonzero(np.diff(places, prepend=-2) != 1)
    lengths = np.diff(begins, append=len(places))
    return np.stack([places[begins], lengths], axis=1).astype(np.int64)


def pairs_of(sources: IntArray, targets: IntArray) -> IntArray:
    """Return runs [runs, 3] that bring numbers from places to others: from, to, length."""
    order = np.argsort(targets)
    sources, targets = sources[order], targets[order]
    apart = (np.diff(sources, prepend=-2) != 1) | (np.diff(targets, prepend=-2) != 1)
    begins = np.flatnonzero(apart)
    lengths = np.diff(begins, append=len(sources))
    return np.stack([sources[begins], targets[begins], lengths], axis=1).astype(np.int64)


def strides(extents: Sequence[int], order: Sequence[int]) -> list[int]:
    """Return the stride of each dimension; ``order`` has them from the outermost in."""
    found, step = [0] * len(extents), 1
    for d in reversed(order):
        found[d] = step
        step *= extents[d]
    return found
