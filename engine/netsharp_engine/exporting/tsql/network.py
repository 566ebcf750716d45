"""A network as steps that a relational query can take: each gathers values along weighted edges,
then applies functions.

Values carry the number of their unit. A step reads those of the step before and no others, so that
a query that names each step once never computes it twice: values that later steps read are carried
along. Unit 0 is always 1; biases are weights of edges from it. It must not know SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netsharp_engine.exporting.choosing import part_of
from netsharp_engine.exporting.places import cells, centres, kernel_numbers
from netsharp_engine.exporting.refusal import ExportError, refused
from netsharp_engine.geometry import product

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from netsharp_engine.exporting.values import Array
    from netsharp_engine.geometry import Axis
    from netsharp_engine.graph import Graph
    from netsharp_engine.nodes import Node, Parameter

#: How a step gathers: sums of products, the largest, or the centre by a power of summed squares.
SUM, MOST, RESPONSE = "sum", "most", "response"
#: The most rows of a script; edges that carry values are not counted.
MOST_ROWS = 1_000_000
_ONE = 0


class WeightedEdges(NamedTuple):
    """Edges from units to positions of a layer of ``size`` units.

    Their weight is NaN where a value is taken as it is.
    """

    size: int
    sources: Array
    destinations: Array
    weights: Array


class Units(NamedTuple):
    """A layer whose values are known: the number of its first unit, how many it has, the function
    that its sums go through, and for a response normalisation its offset and exponent.
    """

    name: str
    first: int
    size: int
    function: str = "linear"
    offset: float = 0.0
    power: float = 0.0

    @property
    def last(self) -> int:
        """Return the number of its last unit."""
        return self.first + self.size - 1


class Step(NamedTuple):
    """One step: how it gathers, along which edges (destinations are units), and its new layers."""

    kind: str
    sources: Array
    destinations: Array
    weights: Array
    layers: tuple[Units, ...]


class SteppedNetwork(NamedTuple):
    """Inputs in the order of the features, steps, and the layer that answers."""

    inputs: tuple[Units, ...]
    steps: tuple[Step, ...]
    output: Units


def steps_of(
    graph: Graph, tensors: Mapping[str, Array], output: Node, taken: int = 0
) -> SteppedNetwork:
    """Return a network as steps.

    Raises ExportError for an operation that no step has, and for edges that are, with the rows that
    are ``taken``, more than ``MOST_ROWS``. ``tensors`` has the array of each parameter, in its
    shape.
    """
    made = _Stepping(tensors, taken)
    inputs = tuple(made.input(node) for node in graph.inputs)
    for node in part_of(graph, [output], {}).nodes:
        if node.op != "input":
            made.take(node)
    answer = made.units(output)
    return SteppedNetwork(inputs, tuple(_joined(made.layers, made.first, answer)), answer)


class _Layer(NamedTuple):
    """A layer before it has its step."""

    kind: str
    units: Units
    edges: WeightedEdges


class _Stepping:
    """The state of the lowering by node: a layer that has units, or edges that are still to be
    summed.
    """

    def __init__(self, tensors: Mapping[str, Array], taken: int) -> None:
        self._tensors = tensors
        self._known: dict[Node, Units | WeightedEdges] = {}
        self._next, self._count, self._taken = 1, 0, taken
        self.layers: list[_Layer] = []
        #: Units below are those of inputs.
        self.first = 1

    def input(self, node: Node) -> Units:
        """Assign numbers to the units of an input."""
        units = self._numbered(Units(node.name, 0, node.size))
        self._known[node] = units
        self.first = self._next
        return units

    def take(self, node: Node) -> None:
        """Note the units or edges of a node."""
        if node.op not in _ROWS:
            raise refused(node, "nothing of T-SQL is written for it yet.")
        self._known[node] = _ROWS[node.op](self, node)

    def units(self, node: Node) -> Units:
        """Return a node as a layer; sums that have no function yet end here."""
        found = self._known[node]
        if isinstance(found, WeightedEdges):
            found = self.layer(SUM, Units(_shown(node), 0, node.size), found)
            self._known[node] = found
        return found

    def edges(self, node: Node) -> WeightedEdges:
        """Return a node as edges whose sums it is."""
        found = self._known[node]
        if isinstance(found, WeightedEdges):
            return found
        places = np.arange(found.size)
        return WeightedEdges(found.size, found.first + places, places, np.ones(found.size))

    def numbers(self, parameter: Parameter) -> Array:
        """Return the numbers of a parameter, in its shape; ExportError where some are none."""
        found = np.asarray(self._tensors[parameter.name], np.float64).reshape(parameter.shape)
        if not np.isfinite(found).all():
            raise ExportError(
                f"'{parameter.name}' holds numbers that are infinite or no numbers, which SQL "
                "Server has none of: the training diverged. Train again with a lower learning rate."
            )
        return found

    def layer(self, kind: str, units: Units, edges: WeightedEdges) -> Units:
        """Add a layer that gathers along edges."""
        found = self._numbered(units)
        self.layers.append(_Layer(kind, found, edges))
        return found

    def room(self, node: Node, count: int) -> None:
        """Raise ExportError where ``count`` more edges are too many."""
        self._count += count
        if self._count + self._taken > MOST_ROWS:
            also = f", and {self._taken:,} rows of features" if self._taken else ""
            raise ExportError(
                f"'{_shown(node)}' has {count:,} weights of its own, and with those before it the "
                f"network has {self._count:,}{also}: more than the {MOST_ROWS:,} rows that a "
                "script of T-SQL is to hold. Export it with --to onnx, which SQL Server's PREDICT "
                "can read."
            )

    def _numbered(self, units: Units) -> Units:
        found = units._replace(first=self._next)
        self._next += units.size
        return found


def _shown(node: Node) -> str:
    """Return a layer's name, a bundle by those that it joins."""
    if node.name or not node.parameters:
        return node.name or node.op
    return node.parameters[0].name.rpartition("/")[0]


