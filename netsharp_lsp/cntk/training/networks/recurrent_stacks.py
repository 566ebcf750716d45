"""A stack of recurrent layers in one node, decomposed into products, gates and delays.

Its weights are one matrix in cuDNN's layout: layer after layer, in each its directions (forwards
first) with the weights of the input and those of the previous state, every gate row by row; after
all of them the biases, two for each gate. Sizes are counts of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.graph import Graph
from netsharp_engine.ops.tensors.shaping import DELAYS

if TYPE_CHECKING:
    from typing import Any

    from netsharp_engine import nodes as engine
    from netsharp_lsp.cntk.networks.node import Node

STACK = "OptimizedRNNStack"
#: Where cuDNN's gates stand in the order in which a cell is computed, by the word for the cell.
#: lstm: what is let in, what would be, what is kept, what is shown; gru: what is reset, what is
#: kept, what would be.
_ORDERS: dict[str, tuple[int, ...]] = {
    "lstm": (0, 2, 1, 3),
    "gru": (0, 1, 2),
    "rnnReLU": (0,),
    "rnnTanh": (0,),
}


def why_not_taken_apart(node: Node) -> str:
    """Return why such a node is not computed, to follow its name; empty where it is."""
    if node.text("recurrentOp", "lstm") not in _ORDERS:
        kinds = ", ".join(_ORDERS)
        return f"has the recurrentOp '{node.text('recurrentOp')}', which is not one of {kinds}."
    if node.integer("axis", -1) != -1:
        return "recurs along an axis of each sample, which is not supported; sequences are."
    if node.inputs[0].axis is not None:
        return "has weights along a dynamic axis, which is not supported."
    return ""


def taken_apart(
    graph: Graph, node: Node, origin: object, weights: engine.Node, source: engine.Node
) -> engine.Node:
    """Add the parts of a stack to a graph, all with one origin, and return the last, which is the
    stack's value and has its name.
    """
    stack = _Stack(graph, node, origin, weights)
    places = stack.places(source.size)
    value = source
    for number, layer in enumerate(places, 1):
        name = node.name if number == len(places) else f"{node.name}.layer{number}"
        if len(layer) == 1:
            value = stack.way(value, layer[0], name)
        else:
            both = [stack.way(value, one, f"{name}.{one.delay}") for one in layer]
            value = stack.apply("RowStack", *both, axis=1, name=name)
    return value


class _Place(NamedTuple):
    """The offsets of the numbers of one direction of a layer, which reads values of this width."""

    delay: str
    width: int
    inputs: int
    before: int
    biases: int


class _Way(NamedTuple):
    """The parts of a cell: products of inputs with their weights, both biases, the weights of its
    previous outputs, and their delay.
    """

    inputs: engine.Node
    biases: tuple[engine.Node, engine.Node]
    weights: engine.Node
    delay: str
    name: str


class _Stack:
    """The parts shared by all layers and directions of one node."""

    def __init__(self, graph: Graph, node: Node, origin: object, weights: engine.Node) -> None:
        self._graph, self._name, self._hidden = graph, node.name, node.integer("hiddenDims")
        self._origin = origin
        self._layers = node.integer("numLayers", 1)
        self._delays = DELAYS if node.truth("bidirectional") else DELAYS[:1]
        self._kind = node.text("recurrentOp", "lstm")
        self._order = _ORDERS[self._kind]
        self._all = self.apply("Reshape", weights, shape=(weights.size,))

    def apply(
        self, op: str, *sources: engine.Node, name: str = "", **attributes: Any
    ) -> engine.Node:
        """Add one of the parts."""
        name = name or f"{self._name}.{op}"
        return self._graph.apply(op, *sources, name=name, origin=self._origin, **attributes)

    def places(self, width: int) -> list[list[_Place]]:
        """Return the offsets of all layers and directions; `width` is that of the first layer's
        input.
        """
        hidden, ways = self._hidden, len(self._delays)
        rows = len(self._order) * hidden
        widths = [width] + [ways * hidden] * (self._layers - 1)
        biases = sum(ways * rows * (one + hidden) for one in widths)
        found: list[list[_Place]] = []
        at = 0
        for one in widths:
            found.append([])
            for delay in self._delays:
                found[-1].append(_Place(delay, one, at, at + rows * one, biases))
                at += rows * (one + hidden)
                biases += 2 * rows
        return found

    def way(self, source: engine.Node, place: _Place, name: str) -> engine.Node:
        """Return the outputs of one direction of a layer."""
        inputs = self.apply("Times", self._matrix(place.inputs, place.width), source)
        second = place.biases + len(self._order) * self._hidden
        biases = self._rows(place.biases, 1), self._rows(second, 1)
        weights = self._matrix(place.before, self._hidden)
        return _CELLS[self._kind](self, _Way(inputs, biases, weights, place.delay, name))

    def lstm(self, way: _Way) -> engine.Node:
        """Return a cell of long short-term memory."""
        state_before = self._delayed(way, "state")
        let_in, new, keep, show = self._gates(self._summed(way, before := self._delayed(way)))
        kept = self._times(self.apply("Sigmoid", keep), state_before)
        added = self._times(self.apply("Sigmoid", let_in), self.apply("Tanh", new))
        state = self._plus(kept, added)
        found = self._times(self.apply("Sigmoid", show), self.apply("Tanh", state), way.name)
        self._graph.connect(state_before, state)
        self._graph.connect(before, found)
        return found

    def gru(self, way: _Way) -> engine.Node:
        """Return a cell with a reset and an update gate; the second bias is reset, too."""
        before = self._delayed(way)
        product = self.apply("Times", way.weights, before)
        first = self._gates(self._plus(way.inputs, way.biases[0]))
        second = self._gates(self._plus(product, way.biases[1]))
        reset, keep = (
            self.apply("Sigmoid", self._plus(one, other))
            for one, other in zip(first[:2], second[:2], strict=True)
        )
        new = self.apply("Tanh", self._plus(first[2], self._times(reset, second[2])))
        change = self._times(keep, self.apply("Minus", before, new))
        found = self._plus(new, change, way.name)
        self._graph.connect(before, found)
        return found

    def plain(self, way: _Way) -> engine.Node:
        """Return one product, and a function of it."""
        function = "Tanh" if self._kind == "rnnTanh" else "RectifiedLinear"
        before = self._delayed(way)
        found = self.apply(function, self._summed(way, before), name=way.name)
        self._graph.connect(before, found)
        return found

    def _summed(self, way: _Way, before: engine.Node) -> engine.Node:
        """Return the input of all gates; what does not depend on an earlier step is computed for
        all steps.
        """
        outside = self._plus(way.inputs, self._plus(*way.biases))
        return self._plus(outside, self.apply("Times", way.weights, before))

    def _matrix(self, begin: int, width: int) -> engine.Node:
        """Return the weights of all gates in the order of the cell, [width, gates]."""
        rows = len(self._order) * self._hidden
        shaped = self.apply("Reshape", self._rows(begin, width), shape=(rows, width))
        return self.apply("TransposeDimensions", shaped, axis1=1, axis2=2)

    def _rows(self, begin: int, width: int) -> engine.Node:
        """Return the numbers of all gates, `width` for each row, in the order of the cell."""
        size = self._hidden * width
        parts = [self._sliced(self._all, begin + at * size, size) for at in self._order]
        return parts[0] if len(parts) == 1 else self.apply("RowStack", *parts, axis=1)

    def _sliced(self, source: engine.Node, begin: int, size: int) -> engine.Node:
        """Return `size` elements of a vector."""
        return self.apply("Slice", source, axis=1, beginIndex=begin, endIndex=begin + size)

    def _gates(self, source: engine.Node) -> Sequence[engine.Node]:
        """Return the parts of a vector of all gates."""
        size = self._hidden
        return [self._sliced(source, at * size, size) for at in range(len(self._order))]

    def _delayed(self, way: _Way, what: str = "outputs") -> engine.Node:
        name = f"{way.name}.{what}"
        return self._graph.delay(
            way.delay, (self._hidden,), name=name, origin=self._origin, timeStep=1, initial=0.0
        )

    def _plus(self, one: engine.Node, other: engine.Node, name: str = "") -> engine.Node:
        return self.apply("Plus", one, other, name=name)

    def _times(self, one: engine.Node, other: engine.Node, name: str = "") -> engine.Node:
        return self.apply("ElementTimes", one, other, name=name)


_CELLS: dict[str, Callable[[_Stack, _Way], engine.Node]] = {
    "lstm": _Stack.lstm,
    "gru": _Stack.gru,
    "rnnReLU": _Stack.plain,
    "rnnTanh": _Stack.plain,
}
