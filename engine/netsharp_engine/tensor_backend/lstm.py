"""A loop that is a cell of long short-term memory, recognised by its nodes and computed as one.

A step is one product and few operations on all gates; the other gradients are computed from all
steps together. States and gates are float64 between the products. A sigmoid is (1 + tanh(z / 2)) /
2: so all gates are one call, and the halves move into the weights. Source: Hochreiter and
Schmidhuber (1997), with the forget gate of Gers and others (2000).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.graph import Node
from netsharp_engine.ops.tensors import HELD
from netsharp_engine.ops.tensors.shaping import DELAYS
from netsharp_engine.packing import Packing
from netsharp_engine.tensor_backend.kernels import sequences
from netsharp_engine.tensor_backend.kernels.elements import reduced
from netsharp_engine.tensor_backend.kernels.rows import Array
from netsharp_engine.tensor_backend.loops import Loop

#: One step: gates, state before, and where the state, its bounded form and what is shown go.
Advance = Callable[[Array, Array, Array, Array, Array], None]
#: The places of the gates in the sums: input, candidate, forget, output.
_LET_IN, _NEW, _KEPT, _SHOWN = range(4)


class Cell(NamedTuple):
    """The nodes of one: ``sums`` of what is outside, ``weights`` of its outputs before.

    ``peepholes`` are those of the gates that are let in, kept and shown; ``projection`` makes its
    outputs of what it shows.
    """

    sums: Node
    weights: Node
    outputs: Node
    state: Node
    before: tuple[Node, Node]
    peepholes: tuple[Node, Node, Node] | None
    projection: Node | None
    backwards: bool

    @property
    def size(self) -> int:
        """Return the number of elements of its state."""
        return self.state.size


class _MismatchError(Exception):
    """The loop is something else."""


class _Reading:
    """One attempt to read a loop's nodes; ``read`` are those that were met."""

    def __init__(self, loop: Loop) -> None:
        self._inside, self.read = set(loop.nodes), set[Node]()

    def parts(self, node: Node, op: str) -> tuple[Node, ...]:
        """Return the sources of a node inside, which has to be of such an operation."""
        if node.op != op or node not in self._inside:
            raise _MismatchError
        self.read.add(node)
        return node.inputs

    def pair(self, node: Node, op: str, first: str) -> tuple[Node, Node]:
        """Return both sources, the one by the operation ``first`` in front."""
        one, other = self.parts(node, op)
        return (one, other) if one.op == first and one in self._inside else (other, one)

    def gate(self, node: Node, function: str, state: Node | None) -> tuple[Node, Node | None]:
        """Return the slice that a gate is computed from, and its peephole to a state."""
        (inner,) = self.parts(node, function)
        if state is None or inner.op == "Slice":
            return inner, None
        part, peep = self.pair(inner, "Plus", "Slice")
        factors = self.parts(peep, "ElementTimes")
        others = [one for one in factors if one is not state]
        if len(others) != 1:
            raise _MismatchError
        return part, others[0]


def recognised(loop: Loop, shown: Collection[Node]) -> Cell | None:
    """Return the cell that a loop computes, None for other loops; ``shown`` are its nodes that
    others read.
    """
    delays = [one for one in loop.nodes if one.op in DELAYS]
    if len(delays) != 2 or any(abs(sequences.offset(one)) != 1 for one in delays):
        return None
    for past in (delays, delays[::-1]):
        reading = _Reading(loop)
        try:
            cell = _read(reading, past[0], past[1], loop.backwards)
        except _MismatchError:
            continue
        whole = reading.read.union(past) == set(loop.nodes)
        if whole and set(shown) <= {cell.outputs, cell.state}:
            return cell
    return None


