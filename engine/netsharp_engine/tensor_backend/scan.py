"""A loop over time: its nodes step by step for all sequences at once, and gradients back.

Time and memory are linear in the steps: gradients of sources outside the loop are computed from all
steps together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.graph import GraphError, Node
from netsharp_engine.ops.tensors import ACROSS, JOINING
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_engine.packing import Packing
from netsharp_engine.tensor_backend.compiled_cell import CompiledCell, compiled
from netsharp_engine.tensor_backend.kernels import sequences
from netsharp_engine.tensor_backend.kernels.acting import STEPWISE, Acting
from netsharp_engine.tensor_backend.kernels.elements import reduced
from netsharp_engine.tensor_backend.kernels.rows import Array
from netsharp_engine.tensor_backend.kernels.table import TABLE, backward_of
from netsharp_engine.tensor_backend.loops import Loop
from netsharp_engine.tensor_backend.lstm import Cell, CellScan, recognised

if TYPE_CHECKING:
    from netsharp_engine.tensor_backend.together import Affine


class Scan:
    """One loop of a graph; ``learning`` are the nodes whose gradient is needed, ``shown`` those of
    the loop that others read.
    """

    def __init__(self, loop: Loop, learning: set[Node], shown: Collection[Node], kind: Any) -> None:
        self._nodes, self._backwards = loop.nodes, loop.backwards
        self._inside, self._learning = set(loop.nodes), learning
        #: What its nodes read that is outside.
        self.sources = dict.fromkeys(
            one for node in loop.nodes for one in node.inputs if one not in self._inside
        )
        self._room = _Room()
        cell = recognised(loop, shown)
        self._fused = None if cell is None else _fused(cell, kind, bool(learning))
        require_stepwise(loop)

    @property
    def is_cell(self) -> bool:
        """Return whether the loop is computed as a cell, and not node by node."""
        return self._fused is not None

    @property
    def takes(self) -> Node | None:
        """Return the sums that a compiled cell can compute itself."""
        return self._fused.cell.sums if isinstance(self._fused, CompiledCell) else None

    def take(self, sums: Affine) -> None:
        """Let it make them."""
        assert isinstance(self._fused, CompiledCell)
        self._fused.affine = sums

    @property
    def read(self) -> Iterable[Node]:
        """Return the sources whose values are needed this time."""
        made = self._fused.made if isinstance(self._fused, CompiledCell) else None
        return self.sources if made is None else [one for one in self.sources if one is not made]

    def forward(
        self,
        found: dict[Node, Array],
        packings: dict[Node, Packing | None],
        kind: Any,
        carried: Mapping[Node, Array],
        acting: Acting,
    ) -> None:
        """Compute all steps; ``carried`` are the values that pieces of sequences take over, by
        delays, and ``acting`` draws for nodes that drop. GraphError where no source has a dynamic
        axis. Values in ``found`` are [columns, *shape].
        """
        self._acting = acting
        known = (packings[one] for one in self.sources)
        packing = next((one for one in known if one is not None), None)
        if packing is None:
            name = self._nodes[0].name
            raise GraphError(f"the loop of '{name}' reads nothing along a dynamic axis")
        for node in self._nodes:
            packings[node] = packing
        self._packing, self._kind, self._carried = packing, kind, carried
        if self._fused is not None and packings[self._fused.cell.sums] is not None:
            self._fused.forward(found, packing, kind, carried)
        else:
            self.unfold(found, packings)

    def unfold(self, found: dict[Node, Array], packings: dict[Node, Packing | None]) -> None:
        """Compute every node, step by step. Raises SamplesError where sequences continue whose
        beginning is unknown. Values in ``found`` are [columns, *shape].
        """
        packing = self._packing
        for node in self._nodes:
            found[node] = self._room.of(node, packing, self._kind, "value")
            if node.op in STEPWISE:
                self._acting.draw_steps(node, packing, self._kind, self._backwards)
        steps = _Steps(packing)
        for step in steps.order(self._backwards):
            for node in self._nodes:
                here = steps.columns(step)
                if node.op in DELAYS:
                    found[node][here] = _delayed(node, found, steps, step)
                    sequences.carry_in(node, found[node][here], step, packing, self._carried)
                elif node.op in STEPWISE:
                    source = found[node.inputs[0]][here]
                    found[node][here] = self._acting.dropped(node, source, here)
                else:
                    sources = [
                        found[one][here] if packings[one] is not None else found[one]
                        for one in node.inputs
                    ]
                    found[node][here] = TABLE[node.op].forward(node, sources)
        for node in self._nodes:
            found[node][packing.gaps] = 0

    def backward(
        self,
        given: dict[Node, Array],
        found: dict[Node, Array],
        packings: dict[Node, Packing | None],
    ) -> Iterator[tuple[Node, Array]]:
        """Yield the gradients of sources outside, from those of nodes inside. Gradients are
        [columns, *shape], as values are.
        """
        if not given:
            return
        packing = self._packing
        if self._fused is not None and packings[self._fused.cell.sums] is not None:
            yield from self._fused.backward(given, found, packing, self._learning)
            return
        kind = next(iter(given.values())).dtype
        by = {node: self._room.of(node, packing, kind, "gradient") for node in self._nodes}
        for node, array in by.items():
            array[...] = given.get(node, 0)
        steps = _Steps(packing)
        for step in steps.order(not self._backwards):
            for node in reversed(self._nodes):
                if node in self._learning:
                    self._step_back(node, step, steps, by, found, packings)
        for node in self._nodes:
            yield from self._bulk(node, by[node], found, packings, packing)

    def _step_back(
        self,
        node: Node,
        step: int,
        steps: _Steps,
        by: dict[Node, Array],
        found: dict[Node, Array],
        packings: dict[Node, Packing | None],
    ) -> None:
        here = steps.columns(step)
        gradient = by[node][here]
        gaps = steps.gaps(step)
        if len(gaps):
            gradient[gaps] = 0
        if node.op in DELAYS:
            there, inside = steps.other(step, sequences.offset(node))
            source = node.inputs[0]
            if there is not None and source in self._learning:
                if inside is None:
                    by[source][there] += gradient
                else:
                    by[source][there][inside] += gradient[inside]
            return
        if node.op in STEPWISE:
            if node.inputs[0] in self._learning:
                by[node.inputs[0]][here] += self._acting.dropped(node, gradient, here)
            return
        sources = None
        for source, back in zip(node.inputs, backward_of(node), strict=True):
            if back is None or source not in self._inside or source not in self._learning:
                continue
            sources = sources or [
                found[one][here] if packings[one] is not None else found[one] for one in node.inputs
            ]
            new = back(node, sources, found[node][here], gradient)
            target = by[source][here]
            target += reduced(new, target.shape)

    def _bulk(
        self,
        node: Node,
        gradient: Array,
        found: dict[Node, Array],
        packings: dict[Node, Packing | None],
        packing: Packing,
    ) -> Iterable[tuple[Node, Array]]:
        """Yield the gradients of sources outside, of all steps together."""
        backs: tuple[Any, ...] = (None,)
        if node.op not in (*DELAYS, *STEPWISE):
            backs = backward_of(node)
        elif node.op in DELAYS and len(node.inputs) == 2 and node.inputs[1] in self._learning:
            initial = node.inputs[1]
            new = sequences.border_back(node, gradient, packing)
            yield initial, reduced(new, found[initial].shape)
        for source, back in zip(node.inputs, backs, strict=False):
            if back is None or source in self._inside or source not in self._learning:
                continue
            new = back(node, [found[one] for one in node.inputs], found[node], gradient)
            if packing.columns == 1:
                new = new.copy()  # A parameter's gradient outlives the room.
            yield source, reduced(sequences.without_gaps(new, packing), found[source].shape)


def require_stepwise(loop: Loop) -> None:
    """Raise GraphError for a node of a loop that cannot be computed step by step."""
    for node in loop.nodes:
        if node.op in (*JOINING, *ACROSS, *COLUMNS):
            raise GraphError(
                f"'{node.name}' is in a loop over time, and {node.op} cannot be computed step "
                "by step",
                node.origin,
            )


def _fused(cell: Cell, kind: Any, training: bool) -> CellScan | CompiledCell:
    """Return the compiled twin of a cell where there is one."""
    return CompiledCell(cell, training) if compiled(cell, kind) else CellScan(cell)


class _Room:
    """Arrays that are kept from one call to the next, and grow."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[Node, str], Array] = {}

    def of(self, node: Node, packing: Packing, kind: Any, what: str) -> Array:
        """Return a buffer for a node's columns."""
        known = self._arrays.get((node, what))
        if known is None or len(known) < packing.columns or known.dtype != kind:
            known = np.empty((packing.columns, *node.shape), kind)
            self._arrays[node, what] = known
        return known[: packing.columns]


