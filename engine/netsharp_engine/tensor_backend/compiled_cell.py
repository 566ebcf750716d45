"""The compiled twin of ``lstm``: the same cell without peepholes or projection, in float32.

All steps of a pass are one call.  It knows neither how a cell is recognised nor what is done where
nothing is compiled; gates and states are float64 between the products, as there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.graph import Node
from netsharp_engine.packing import Indices, Packing
from netsharp_engine.tensor_backend.kernels import sequences
from netsharp_engine.tensor_backend.kernels.elements import reduced
from netsharp_engine.tensor_backend.kernels.rows import Array

if TYPE_CHECKING:
    from netsharp_engine.tensor_backend.lstm import Cell
    from netsharp_engine.tensor_backend.together import Affine

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

#: The numbers that the widest vectors may read after an array, and the cells side by side.
_PADDING, _PANEL = 16, 64
#: The rows that are many, and the numbers of a quarter of a matrix that is small.
_MANY, _SMALL = 16, 8192


def compiled(cell: Cell, kind: Any) -> bool:
    """Return whether there is a twin of such a cell in this type of numbers: float32, without
    peepholes and projection.
    """
    plain = cell.peepholes is None and cell.projection is None
    return twins is not None and plain and kind == np.float32


class CompiledCell:
    """The steps of one cell; ``training``: a pass forward keeps what the one back needs.

    With ``affine`` it makes its sums itself where they are given as rows, matrix and bias: rows
    stand in front of the outputs before, so that the gradients of both matrices are one product.
    """

    def __init__(self, cell: Cell, training: bool) -> None:
        self.cell, self._training = cell, training
        self._size = cell.size
        self.affine: Affine | None = None
        #: Memory by its purpose, and the part of it that was asked for last.
        self._whole: dict[str, Array] = {}
        self._rooms: dict[str, Array] = {}
        #: The value before a sequence where it is a number.
        self._starts: dict[Node, Array] = {}
        self._borders: tuple[Indices, Indices] = np.zeros(1, np.int64), np.zeros(0, np.int64)

    @property
    def made(self) -> Node | None:
        """Return the sums that are computed here and nowhere else; None where the walk computes
        them.
        """
        return self.cell.sums if self.affine is not None and self.affine.given else None

    @property
    def _inner(self) -> int:
        """Return the number of elements of a row that sums are made of; 0 without."""
        return self.affine.inner if self.affine is not None and self.affine.given else 0

    def _at_once(self, rows: int) -> bool:
        """Return whether the rows of all steps meet their matrix in one product. Step by step the
        matrix is read again at each step, which costs more than it saves where it is large and
        meets few rows.
        """
        return rows >= _MANY or self._inner * self._size <= _SMALL

    def forward(
        self,
        found: dict[Node, Array],
        packing: Packing,
        kind: Any,
        carried: Mapping[Node, Array],
    ) -> None:
        """Find the outputs and the states of all steps; ``carried`` is as that of ``Scan``. Raises
        SamplesError where sequences continue whose beginning is unknown. Values in ``found`` are
        [columns, *shape], in float32.
        """
        cell, size, inner = self.cell, self._size, self._inner
        columns, rows = packing.columns, packing.rows
        first = self._first(found, kind)
        before = self._room("before", columns, inner + size)
        running = self._room("running", rows * size + _PADDING, kind=np.float64)
        begin = (before[columns - rows :] if cell.backwards else before[:rows])[:, inner:]
        # Also where nothing has begun yet: values in gaps are multiplied with 0.
        for delay, known, start in zip(
            cell.before, first, (begin, running[: rows * size].reshape(rows, size)), strict=True
        ):
            start[...] = known
            sequences.carry_in(delay, start, 0, packing, carried)
        self._borders = _borders(packing, cell.backwards)
        slopes = None
        if self._training:
            slopes = self._room("slopes", columns, 6, -size // _PADDING * -_PADDING)
        outputs, states = (self._room(name, columns, size) for name in ("outputs", "states"))
        twins.cell_forward(
            packing.steps,
            rows,
            size,
            cell.backwards,
            inner,
            *self._borders,
            packing.gaps,
            *self._beginnings(found, rows),
            np.ascontiguousarray(found[cell.weights]),
            *first,
            before,
            outputs,
            states,
            slopes,
            self._panels(),
            running,
        )
        found[cell.outputs], found[cell.state] = outputs, states

    def _beginnings(self, found: dict[Node, Array], rows: int) -> tuple[Array | None, ...]:
        """Return sums, bias, rows and their matrix, from which the sums of gates begin; None for
        those that are not used.
        """
        if not self._inner:
            return np.ascontiguousarray(found[self.cell.sums]), None, None, None
        assert self.affine is not None
        assert self.affine.given is not None
        inputs, weights, bias = map(np.ascontiguousarray, self.affine.given)
        if self._at_once(rows):
            return None, bias, inputs, weights
        sums = np.dot(inputs, weights, self._room("sums", len(inputs), 4 * self._size))
        return sums, bias, inputs, None

    def backward(
        self,
        given: dict[Node, Array],
        found: dict[Node, Array],
        packing: Packing,
        learning: set[Node],
    ) -> Iterator[tuple[Node, Array]]:
        """Yield the gradients of sources outside, from those of the outputs and the states.
        Gradients are [columns, *shape], as values are.
        """
        cell, size, inner, rows = self.cell, self._size, self._inner, packing.rows
        by = self._room("by sums", packing.columns, 4 * size)
        first, by_bias = np.empty((2, 1, size)), np.empty(4 * size)
        arrays = (
            np.ascontiguousarray(given[one]) if one in given else None
            for one in (cell.outputs, cell.state)
        )
        weights, back = self._source(packing, learning)
        twins.cell_backward(
            packing.steps,
            rows,
            size,
            cell.backwards,
            inner,
            *self._borders,
            packing.gaps,
            self._rooms["slopes"],
            np.ascontiguousarray(found[cell.weights]),
            weights,
            *arrays,
            by,
            back if self._at_once(rows) else None,
            self._room("back", rows, size),
            self._room("state", rows, size),
            self._panels(),
            first,
            by_bias,
        )
        before = self._rooms["before"]
        if inner and self.affine is not None:
            if back is not None and weights is not None:
                if not self._at_once(rows):
                    np.dot(by, weights.T, back)
                sequences.without_gaps(back, packing)
            both = before.T @ by
            yield from self.affine.shared(
                lambda: by_bias.astype(by.dtype), lambda: both[:inner], back
            )
            if cell.weights in learning:
                yield cell.weights, both[None, inner:]
        else:
            if cell.sums in learning:
                # A parameter's gradient outlives the room.
                yield cell.sums, by if len(by) > 1 else by.copy()
            if cell.weights in learning:
                yield cell.weights, (before.T @ by)[None]
        for delay, gradient in zip(cell.before, first, strict=True):
            if len(delay.inputs) == 2 and delay.inputs[1] in learning:
                initial = delay.inputs[1]
                yield initial, reduced(gradient.astype(by.dtype), found[initial].shape)

    def _source(self, packing: Packing, learning: set[Node]) -> tuple[Array | None, Array | None]:
        """Return the matrix of rows and the buffer for their gradient, where they learn."""
        if not self._inner or self.affine is None or self.affine.source not in learning:
            return None, None
        assert self.affine.given is not None
        _, weights, _ = self.affine.given
        back = self._room("by inputs", packing.columns, self._inner)
        return np.ascontiguousarray(weights), back

    def _panels(self) -> Array:
        inner = -self._inner // _PANEL * -_PANEL
        size = -self._size // _PANEL * -_PANEL
        return self._room("panels", 4 * self._size * (size + inner) + 4 * _PANEL * self._inner)

    def _first(self, found: dict[Node, Array], kind: Any) -> tuple[Array, Array]:
        """Return the outputs and the state before a sequence, each [1, size]."""
        both = []
        for delay, width in zip(self.cell.before, (kind, np.float64), strict=True):
            start = self._starts.get(delay)
            if start is None:
                initial = found[delay.inputs[1]] if len(delay.inputs) == 2 else None
                known = np.broadcast_to(sequences.border(delay, initial, kind), (1, delay.size))
                start = np.ascontiguousarray(known, width)
                if initial is None:
                    self._starts[delay] = start
            both.append(start)
        return both[0], both[1]

    def _room(self, name: str, *shape: int, kind: Any = np.float32) -> Array:
        """Return a buffer that is kept from one call to the next, and grows."""
        found = self._rooms.get(name)
        if found is not None and found.shape == shape:
            return found
        count, known = prod(shape), self._whole.get(name)
        if known is None or known.size < count:
            known = self._whole[name] = np.empty(count, kind)
        found = self._rooms[name] = known[:count].reshape(shape)
        return found


def _borders(packing: Packing, backwards: bool) -> tuple[Indices, Indices]:
    """Return the rows in which sequences begin in the loop's direction, and where those of each
    step begin among them.
    """
    begin, row = packing.begin, packing.row
    if backwards:
        begin = packing.steps - packing.begin - packing.length
    real = packing.length > 0
    if packing.before is not None:
        real &= packing.before == 0
    if not real.all():
        begin, row = begin[real], row[real]
    starts, rows = np.empty(packing.steps + 1, np.int64), np.empty(len(begin), np.int64)
    begin, row = (np.ascontiguousarray(one, np.int64) for one in (begin, row))
    twins.begun(begin, row, starts, rows)
    return starts, rows
