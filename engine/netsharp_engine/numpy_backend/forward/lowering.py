"""The lowering of a graph to steps of the compiled forward pass: one function for each operation.

A node's values may be in any order; readers get the place of each. It must not know batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.analysis import Analysis
from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Node
from netsharp_engine.numpy_backend.forward import row as steps
from netsharp_engine.numpy_backend.forward.row import (
    ForwardStep,
    Row,
    Values,
    pairs_of,
    runs_of,
    strides,
)
from netsharp_engine.numpy_backend.kernels.arrays import Array, IntArray
from netsharp_engine.numpy_backend.kernels.functions import FUNCTIONS
from netsharp_engine.walks.taps import real_cells
from netsharp_engine.walks.walk import Walk, turned

#: The most packed numbers: this multiple of the weights', or this number where that is larger.
MOST_WASTE, SMALL = 8, 1 << 20
#: What a run of a product, and a product, cost beside their terms, in terms.
RUN_COST, PRODUCT_COST = 2, 8
#: The exponents that roots give, in quarters.
QUARTERS = {0.5: 2, 0.75: 3}


class NoStepError(Exception):
    """A graph that the compiled steps cannot compute."""


class Held(NamedTuple):
    """The values of a node: the place of each in canonical order, all places from ``begin`` on
    together; ``products`` are the steps that wrote them last, where these are products.
    """

    at: IntArray
    begin: int
    products: tuple[ForwardStep, ...] = ()


class EvenWalk(NamedTuple):
    """A walk over values that lie evenly: where cell 0 is, and the step on by dimension."""

    origin: int
    steps: list[int]

    def places(self, offsets: Sequence[IntArray], order: Sequence[int]) -> IntArray:
        """Return the places, flat, of all combinations of cells, dimensions in an order."""
        found = np.zeros(1, np.int64)
        for d in order:
            found = np.add.outer(found, np.asarray(offsets[d], np.int64) * self.steps[d]).ravel()
        return found


def lowered(facts: Analysis, dtype: np.dtype[Any]) -> Row:
    """Return the steps of a graph; NoStepError where they do not know one of its operations."""
    return _Lowering(facts, dtype).row


class _Lowering:
    """One graph on its way."""

    def __init__(self, facts: Analysis, dtype: np.dtype[Any]) -> None:
        self.facts = facts
        self.row = Row(dtype, facts.graph.features)
        self.held: dict[Node, Held] = {}
        table = self._table()
        begin = 0
        for node in facts.graph.inputs:
            self.held[node] = Held(np.arange(begin, begin + node.size), begin)
            begin += node.size
        for node in facts.nodes:
            if node.op != "input" and not self._waits(node):
                if node.op not in table:
                    raise NoStepError
                self.held[node] = table[node.op](node)
        self._finish(facts.output)

    def _table(self) -> dict[str, Callable[[Node], Held]]:
        return {
            "full": self.full,
            "filtered": self.filtered,
            "convolve": self.convolve,
            "max pool": partial(self.pool, means=False),
            "mean pool": partial(self.pool, means=True),
            "response norm": self.norm,
            "bias": self.bias,
            "add": self.add,
            "activation": self.activation,
        }

    def _finish(self, output: Node) -> None:
        held, row = self.held[output], self.row
        if (held.at != np.arange(held.begin, held.begin + output.size)).any():
            held = self._gathered(held.at, np.arange(output.size), output.size, steps.NOTHING)
        row.output, row.outputs = held.begin, output.size
        weights = sum(parameter.size for parameter in self.facts.graph.parameters)
        if row.numbers > max(SMALL, MOST_WASTE * weights):
            raise NoStepError

    def _waits(self, node: Node) -> bool:
        """Return whether a full bundle is an addend of a sum, from which it continues."""
        users = self.facts.users[node]
        return node.op == "full" and len(users) == 1 and users[0].op == "add" and self._alone(node)

    def _alone(self, node: Node) -> bool:
        """Return whether only its one user needs the values of a node."""
        return self.facts.uses[node] == 1 and node.op != "input" and node is not self.facts.output

    # Products

    def _multiply(
        self,
        source: int,
        places: IntArray,
        offsets: IntArray,
        out: int,
        rows: int,
        made: steps.Made,
        mode: int = steps.ALONE,
    ) -> ForwardStep:
        """Return the step of a product with a matrix [rows, offsets], columns by rising offsets."""
        runs = runs_of(offsets)
        step = self.row.add(ForwardStep(steps.MULTIPLY, mode, source, out, rows))
        step.places(self.row.table(places), len(places))
        step.runs(self.row.table(runs), len(runs))
        step.numbers(len(offsets), self.row.panels(rows, len(offsets), made))
        return step

    def full(self, node: Node, out: int | None = None, order: IntArray | None = None) -> Held:
        """Return a bundle of every node from every one: ``order`` is that of rows in memory where
        they are added to those at ``out``.
        """
        places = self.held[node.inputs[0]].at
        sorting = np.argsort(places)
        shape = (node.size, node.inputs[0].size)
        columns = None if (np.diff(sorting) == 1).all() else sorting
        made = partial(_matrix, node.parameters[0].name, shape, order, columns)
        mode = steps.ALONE if out is None else steps.ADDED
        begin = self.row.place(node.size) if out is None else out
        step = self._multiply(
            0, np.zeros(1, np.int64), places[sorting], begin, node.size, made, mode
        )
        return Held(np.arange(begin, begin + node.size), begin, (step,))

    def filtered(self, node: Node) -> Held:
        """Return a filtered bundle: a product for equal sources, or for all where that is less
        work.
        """
        destinations, sources = (np.asarray(each, np.int64) for each in node.attributes["edges"])
        places, name = self.held[node.inputs[0]].at, node.parameters[0].name
        bounds = np.searchsorted(destinations, np.arange(node.size + 1))
        groups: dict[bytes, list[int]] = {}
        for d in range(node.size):
            groups.setdefault(sources[bounds[d] : bounds[d + 1]].tobytes(), []).append(d)
        parts = [(np.array(each), np.frombuffer(key, np.int64)) for key, each in groups.items()]
        begin = self.row.place(node.size)
        lanes, size = self.row.lanes, node.inputs[0].size
        whole = -(-node.size // lanes) * (size + RUN_COST) + PRODUCT_COST
        if whole <= sum(_cost(len(rows), places[seen], lanes) for rows, seen in parts):
            sorting = np.argsort(places)
            made = partial(_spread, name, (node.size, size), (destinations, sources), sorting)
            zero = np.zeros(1, np.int64)
            step = self._multiply(0, zero, places[sorting], begin, node.size, made)
            return Held(np.arange(begin, begin + node.size), begin, (step,))
        at, written, done = np.empty(node.size, np.int64), [], 0
        for rows, seen in parts:
            sorting = np.argsort(places[seen])
            edges = bounds[rows][:, None] + sorting
            made = partial(_edges, name, edges)
            found = places[seen][sorting]
            written.append(
                self._multiply(0, np.zeros(1, np.int64), found, begin + done, len(rows), made)
            )
            at[rows] = begin + done + np.arange(len(rows))
            done += len(rows)
        return Held(at, begin, tuple(written))

    def convolve(self, node: Node) -> Held:
        """Return a convolution: kernels at all places, a product of many rows where they share."""
        attributes = node.attributes
        walk = Walk(tuple(attributes["axes"]), tuple(attributes["sharing"]), attributes["maps"])
        axes, everything = walk.axes, range(len(walk.axes))
        inner = [d for d in everything if axes[d].count == 1]
        windows = self._windows(node.inputs[0], axes, steps.NOTHING, inner)
        shared = [d for d in everything if d not in walk.groups]
        positions = [np.arange(axis.count) for axis in axes]
        starts = [positions[d] * axes[d].stride for d in everything]
        taps = windows.places([np.arange(axis.kernel) for axis in axes], everything)
        sorting = np.argsort(taps)
        places = windows.places(starts, shared)
        first = windows.origin + sum(windows.steps[d] * axes[d].first for d in everything)
        maps, cells, kernels = walk.map_count, len(taps), walk.group_count * walk.map_count
        chosen = _kernels(walk, kernels)
        begin = self.row.place(node.size)
        for number, group in enumerate(windows.places(starts, walk.groups).tolist()):
            made = partial(_matrix, node.parameters[0].name, (kernels, cells + 1), chosen[number])
            out = begin + number * len(places) * maps
            weights = partial(_taps, made, sorting)
            step = self._multiply(first + group, places, taps[sorting], out, maps, weights)
            step.more(self.row.vector(maps, partial(_biases, made)))
        return Held(begin + _canonical(walk, len(places)), begin)

    # Windows

    def _windows(
        self, node: Node, axes: Sequence[Axis], mode: int, inner: Sequence[int]
    ) -> EvenWalk:
        """Return the walk over a node's values: as they lie, or with the pads around them that
        ``mode`` says, the dimensions ``inner`` innermost.
        """
        shape = [axis.size for axis in axes]
        held = self.held[node]
        seen = _steps_of(held.at, shape)
        before = [max(0, -axis.first) for axis in axes]
        after = [max(0, axis.first + axis.covered - axis.size) for axis in axes]
        if seen is not None and mode != steps.SQUARED and not any(before) and not any(after):
            return EvenWalk(int(held.at[0]), seen)
        order = sorted(range(len(axes)), key=lambda d: (d in inner, -seen[d] if seen else d))
        extents = [sum(each) for each in zip(before, shape, after, strict=True)]
        own = strides(extents, order)
        targets = np.zeros(1, np.int64)
        for d, size in enumerate(shape):
            targets = np.add.outer(targets, (np.arange(size) + before[d]) * own[d]).ravel()
        begin = self._gathered(held.at, targets, prod(extents), mode).begin
        return EvenWalk(begin + sum(b * step for b, step in zip(before, own, strict=True)), own)

    def _gathered(self, sources: IntArray, targets: IntArray, count: int, mode: int) -> Held:
        """Return numbers moved to other places of an area of ``count`` numbers."""
        begin = self.row.place(count)
        step = self.row.add(ForwardStep(steps.GATHER, mode, 0, begin, count))
        runs = pairs_of(sources, targets)
        step.runs(self.row.table(runs), len(runs))
        return Held(begin + targets, begin)

    def _walked(
        self, step: ForwardStep, axes: Sequence[Axis], windows: EvenWalk, order: list[int]
    ) -> IntArray:
        """Give a step the distances of cells and return the first cell of each place."""
        everything = range(len(axes))
        taps = windows.places([np.arange(axis.kernel) for axis in axes], everything)
        step.runs(self.row.table(taps), len(taps))
        firsts = [axis.first + np.arange(axis.count) * axis.stride for axis in axes]
        return windows.origin + windows.places(firsts, order)

    def _made(self, axes: Sequence[Axis], order: list[int], begin: int) -> Held:
        """Return the places of the windows' results, in an order of dimensions."""
        counts = [axis.count for axis in axes]
        steps_ = EvenWalk(begin, strides(counts, order))
        at = begin + steps_.places([np.arange(count) for count in counts], range(len(axes)))
        return Held(at, begin)

    def pool(self, node: Node, means: bool) -> Held:
        """Return the largest or the mean of each window."""
        axes: tuple[Axis, ...] = node.attributes["axes"]
        mode = steps.NOTHING if means else steps.LOWEST
        windows = self._windows(node.inputs[0], axes, mode, [])
        order = sorted(range(len(axes)), key=lambda d: -windows.steps[d])
        single = [axis.kernel == axis.stride == 1 for axis in axes]
        side = _side(axes, windows.steps, order, single)
        begin = self.row.place(node.size)
        kind = steps.MEAN if means else steps.LARGEST
        step = self.row.add(ForwardStep(steps.POOL, kind, 0, begin, side))
        places = self._walked(step, axes, windows, order)[::side]
        step.places(self.row.table(places), len(places))
        if means:
            shares = (1.0 / _counts(axes, order)[::side]).astype(self.row.dtype)
            step.numbers(0, self.row.vector(len(shares), lambda values: shares))
        return self._made(axes, order, begin)

    def norm(self, node: Node) -> Held:
        """Return every value normalised by the squares around it."""
        attributes, source = node.attributes, node.inputs[0]
        axes: tuple[Axis, ...] = attributes["axes"]
        quarters = QUARTERS.get(float(attributes["beta"]))
        if quarters is None:
            raise NoStepError
        if _steps_of(self.held[source].at, [axis.size for axis in axes]) is None:
            places = np.arange(source.size)
            self.held[source] = self._gathered(
                self.held[source].at, places, source.size, steps.NOTHING
            )
        own = _steps_of(self.held[source].at, [axis.size for axis in axes])
        assert own is not None
        squares = self._windows(source, axes, steps.SQUARED, [])
        order = sorted(range(len(axes)), key=lambda d: -own[d])
        plain = [
            axis.stride == 1 and axis.count == axis.size and own[d] == squares.steps[d]
            for d, axis in enumerate(axes)
        ]
        side = _side(axes, own, order, plain)
        begin = self.row.place(node.size)
        step = self.row.add(ForwardStep(steps.NORM, quarters, 0, begin, side))
        places = self._walked(step, axes, squares, order)[::side]
        centres = [axis.centre(0) + np.arange(axis.count) * axis.stride for axis in axes]
        middles = EvenWalk(0, own).places(centres, order)[::side] + int(self.held[source].at[0])
        step.places(self.row.table(np.stack([places, middles], axis=1)), len(places))
        factors = _factors(node, _counts(axes, order), self.row.dtype)
        even = (factors.reshape(-1, side) == factors[:side]).all()
        kept = factors[:side] if even else factors
        step.numbers(0 if even else side, self.row.vector(len(kept), lambda values: kept))
        offset = np.full(1, attributes["offset"], self.row.dtype)
        step.more(self.row.vector(1, lambda values: offset))
        return self._made(axes, order, begin)

    # Element-wise operations

    def _own(self, node: Node) -> Held:
        """Return the values of a source, in place where no other node reads them, else a copy."""
        held = self.held[node]
        if self._alone(node):
            return held
        begin = self.row.place(node.size)
        self.row.add(
            ForwardStep(steps.APPLY, FUNCTIONS.index("linear"), held.begin, begin, node.size)
        )
        return Held(held.at - held.begin + begin, begin)

    def bias(self, node: Node) -> Held:
        """Return biases added, within the products before them where no other node reads those."""
        source = node.inputs[0]
        held = self.held[source]
        order = np.argsort(held.at)
        name = node.parameters[0].name
        if (
            self._alone(source)
            and held.products
            and all(step.is_product_of_one_place for step in held.products)
        ):
            for step in held.products:
                low = step.words[3] - held.begin
                chosen = order[low : low + step.words[4]]
                step.more(self.row.vector(len(chosen), partial(_chosen, name, chosen)))
            return Held(held.at, held.begin)
        held = self._own(source)
        step = self.row.add(ForwardStep(steps.ADD, 0, 0, held.begin, node.size))
        step.more(self.row.vector(node.size, partial(_chosen, name, order)))
        return Held(held.at, held.begin)

    def add(self, node: Node) -> Held:
        """Return the sum of the sources, to which full bundles add their products."""
        waiting = [source for source in node.inputs if self._waits(source)]
        others = [source for source in node.inputs if not self._waits(source)]
        held = self._own(others.pop(0)) if others else self.full(waiting.pop(0))
        for source in others:
            theirs = self.held[source]
            if (theirs.at - theirs.begin != held.at - held.begin).any():
                theirs = self._gathered(theirs.at, held.at - held.begin, node.size, steps.NOTHING)
            self.row.add(ForwardStep(steps.ADD, 0, theirs.begin, held.begin, node.size))
            held = Held(held.at, held.begin)
        for source in waiting:
            held = Held(
                held.at, held.begin, self.full(source, held.begin, np.argsort(held.at)).products
            )
        return held

    def activation(self, node: Node) -> Held:
        """Return a function of each number; of softmax, of all numbers together."""
        source, function = node.inputs[0], node.attributes["function"]
        if function not in FUNCTIONS:
            raise NoStepError
        held = self.held[source]
        begin = held.begin if self._alone(source) else self.row.place(node.size)
        if function != "linear" or begin != held.begin:
            number = FUNCTIONS.index(function)
            self.row.add(ForwardStep(steps.APPLY, number, held.begin, begin, node.size))
        return Held(held.at - held.begin + begin, begin)