def _read(reading: _Reading, past: Node, kept: Node, backwards: bool) -> Cell:
    """Return the cell with these delays of its outputs and its state."""
    outputs, state = past.inputs[0], kept.inputs[0]
    projection, shown = None, outputs
    if outputs.op == "Times":
        projection, shown = reading.parts(outputs, "Times")
    show, bounded = reading.pair(shown, "ElementTimes", "Sigmoid")
    if reading.parts(bounded, "Tanh") != (state,):
        raise _MismatchError
    products = list(reading.parts(state, "Plus"))
    products.sort(key=lambda one: kept not in one.inputs)
    keep, again = reading.pair(products[0], "ElementTimes", "Sigmoid")
    let_in, new = reading.pair(products[1], "ElementTimes", "Sigmoid")
    if again is not kept:
        raise _MismatchError
    gates = [
        reading.gate(let_in, "Sigmoid", kept),
        reading.gate(new, "Tanh", None),
        reading.gate(keep, "Sigmoid", kept),
        reading.gate(show, "Sigmoid", state),
    ]
    size = state.size
    whole = {reading.parts(part, "Slice") for part, _ in gates}
    if len(whole) != 1 or len(state.shape) != 1:
        raise _MismatchError
    for number, (part, _) in enumerate(gates):
        begins = part.attributes["beginIndex"] == number * size
        if not begins or part.size != size or part.attributes.get("stride", 1) != 1:
            raise _MismatchError
    ((both,),) = whole
    product, sums = reading.pair(both, "Plus", "Times")
    weights, source = reading.parts(product, "Times")
    peepholes = [one for _, one in gates if one is not None]
    outside = [one for one in (weights, projection, *peepholes, *past.inputs[1:]) if one]
    outside += kept.inputs[1:]
    if (
        source is not past
        or len(peepholes) not in (0, 3)
        or not all(map(_is_shared, outside))
        or any(one.shape != (size,) for one in peepholes)
        or weights.shape != (past.size, 4 * size)
        or sums.shape != (4 * size,)
        or len(past.shape) != 1
        or (projection is not None and projection.shape != (size, past.size))
    ):
        raise _MismatchError
    three = (peepholes[0], peepholes[1], peepholes[2]) if peepholes else None
    return Cell(sums, weights, outputs, state, (past, kept), three, projection, backwards)


def _is_shared(node: Node) -> bool:
    """Return whether all samples share a value: it is computed from parameters alone."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.op == "input" or (one.op not in HELD and not one.inputs):
            return False
        waiting += () if one.op in HELD else one.inputs
    return True


class Border(NamedTuple):
    """The beginning of sequences in a loop's direction: a step of the loop, and rows of it."""

    step: int
    rows: Array