def _full(made: _Stepping, node: Node) -> WeightedEdges:
    source = node.inputs[0]
    made.room(node, source.size * node.size)
    units = made.units(source)
    weights = made.numbers(node.parameters[0])
    destinations, sources = np.indices(weights.shape).reshape(2, -1)
    return WeightedEdges(node.size, units.first + sources, destinations, weights.reshape(-1))


def _filtered(made: _Stepping, node: Node) -> WeightedEdges:
    destinations, sources = (np.asarray(one, np.int64) for one in node.attributes["edges"])
    made.room(node, len(sources))
    units, weights = made.units(node.inputs[0]), made.numbers(node.parameters[0])
    return WeightedEdges(node.size, units.first + sources, destinations, weights.reshape(-1))


def _biased(made: _Stepping, node: Node) -> WeightedEdges:
    before = made.edges(node.inputs[0])
    ones = np.zeros(node.size, np.int64)
    bias = made.numbers(node.parameters[0]).reshape(-1)
    return _together(node, [before, WeightedEdges(node.size, ones, np.arange(node.size), bias)])


def _added(made: _Stepping, node: Node) -> WeightedEdges:
    return _together(node, [made.edges(one) for one in node.inputs])


def _together(node: Node, parts: Sequence[WeightedEdges]) -> WeightedEdges:
    fields = zip(*(part[1:] for part in parts), strict=True)
    return WeightedEdges(node.size, *(np.concatenate(one) for one in fields))


def _convolved(made: _Stepping, node: Node) -> WeightedEdges:
    attributes = node.attributes
    axes: tuple[Axis, ...] = attributes["axes"]
    maps: tuple[int, ...] = attributes["maps"]
    places, taps = _extent(axes)
    made.room(node, places * product(maps) * (taps + 1))
    units, weights = made.units(node.inputs[0]), made.numbers(node.parameters[0])
    seen, kernels = cells(axes), kernel_numbers(axes, attributes["sharing"], maps)
    positions = _positions(axes, maps)
    place, tap = np.nonzero(seen >= 0)
    found = [
        WeightedEdges(
            node.size,
            units.first + seen[place, tap],
            positions[place, one],
            weights[kernels[place, one], tap],
        )
        for one in range(product(maps))
    ]
    ones = np.zeros(node.size, np.int64)
    found.append(
        WeightedEdges(node.size, ones, positions.reshape(-1), weights[kernels.reshape(-1), taps])
    )
    return _together(node, found)


def _positions(axes: Sequence[Axis], maps: Sequence[int]) -> Array:
    """Return where a layer has the value of a place and a map, [places, maps]: along each axis all
    places of a map before those of the next.
    """
    places = np.indices([axis.count for axis in axes]).reshape(len(axes), -1)
    kinds = np.indices(tuple(maps)).reshape(len(axes), -1)
    found = np.zeros((places.shape[1], kinds.shape[1]), np.int64)
    for axis, number, place, kind in zip(axes, maps, places, kinds, strict=True):
        found = found * (number * axis.count) + kind * axis.count + place[:, None]
    return found


def _extent(axes: Sequence[Axis]) -> tuple[int, int]:
    """Return the number of places of a window, and of its cells."""
    counts = tuple(axis.count for axis in axes)
    return product(counts), product(tuple(axis.kernel for axis in axes))