def _cost(rows: int, places: IntArray, lanes: int) -> int:
    """Return the cost of a product with ``rows`` rows, in multiply-adds of a vector."""
    runs = len(runs_of(np.sort(places))) if len(places) else 0
    return -(-rows // lanes) * (len(places) + RUN_COST * runs) + PRODUCT_COST


def _side(
    axes: Sequence[Axis], own: Sequence[int], order: Sequence[int], plain: Sequence[bool]
) -> int:
    """Return the number of adjacent places."""
    side, rest = 1, list(order)
    while rest and (axes[rest[-1]].count == 1 or (plain[rest[-1]] and own[rest[-1]] == side)):
        side *= axes[rest.pop()].count
    return side


def _steps_of(at: IntArray, shape: Sequence[int]) -> list[int] | None:
    """Return the stride of each dimension, None where it varies."""
    found, rest = [], strides(shape, range(len(shape)))
    even = np.full(1, at[0])
    for size, step in zip(shape, rest, strict=True):
        own = int(at[step] - at[0]) if size > 1 else 0
        found.append(own)
        even = np.add.outer(even, np.arange(size) * own).ravel()
    return found if (even == at).all() and min(found) >= 0 else None


def _counts(axes: Sequence[Axis], order: Sequence[int]) -> Array:
    """Return the number of real cells under each place, float64, in an order of dimensions."""
    cells, found = real_cells(axes), np.ones(1)
    for d in order:
        found = np.multiply.outer(found, np.asarray(cells[d], np.float64)).ravel()
    return found


def _factors(node: Node, counts: Array, dtype: np.dtype[Any]) -> Array:
    """Return the factor of the sum of squares of each place."""
    alpha = float(node.attributes["alpha"])
    if node.attributes["over_full_kernel"]:
        whole = prod(axis.kernel for axis in node.attributes["axes"])
        return np.full(len(counts), alpha / whole, dtype)
    found: Array = (1.0 / counts).astype(dtype) * dtype.type(alpha)
    return found


def _kernels(walk: Walk, count: int) -> IntArray:
    """Return the number of each group's kernels [groups, maps]."""
    radix: list[int] = []
    for d, axis in enumerate(walk.axes):
        radix += [walk.maps[d], 1 if walk.sharing[d] else axis.count]
    rank = len(walk.axes)
    outer = [2 * d + 1 for d in walk.groups] + [2 * d for d in range(rank)]
    outer += [2 * d + 1 for d in range(rank) if d not in walk.groups]
    numbers = np.arange(count)
    return turned(numbers, radix, outer).reshape(walk.group_count, walk.map_count)


def _canonical(walk: Walk, places: int) -> IntArray:
    """Return the place of each node among [groups, places, maps]."""
    axes, everything = walk.axes, range(len(walk.axes))
    shared = [d for d in everything if d not in walk.groups]
    maps = strides(walk.maps, everything)
    counts = [axis.count for axis in axes]
    own = strides([counts[d] for d in shared], range(len(shared)))
    step = {d: own[n] * walk.map_count for n, d in enumerate(shared)}
    outer = strides([counts[d] for d in walk.groups], range(len(walk.groups)))
    step |= {d: outer[n] * walk.map_count * places for n, d in enumerate(walk.groups)}
    found = np.zeros(1, np.int64)
    for d in everything:
        number, position = np.divmod(np.arange(walk.maps[d] * counts[d]), counts[d])
        found = np.add.outer(found, number * maps[d] + position * step[d]).ravel()
    return found


# Weights


def _matrix(
    name: str,
    shape: tuple[int, int],
    rows: IntArray | None,
    columns: IntArray | None,
    values: Values,
) -> Array:
    found = np.asarray(values[name]).reshape(shape)
    if rows is not None:
        found = found[rows]
    return found if columns is None else found[:, columns]


def _taps(made: Callable[..., Array], columns: IntArray, values: Values) -> Array:
    return made(None, values)[:, columns]


def _biases(made: Callable[..., Array], values: Values) -> Array:
    return made(None, values)[:, -1]


def _chosen(name: str, order: IntArray, values: Values) -> Array:
    found: Array = np.asarray(values[name]).ravel()[order]
    return found


def _edges(name: str, edges: IntArray, values: Values) -> Array:
    found: Array = np.asarray(values[name]).ravel()[edges]
    return found


def _spread(
    name: str,
    shape: tuple[int, int],
    edges: tuple[IntArray, IntArray],
    columns: IntArray,
    values: Values,
) -> Array:
    found = np.zeros(shape, np.asarray(values[name]).dtype)
    found[edges] = np.asarray(values[name]).ravel()
    return found[:, columns]