class CellScan:
    """The steps of one cell: values of a forward pass are kept for the backward one.

    Gates are kept as 1 + tanh(z / 2), which is twice as large, and so are outputs.
    """

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self._rooms: dict[str, Array] = {}
        self._borders: list[Border] = []
        self._size = cell.size
        #: Before a hyperbolic tangent, and after it.
        self._factor = np.repeat([0.5, 1.0, 0.5, 0.5], cell.size)
        self._offset = np.repeat([1.0, 0.0, 1.0, 1.0], cell.size)

    def forward(
        self,
        found: dict[Node, Array],
        packing: Packing,
        kind: Any,
        carried: Mapping[Node, Array],
    ) -> None:
        """Find the outputs and the states of all steps; ``carried`` is as that of ``Scan``. Raises
        SamplesError where sequences continue whose beginning is unknown. Values in ``found`` are
        [columns, *shape].
        """
        cell, size = self.cell, self._size
        steps, rows = packing.steps, packing.rows
        self._borders = _borders(cell, packing)
        sums = self._room("sums", (steps, rows, 4 * size), kind)
        given = self._turned(found[cell.sums].reshape(sums.shape))
        np.multiply(given, self._factor.astype(kind), out=sums)
        gates = self._room("gates", sums.shape, np.float64)
        states = self._room("states", (steps + 1, rows, size), np.float64)
        bounded = self._room("bounded", (steps, rows, size), np.float64)
        outputs = self._room("outputs", (steps + 1, rows, cell.outputs.size), kind)
        shown = outputs[1:]
        projection = None
        if cell.projection is not None:
            projection = found[cell.projection][0]
            shown = self._room("shown", (steps, rows, size), kind)
        outputs[0], states[0] = first = self._first(found, kind)
        for delay, begin, scale in zip(cell.before, (outputs[0], states[0]), (2, 1), strict=True):
            sequences.carry_in(delay, begin, 0, packing, carried)
            begin[packing.carried(0, 1)] *= scale
        saved: list[tuple[Border, Array, Array]] = []
        borders = {one.step: one for one in self._borders if one.step}
        advance = self._plain_step(rows) if cell.peepholes is None else self._with_peepholes(found)
        weights = (found[cell.weights][0] * (self._factor / 2)).astype(kind)
        product = np.empty((rows, 4 * size), kind)
        dot, add = np.dot, np.add
        ways = zip(outputs, sums, gates, states, states[1:], bounded, shown, strict=False)
        for step, (before, fed, inner, kept, state, ends, out) in enumerate(ways):
            if step in borders:
                there = borders[step]
                saved.append((there, before[there.rows], kept[there.rows]))
                before[there.rows], kept[there.rows] = first
            dot(before, weights, product)
            add(product, fed, inner)
            advance(inner, kept, state, ends, out)
            if projection is not None:
                dot(out, projection, outputs[step + 1])
        self._written_back(found, packing, kind, saved)

    def _plain_step(self, rows: int) -> Advance:
        size, offset, half = self._size, self._offset, np.float64(0.5)
        tanh, add, multiply = np.tanh, np.add, np.multiply
        scratch = np.empty((rows, size))
        second, third = 2 * size, 3 * size

        def advance(inner: Array, kept: Array, state: Array, ends: Array, out: Array) -> None:
            tanh(inner, inner)
            add(inner, offset, inner)
            multiply(inner[:, second:third], kept, state)
            multiply(inner[:, :size], inner[:, size:second], scratch)
            add(state, scratch, state)
            multiply(state, half, state)
            tanh(state, ends)
            multiply(inner[:, third:], ends, out)

        return advance

    def _with_peepholes(self, found: dict[Node, Array]) -> Advance:
        size, offset = self._size, self._offset
        assert self.cell.peepholes is not None
        let_in, keep, show = (found[one][0] * 0.5 for one in self.cell.peepholes)
        second, third = 2 * size, 3 * size

        def advance(inner: Array, kept: Array, state: Array, ends: Array, out: Array) -> None:
            inner[:, :size] += let_in * kept
            inner[:, second:third] += keep * kept
            three, last = inner[:, :third], inner[:, third:]
            np.tanh(three, out=three)
            three += offset[:third]
            np.multiply(inner[:, second:third], kept, out=state)
            state += inner[:, :size] * inner[:, size:second]
            state *= 0.5
            last += show * state
            np.tanh(last, out=last)
            last += 1.0
            np.tanh(state, out=ends)
            np.multiply(last, ends, out=out)

        return advance

    def _first(self, found: dict[Node, Array], kind: Any) -> tuple[Array, Array]:
        """Return the outputs, doubled, and the state before a sequence."""
        both = []
        for delay in self.cell.before:
            initial = found[delay.inputs[1]] if len(delay.inputs) == 2 else None
            both.append(np.broadcast_to(sequences.border(delay, initial, kind), (1, delay.size)))
        return both[0] * kind(2), both[1].astype(np.float64)

    def _written_back(
        self,
        found: dict[Node, Array],
        packing: Packing,
        kind: Any,
        saved: list[tuple[Border, Array, Array]],
    ) -> None:
        """Write outputs and states as the walk has them, with those that borders have replaced."""
        cell, steps = self.cell, packing.steps
        outputs = (cell.outputs, "outputs", 0.5, [(one, value) for one, value, _ in saved])
        states = (cell.state, "states", 1.0, [(one, value) for one, _, value in saved])
        for node, name, scale, covered in (outputs, states):
            kept = self._rooms[name][1 : steps + 1]
            target = self._room(f"found {name}", (packing.columns, node.size), kind)
            shaped = self._turned(target.reshape(kept.shape))
            np.multiply(kept, kind(scale), out=shaped, casting="same_kind")
            for border, value in covered:
                shaped[border.step - 1, border.rows] = value * scale
            if len(packing.gaps):
                target[packing.gaps] = 0
            found[node] = target

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
        cell, size = self.cell, self._size
        steps, rows = packing.steps, packing.rows
        kind = next(iter(given.values())).dtype.type
        by = self._room("by sums", (steps, rows, 4 * size), kind)
        whole = self._room("by outputs", (steps, rows, cell.outputs.size), kind)
        first = self._back(given, found, packing, by, whole)
        if len(packing.gaps):
            self._turned(by)[packing.gaps // rows, packing.gaps % rows] = 0
        flat = by.reshape(-1, 4 * size)
        if cell.sums in learning:
            turned = np.ascontiguousarray(self._turned(by)).reshape(flat.shape)
            yield cell.sums, turned if len(turned) > 1 else turned.copy()
        if cell.weights in learning:
            outputs = self._rooms["outputs"][:steps].reshape(len(flat), -1)
            yield cell.weights, (outputs.T @ flat)[None] * kind(0.5)
        if cell.projection is not None and cell.projection in learning:
            shown = self._rooms["shown"][:steps].reshape(len(flat), -1)
            yield cell.projection, (shown.T @ whole.reshape(len(flat), -1))[None] * kind(0.5)
        if cell.peepholes is not None:
            kept = self._rooms["states"][:steps].reshape(-1, size)
            state = self._turned(found[cell.state].reshape(steps, rows, size)).reshape(-1, size)
            places = (_LET_IN, kept), (_KEPT, kept), (_SHOWN, state)
            for node, (gate, seen) in zip(cell.peepholes, places, strict=True):
                if node in learning:
                    part = flat[:, gate * size : (gate + 1) * size]
                    yield node, np.einsum("ij,ij->j", part, seen)[None].astype(kind)
        for delay, gradient in zip(cell.before, first, strict=True):
            if len(delay.inputs) == 2 and delay.inputs[1] in learning:
                initial = delay.inputs[1]
                yield initial, reduced(gradient.astype(kind), found[initial].shape)

    def _back(
        self,
        given: dict[Node, Array],
        found: dict[Node, Array],
        packing: Packing,
        by: Array,
        whole: Array,
    ) -> tuple[Array, Array]:
        """Fill ``by``, the gradient of the sums, and ``whole``, that of the outputs; return those
        of the values before a sequence.
        """
        cell, size, steps = self.cell, self._size, packing.steps
        kind, (rows, width) = by.dtype.type, whole.shape[1:]
        slopes, fading, showing = self._slopes(packing, kind)
        weights = np.ascontiguousarray(found[cell.weights][0].T)
        projection = None if cell.projection is None else found[cell.projection][0].T
        output_errors, state_errors = (
            self._turned(given[one].reshape(steps, rows, -1)) if one in given else None
            for one in (cell.outputs, cell.state)
        )
        borders = {one.step: one.rows for one in self._borders}
        back, state = np.zeros((rows, width), kind), np.zeros((rows, size), kind)
        scratch = np.empty((rows, size), kind)
        first = np.zeros((1, width)), np.zeros((1, size))
        peepholes = cell.peepholes and [found[one][0] for one in cell.peepholes]
        spread = state[:, None]
        add, multiply, dot = np.add, np.multiply, np.dot
        ways = zip(
            whole[::-1],
            by[::-1],
            by.reshape(steps, rows, 4, size)[::-1],
            slopes[::-1],
            fading[::-1],
            showing[::-1],
            strict=True,
        )
        for step, (outer, flat, gates, slope, fades, shows) in zip(
            range(steps - 1, -1, -1), ways, strict=True
        ):
            if output_errors is None:
                outer[...] = back
            else:
                add(back, output_errors[step], outer)
            if state_errors is not None:
                state += state_errors[step]
            shown = outer if projection is None else outer @ projection
            multiply(shown, slope[:, 3], gates[:, 3])
            multiply(shown, shows, scratch)
            add(state, scratch, state)
            if peepholes:
                state += gates[:, _SHOWN] * peepholes[2]
            multiply(spread, slope[:, :3], gates[:, :3])
            multiply(state, fades, state)
            if peepholes:
                state += gates[:, _LET_IN] * peepholes[0]
                state += gates[:, _KEPT] * peepholes[1]
            dot(flat, weights, back)
            if step in borders:
                there = borders[step]
                for total, part in zip(first, (back, state), strict=True):
                    total += part[there].sum(0, np.float64)
                    part[there] = 0
        return first

    def _slopes(self, packing: Packing, kind: Any) -> tuple[Array, Array, Array]:
        """Return the factors of the gradient at each step: of the state (of outputs for the gate
        that shows) to each gate, of the state to the one before, of outputs to the state.
        """
        steps, rows, size = packing.steps, packing.rows, self._size
        shape = steps, rows, 4, size
        gates = self._rooms["gates"][:steps].reshape(shape)
        kept, bounded = self._rooms["states"][:steps], self._rooms["bounded"][:steps]
        found_slopes = self._room("slopes", shape, kind)
        let_in, new, keep, show = (gates[:, :, number] for number in range(4))
        # Gates are twice as large, and so are g (2 - g) / 4 for the product with its rest.
        for number, gate, factor in (
            (_LET_IN, let_in, new),
            (_KEPT, keep, kept),
            (_SHOWN, show, bounded),
        ):
            slope = 2 - gate
            slope *= gate
            slope *= factor
            np.multiply(slope, 1 / 4, out=found_slopes[:, :, number], casting="same_kind")
        slope = 1 - new * new
        slope *= let_in
        np.multiply(slope, 0.5, out=found_slopes[:, :, _NEW], casting="same_kind")
        fading, showing = (self._room(name, kept.shape, kind) for name in ("fading", "showing"))
        np.multiply(keep, 0.5, out=fading, casting="same_kind")
        slope = 1 - bounded * bounded
        slope *= show
        np.multiply(slope, 0.5, out=showing, casting="same_kind")
        return found_slopes, fading, showing

    def _turned(self, values: Array) -> Array:
        """Return steps in the order of the loop, or back."""
        return values[::-1] if self.cell.backwards else values

    def _room(self, name: str, shape: tuple[int, ...], kind: Any) -> Array:
        """Return a buffer that is kept from one call to the next, and grows."""
        count = int(np.prod(shape))
        known = self._rooms.get(f"all {name}")
        if known is None or known.size < count or known.dtype != kind:
            known = self._rooms[f"all {name}"] = np.empty(count, kind)
        found = self._rooms[name] = known[:count].reshape(shape)
        return found


def _borders(cell: Cell, packing: Packing) -> list[Border]:
    """Return the rows in which sequences begin, by the steps of the loop; gaps are not counted."""
    begin = packing.begin
    if cell.backwards:
        begin = packing.steps - packing.begin - packing.length
    real = packing.length > 0
    if packing.before is not None:
        real &= packing.before == 0
    begin, row = begin[real], packing.row[real]
    if not len(row):
        return []
    order = np.argsort(begin, kind="stable")
    steps, starts = np.unique(begin[order], return_index=True)
    rows = np.split(row[order], starts[1:])
    return [Border(int(step), there) for step, there in zip(steps, rows, strict=True)]