class _Steps:
    """The columns of each step, and of those that delays read."""

    def __init__(self, packing: Packing) -> None:
        self._packing = packing
        self._bounds = np.searchsorted(packing.gaps, np.arange(packing.steps + 1) * packing.rows)
        self._earlier: dict[int, tuple[Array, Any, Any]] = {}

    def order(self, backwards: bool) -> Iterable[int]:
        """Return the steps as a loop takes them."""
        steps = range(self._packing.steps)
        return reversed(steps) if backwards else steps

    def columns(self, step: int) -> slice:
        """Return the columns of a step."""
        rows = self._packing.rows
        return slice(step * rows, (step + 1) * rows)

    def gaps(self, step: int) -> Array:
        """Return the rows of a step that are gaps."""
        begin, end = self._bounds[step : step + 2]
        return self._packing.gaps[begin:end] - step * self._packing.rows

    def other(self, step: int, offset: int) -> tuple[slice | None, Array | None]:
        """Return the columns that a delay reads, and in which rows of them (None: in all)."""
        if offset not in self._earlier:
            inside = (self._packing.earlier(offset) >= 0).reshape(self._packing.steps, -1)
            some, every = inside.any(axis=1).tolist(), inside.all(axis=1).tolist()
            self._earlier[offset] = inside, some, every
        inside, some, every = self._earlier[offset]
        if not some[step]:
            return None, None
        return self.columns(step - offset), None if every[step] else inside[step]


def _delayed(node: Node, found: dict[Node, Array], steps: _Steps, step: int) -> Array:
    there, inside = steps.other(step, sequences.offset(node))
    source, *initial = node.inputs
    values = found[source]
    if there is not None and inside is None:
        return values[there]
    start = sequences.border(node, found[initial[0]] if initial else None, values.dtype.type)
    if there is None or inside is None:
        return start
    mask = inside.reshape(-1, *(1,) * len(node.shape))
    return np.where(mask, values[there], start)