def _seen(made: _Stepping, node: Node) -> tuple[Units, Array, Array, Array]:
    """Return a source, and the cells, places and taps of its windows that are inside."""
    axes = node.attributes["axes"]
    places, taps = _extent(axes)
    made.room(node, places * (taps + 1))
    units, seen = made.units(node.inputs[0]), cells(axes)
    place, tap = np.nonzero(seen >= 0)
    return units, seen, place, tap


def _mean_pooled(made: _Stepping, node: Node) -> WeightedEdges:
    units, seen, place, tap = _seen(made, node)
    shares = 1 / (seen >= 0).sum(1)
    return WeightedEdges(node.size, units.first + seen[place, tap], place, shares[place])


def _most_pooled(made: _Stepping, node: Node) -> Units:
    units, seen, place, tap = _seen(made, node)
    weights = np.full(len(place), np.nan)
    edges = WeightedEdges(node.size, units.first + seen[place, tap], place, weights)
    return made.layer(MOST, Units(_shown(node), 0, node.size), edges)


def _response_normalized(made: _Stepping, node: Node) -> Units:
    """Return x (offset + alpha / N * sum of squares)^-beta, x at the centre of the kernel: this is
    a second edge from there, whose value is taken unchanged.
    """
    attributes = node.attributes
    axes: tuple[Axis, ...] = attributes["axes"]
    units, seen, place, tap = _seen(made, node)
    whole = product(tuple(axis.kernel for axis in axes))
    count = whole if attributes["over_full_kernel"] else (seen >= 0).sum(1)
    shares = np.broadcast_to(float(attributes["alpha"]) / np.asarray(count), (len(seen),))
    squares = WeightedEdges(node.size, units.first + seen[place, tap], place, shares[place])
    as_it_is = np.full(len(seen), np.nan)
    middle = WeightedEdges(node.size, units.first + centres(axes), np.arange(len(seen)), as_it_is)
    shape = Units(
        _shown(node),
        0,
        node.size,
        "linear",
        float(attributes["offset"]),
        -float(attributes["beta"]),
    )
    return made.layer(RESPONSE, shape, _together(node, [squares, middle]))


def _activated(made: _Stepping, node: Node) -> Units:
    edges, function = made.edges(node.inputs[0]), str(node.attributes["function"])
    return made.layer(SUM, Units(_shown(node), 0, node.size, function), edges)


_ROWS: dict[str, Callable[[_Stepping, Node], Any]] = {
    "full": _full,
    "filtered": _filtered,
    "bias": _biased,
    "add": _added,
    "convolve": _convolved,
    "max pool": _most_pooled,
    "mean pool": _mean_pooled,
    "response norm": _response_normalized,
    "activation": _activated,
}


def _joined(layers: Sequence[_Layer], inputs: int, output: Units) -> list[Step]:
    """Return steps of layers, each with the values that it carries: units that a later step reads,
    and unit 0.
    """
    groups: list[list[_Layer]] = []
    for layer in layers:
        last = groups[-1] if groups else []
        apart = not last or last[0].kind != layer.kind
        if apart or int(layer.edges.sources.max()) >= last[0].units.first:
            groups.append([])
        groups[-1].append(layer)
    wanted = np.arange(output.first, output.last + 1)
    steps: list[Step] = []
    for group in reversed(groups):
        first = group[0].units.first
        carried = np.union1d(wanted[wanted < first], [_ONE])
        step = _step(group, carried)
        wanted = np.union1d(step.sources, carried)
        steps.append(step)
    return steps[::-1]


def _step(group: Sequence[_Layer], carried: Array) -> Step:
    kind = group[0].kind
    sources = [one.edges.sources for one in group]
    destinations = [one.units.first + one.edges.destinations for one in group]
    weights = [one.edges.weights for one in group]
    as_it_is = 1.0 if kind == SUM else np.nan
    if kind == SUM:
        # A unit without edges is 0, and not absent.
        for one in group:
            sources.append(np.zeros(one.units.size, np.int64))
            destinations.append(np.arange(one.units.first, one.units.last + 1))
            weights.append(np.zeros(one.units.size))
    found = Step(
        kind,
        np.concatenate([*sources, carried]),
        np.concatenate([*destinations, carried]),
        np.concatenate([*weights, np.full(len(carried), as_it_is)]),
        tuple(one.units for one in group),
    )
    return _summed(found) if kind == SUM else found


def _summed(step: Step) -> Step:
    """Return a step with one edge between two units: two bundles may join the same layers."""
    width = int(step.destinations.max()) + 1
    keys, places = np.unique(step.sources * width + step.destinations, return_inverse=True)
    weights = np.bincount(places, step.weights, len(keys))
    return step._replace(sources=keys // width, destinations=keys % width, weights=weights)
