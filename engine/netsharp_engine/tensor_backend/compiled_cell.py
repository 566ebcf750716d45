"""The compiled twin of ``lstm``: the same cell without peepholes or projection, in float32.

All steps of a pass are one call.  It knows neither how a cell is recognised nor what is done where
nothing is compiled; gates and states are float64 between the products, as there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.graph import Node
from netsharp_engine.packing import Indices, Packing
from netsharp_engine.tensor_backend.kernels import sequences
from netsharp_engine.tensor_backend.kernels.elements import reduced
from netsharp_engine.tensor_backend.kernels.rows import Array

if TYPE_CHECKING:
    from netsharp_engine.tensor_backend.lstm import Cell

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

#: What the widest vectors may read behind an array, and how many cells lie beside each other.
_BEHIND, _PANEL = 16, 64


def compiled(cell: Cell, kind: Any) -> bool:
    """Whether there is a twin of such a cell in this type of numbers."""
    plain = cell.peepholes is None and cell.projection is None
    return twins is not None and plain and kind == np.float32


class CompiledCell:
    """The steps of one cell; ``training``: a pass forward keeps what the one back needs."""

    def __init__(self, cell: Cell, training: bool) -> None:
        self.cell, self._training = cell, training
        #: The gradient of the sums, added up over all columns, after a pass back.
        self.by_bias: Array = np.zeros(0)
        self._rooms: dict[str, Array] = {}
        self._borders: tuple[Indices, Indices] = np.zeros(1, np.int64), np.zeros(0, np.int64)
        size = cell.size
        self._panels = np.empty(4 * size * (-size // _PANEL * -_PANEL), np.float32)

    def forward(
        self,
        found: dict[Node, Array],
        packing: Packing,
        kind: Any,
        carried: Mapping[Node, Array],
    ) -> None:
        """Find the outputs and the states of all steps; ``carried`` is as that of ``Scan``."""
        cell, size = self.cell, self.cell.size
        columns, rows = packing.columns, packing.rows
        first = self._first(found, kind)
        before = self._room("before", columns, size)
        running = self._room("running", rows * size + _BEHIND, kind=np.float64)
        begin = before[columns - rows :] if cell.backwards else before[:rows]
        # Also where nothing has begun yet: what stands in gaps is multiplied with 0.
        for delay, known, start in zip(
            cell.before, first, (begin, running[: rows * size].reshape(rows, size)), strict=True
        ):
            start[...] = known
            sequences.carry_in(delay, start, 0, packing, carried)
        self._borders = _borders(packing, cell.backwards)
        slopes = None
        if self._training:
            slopes = self._room("slopes", columns, 6, -size // _BEHIND * -_BEHIND)
        outputs, states = (self._room(name, columns, size) for name in ("outputs", "states"))
        twins.cell_forward(
            packing.steps,
            rows,
            size,
            cell.backwards,
            np.ascontiguousarray(found[cell.sums]),
            np.ascontiguousarray(found[cell.weights]),
            *first,
            *self._borders,
            packing.gaps,
            before,
            outputs,
            states,
            slopes,
            self._panels,
            running,
        )
        found[cell.outputs], found[cell.state] = outputs, states

    def backward(
        self,
        given: dict[Node, Array],
        found: dict[Node, Array],
        packing: Packing,
        learning: set[Node],
    ) -> Iterator[tuple[Node, Array]]:
        """Gradients of sources outside, from those of the outputs and the states."""
        cell, size, rows = self.cell, self.cell.size, packing.rows
        by = self._room("by sums", packing.columns, 4 * size)
        first, self.by_bias = np.empty((2, 1, size)), np.empty(4 * size)
        told = (
            np.ascontiguousarray(given[one]) if one in given else None
            for one in (cell.outputs, cell.state)
        )
        twins.cell_backward(
            packing.steps,
            rows,
            size,
            cell.backwards,
            *self._borders,
            packing.gaps,
            self._rooms["slopes"],
            np.ascontiguousarray(found[cell.weights]),
            *told,
            by,
            self._room("back", rows, size),
            self._room("state", rows, size),
            self._panels,
            first,
            self.by_bias,
        )
        if cell.sums in learning:
            # A parameter's gradient outlives the room.
            yield cell.sums, by if len(by) > 1 else by.copy()
        if cell.weights in learning:
            yield cell.weights, (self._rooms["before"].T @ by)[None]
        for delay, gradient in zip(cell.before, first, strict=True):
            if len(delay.inputs) == 2 and delay.inputs[1] in learning:
                initial = delay.inputs[1]
                yield initial, reduced(gradient.astype(by.dtype), found[initial].shape)

    def _first(self, found: dict[Node, Array], kind: Any) -> tuple[Array, Array]:
        """The outputs and the state before a sequence."""
        both = []
        for delay, width in zip(self.cell.before, (kind, np.float64), strict=True):
            initial = found[delay.inputs[1]] if len(delay.inputs) == 2 else None
            start = np.broadcast_to(sequences.border(delay, initial, kind), (1, delay.size))
            both.append(np.ascontiguousarray(start, width))
        return both[0], both[1]

    def _room(self, name: str, *shape: int, kind: Any = np.float32) -> Array:
        """Room that is kept from one call to the next, and grows."""
        count = 1
        for one in shape:
            count *= one
        known = self._rooms.get(f"all {name}")
        if known is None or known.size < count:
            known = self._rooms[f"all {name}"] = np.empty(count, kind)
        found = self._rooms[name] = known[:count].reshape(shape)
        return found


def _borders(packing: Packing, backwards: bool) -> tuple[Indices, Indices]:
    """Rows in which sequences begin as a loop goes, and where those of each step of it begin."""
    begin, row = packing.begin, packing.row
    if backwards:
        begin = packing.steps - packing.begin - packing.length
    real = packing.length > 0
    if packing.before is not None:
        real &= packing.before == 0
    if not real.all():
        begin, row = begin[real], row[real]
    starts = np.zeros(packing.steps + 1, np.int64)
    np.cumsum(np.bincount(begin, minlength=packing.steps), out=starts[1:])
    rows = row[np.argsort(begin, kind="stable")]
    return starts, np.ascontiguousarray(rows, np.int64)
