"""A trained graph of tensors, as networks of CNTK are, as layers.

Constants are computed, batch normalisations and element-wise numbers are multiplied into the
weights before or after them, dropout is removed, and sums stay sums until an operator reads them.
Knows no integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netsharp_compile.bundles import ReadValues, WindowAxis
from netsharp_compile.importing import elements
from netsharp_compile.importing.ends import PASSING, SOFTMAXES, last_node
from netsharp_compile.importing.names import layer_names
from netsharp_compile.importing.sums import LinearSums, PooledSums, products_of, sums_of
from netsharp_compile.importing.views import ElementView
from netsharp_compile.importing.windows import convolved, kernels_of, pool_axes, pooled
from netsharp_compile.layers import SOFTMAX, SummedLayer, WeightedBundle, numbers_of
from netsharp_compile.refusal import refused
from netsharp_engine.ops.tensors import ENVIRONMENT, HELD
from netsharp_engine.ops.tensors.images import POOLING
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_engine.tensor_backend.kernels.table import TABLE

if TYPE_CHECKING:
    from netsharp_compile.bundles import Places, PooledBundle
    from netsharp_compile.layers import Tensors
    from netsharp_compile.operators import Array
    from netsharp_engine.graph import Graph
    from netsharp_engine.nodes import Node

    #: The meaning of a node: numbers of its shape, values of layers, or sums without an operator.
    Known: TypeAlias = Array | ElementView | LinearSums | PooledSums

#: Operations that only arrange elements.
_ARRANGING = (
    *("Reshape", "LegacyReshape", "Slice", "RowStack", "TransposeDimensions", "RowRepeat"),
    *("Diagonal", "Crop"),
)
#: Operators by operation, those that never fall first.
_RISING = {"Sigmoid": "sigmoid", "Tanh": "tanh", "RectifiedLinear": "rlinear", "Sqrt": "sqrt"}
_OPERATORS = {**_RISING, "Abs": "abs"}
#: Operations that are linear in what they read beside constants.
_LINEAR = ("Times", "TransposeTimes", "Convolution", "SumColumnElements")
#: The most numbers of a linear operation's matrix: 128 MiB of float64.
_MOST = 1 << 24


def tensor_layers(graph: Graph, tensors: Tensors) -> list[SummedLayer]:
    """Return the layers of a graph of tensors, the last of which answers.

    Raises CompileError for a node that has no form as a layer, with its name and the reason, and
    for numbers that are not finite.
    """
    walk = _Walk(graph, tensors)
    names = layer_names(walk.ends, [node.name for node in graph.nodes])
    return [
        one._replace(name=name, node=end.name)
        for one, name, end in zip(walk.layers, names, walk.ends, strict=True)
    ]


class _Walk:
    """One walk over a graph."""

    def __init__(self, graph: Graph, tensors: Tensors) -> None:
        self._tensors = tensors
        self._known: dict[Node, Known] = {}
        self.layers: list[SummedLayer] = []
        #: The node that each of them ends in.
        self.ends: list[Node] = []
        first = 0
        for node in graph.inputs:
            self._known[node] = ElementView.of(ReadValues(0, first, node.size))
            first += node.size
        output = graph.output
        assert output is not None
        needed = _needed(output)
        self._readers: dict[Node, int] = {}
        for node in needed:
            for one in node.inputs:
                self._readers[one] = self._readers.get(one, 0) + 1
        for node in graph.nodes:
            if node in needed and node.op in (*DELAYS, *COLUMNS):
                raise refused(node, _OVER_TIME)
        for node in graph.nodes:
            if node in needed and node not in self._known and node is not output:
                self._known[node] = self._shared(node, self._read(node))
        self._finish(output)

    def _finish(self, output: Node) -> None:
        """Let the last layer answer: its values are the output's, element by element."""
        if output.op == "Softmax":
            source = last_node(output)
            self._added(source, self._as_sums(source, source), SOFTMAX)
            return
        found = self._read(output)
        if isinstance(found, ElementView) and self.layers and found.is_plain:
            last = ReadValues(len(self.layers), 0, output.size)
            if found.source == last and len(self.layers[-1].biases) == output.size:
                return
        self._known[output] = found
        self._added(output, self._as_sums(output, output), "linear")

    def _shared(self, node: Node, found: Known) -> Known:
        """Return values of a layer in place of sums that several nodes read, so that they are
        computed once.
        """
        if isinstance(found, LinearSums | PooledSums) and self._readers[node] > 1:
            return self._values(node, found)
        return found

    def _read(self, node: Node) -> Known:
        """Return the meaning of a node: numbers, values of layers, or sums."""
        if node.op in HELD:
            return self._numbers(node)
        if node.op == ENVIRONMENT:
            return np.zeros(node.shape)
        given = [self._known[one] for one in node.inputs]
        if node.op == "BatchNormalization":
            return self._element_wise(node, given)
        if all(isinstance(one, np.ndarray) for one in given) and node.op in TABLE:
            return _computed(node, [one for one in given if isinstance(one, np.ndarray)])
        if node.op in PASSING:
            return given[0]
        if node.op in SOFTMAXES:
            return self._softmax(node, given[0])
        if node.op in _OPERATORS:
            return self._operated(node, given[0], _OPERATORS[node.op])
        if node.op in _ARRANGING:
            return self._arranged(node, given)
        if node.op in POOLING:
            largest = node.attributes["pool"] == "max"
            return self._pooled(node, given[0], pool_axes(node), largest=largest)
        if node.op == "ReduceElements":
            return self._reduced(node, given[0])
        if node.op in elements.NAMES:
            return self._element_wise(node, given)
        if node.op in _LINEAR:
            return self._linear(node, given)
        raise refused(node, _REASONS.get(node.op, f"{node.op} has no form in integers here."))

    def _softmax(self, node: Node, given: Known) -> Known:
        """Return the source of a LogSoftmax that a softmax at the end takes back; CompileError
        within a network.
        """
        if node.op == "LogSoftmax" and self._readers[node] == 1:
            return given
        raise refused(node, "a softmax within a network looks at all nodes at once.")

    def _operated(self, node: Node, given: Known, function: str) -> ElementView:
        """Return an operator's values; a rising one goes before a pool of largest sums, which gives
        the same.
        """
        if isinstance(given, PooledSums) and function in (*_RISING.values(), "brlinear"):
            source = self._added(node, given.sums, function)
            return self._largest(node, source, given.axes)
        if isinstance(given, PooledSums):
            given = self._values(node, given)
        return ElementView.of(self._added(node, self._as_sums_of(node, given), function))

    def _arranged(self, node: Node, given: list[Known]) -> Known:
        """Return elements in another order; sums whose order does not change stay sums."""
        first = given[0]
        sizes = [source.size for source in node.inputs]
        order = _order(node, sizes)
        is_as_before = len(given) == 1 and np.array_equal(order, np.arange(sizes[0]))
        if is_as_before and isinstance(first, LinearSums):
            return first
        views = [
            ElementView.constant(one) if isinstance(one, np.ndarray) else self._view(source, one)
            for source, one in zip(node.inputs, given, strict=True)
        ]
        found = ElementView.joined(views).chosen(order)
        return found.offsets.reshape(node.shape) if found.is_constant else found

    def _pooled(
        self, node: Node, given: Known, axes: tuple[WindowAxis, ...], *, largest: bool
    ) -> Known:
        if largest and isinstance(given, LinearSums):
            return PooledSums(given, axes)
        view = self._view(node.inputs[0], given)
        if not largest and node.attributes.get("include_pads", False):
            return self._windowed(node, view, axes, 1 / _taps(axes))
        found = pooled(view, axes, largest=largest)
        if found is None:
            view = self._plain(node.inputs[0], view)
            found = pooled(view, axes, largest=largest)
        assert found is not None
        bundle, factors, offsets = found
        made = ElementView.of(self._pool(node, bundle))
        return made.scaled(factors, offsets)

    def _windowed(
        self, node: Node, view: ElementView, axes: tuple[WindowAxis, ...], weight: float
    ) -> LinearSums:
        """Return the sums of windows, each value times a weight."""
        each = np.full((1, _taps(axes)), weight)
        shared, alone = (True,) * len(axes), (1,) * len(axes)
        found = convolved(view, axes, each, shared, alone)
        if found is None:
            view = self._plain(node.inputs[0], view)
            found = convolved(view, axes, each, shared, alone)
        assert found is not None
        return found

    def _reduced(self, node: Node, given: Known) -> Known:
        """Return the reduction of elements along an axis, or of all, as a pool with one window."""
        kind, axis = node.attributes["reductionOp"], int(node.attributes["axis"])
        shape = node.inputs[0].shape
        if kind not in ("Sum", "Plus", "Mean", "Max"):
            raise refused(node, f"the reduction '{kind}' has no form in integers here.")
        axes = tuple(
            WindowAxis(size, size, 1, 0, 1)
            if axis in (0, rank)
            else WindowAxis(size, 1, 1, 0, size)
            for rank, size in zip(range(len(shape), 0, -1), shape, strict=True)
        )
        if kind in ("Max", "Mean"):
            return self._pooled(node, given, axes, largest=kind == "Max")
        return self._windowed(node, self._view(node.inputs[0], given), axes, 1.0)

    def _element_wise(self, node: Node, given: list[Known]) -> Known:
        """Return sums with numbers for each element multiplied into them, or values with these
        beside them.
        """
        places = [n for n, one in enumerate(given) if not isinstance(one, np.ndarray)]
        if node.op == "Clip" and places == [2]:
            return self._clipped(node, given)
        if len(places) > 1:
            return self._of_two(node, given)
        if not places:
            raise refused(node, "it normalises constants.")
        scaling = elements.scaling_of(node, places[0], given)
        if scaling is None:
            raise refused(node, _REASONS.get(node.op, "it has no form in integers here."))
        value, source = given[places[0]], node.inputs[places[0]]
        assert not isinstance(value, np.ndarray)
        return self._scaled(node, source, value, scaling)

    def _scaled(
        self,
        node: Node,
        source: Node,
        value: ElementView | LinearSums | PooledSums,
        scaling: elements.Scaling,
    ) -> Known:
        if source.size == node.size and not isinstance(value, ElementView):
            found = value.scaled(*scaling)
            if found is not None:
                return found
        view = self._view(source, value)
        if source.size != node.size:
            numbers = np.arange(source.size).reshape(source.shape)
            view = view.chosen(np.broadcast_to(numbers, node.shape).reshape(-1))
        return view.scaled(*scaling)

    def _clipped(self, node: Node, given: list[Known]) -> Known:
        """Return values between two bounds: those of 0 and 1, scaled."""
        scaling = elements.unit_of(node, given)
        if scaling is None:
            raise refused(node, "its bounds have no room between them.")
        value = given[2]
        assert not isinstance(value, np.ndarray)
        unit = self._scaled(node, node.inputs[2], value, scaling.inverse())
        return self._operated(node, unit, "brlinear").scaled(*scaling)

    def _of_two(self, node: Node, given: list[Known]) -> Known:
        """Return the sum of two branches, or a square."""
        if node.op == "ElementTimes" and node.inputs[0] is node.inputs[1]:
            return self._operated(node, given[0], "square")
        if node.op not in ("Plus", "Minus"):
            raise refused(node, _REASONS.get(node.op, f"{node.op} has no form in integers here."))
        sides: list[ElementView | LinearSums] = []
        for source, one in zip(node.inputs, given, strict=True):
            is_sum = isinstance(one, LinearSums) and source.size == node.size
            if isinstance(one, LinearSums) and is_sum:
                sides.append(one)
                continue
            view = self._view(source, one)
            if source.size != node.size:
                numbers = np.arange(source.size).reshape(source.shape)
                view = view.chosen(np.broadcast_to(numbers, node.shape).reshape(-1))
            sides.append(view)
        if node.op == "Minus":
            turned = sides[1].scaled(np.full(node.size, -1.0), np.zeros(node.size))
            assert turned is not None
            sides[1] = turned
        like = next((one for one in sides if isinstance(one, LinearSums)), None)
        first, second = (
            one if isinstance(one, LinearSums) else sums_of(one, node.shape, like) for one in sides
        )
        return first.added(second)

    def _linear(self, node: Node, given: list[Known]) -> Known:
        """Return the sums of products of values and constants."""
        places = [n for n, one in enumerate(given) if not isinstance(one, np.ndarray)]
        if len(places) > 1:
            raise refused(node, "it multiplies values with values; a device has its weights.")
        (place,) = places
        source = node.inputs[place]
        view = self._view(source, given[place])
        weights = given[0] if place else None
        if node.op == "Convolution" and not node.attributes["transpose"]:
            if not isinstance(weights, np.ndarray):
                raise refused(node, "its kernels are values, and a device has constants for them.")
            found = kernels_of(node, weights, view)
            if found is None:
                found = kernels_of(node, weights, self._plain(source, view))
            assert found is not None
            return found
        if node.op == "Times" and isinstance(weights, np.ndarray):
            rank = int(node.attributes.get("outputRank", 1))
            columns = int(np.prod(node.inputs[0].shape[len(node.inputs[0].shape) - rank :]))
            return self._product(source, view, weights.reshape(-1, columns).T)
        if node.op == "TransposeTimes" and isinstance(weights, np.ndarray):
            return self._product(source, view, weights.reshape(-1, source.shape[-1]))
        return products_of(view, self._matrix(node, place, given))

    def _product(self, source: Node, view: ElementView, matrix: Array) -> LinearSums:
        """Return the sums of a matrix [outputs, inner] times vectors [rest, inner]."""
        outputs, inner = matrix.shape
        rest = source.size // inner
        if rest == 1:
            return products_of(view, matrix)
        axes = WindowAxis(rest, 1, 1, 0, rest), WindowAxis(inner, inner, 1, 0, 1)
        found = convolved(view, axes, matrix, (True, True), (1, outputs))
        if found is None:
            found = convolved(self._plain(source, view), axes, matrix, (True, True), (1, outputs))
        assert found is not None
        return found

    def _matrix(self, node: Node, place: int, given: list[Known]) -> Array:
        """Return the matrix [elements, elements of the source] of a linear operation."""
        source = node.inputs[place]
        if max(source.size, node.size) * source.size > _MOST:
            raise refused(node, "its matrix would be too large.")
        units = np.eye(source.size).reshape(-1, *source.shape)
        sources = [units if n == place else np.asarray(one)[None] for n, one in enumerate(given)]
        found: Array = TABLE[node.op].forward(node, sources)
        return found.reshape(source.size, node.size).T

    def _as_sums(self, node: Node, read: Node) -> LinearSums:
        return self._as_sums_of(node, self._known[read])

    def _as_sums_of(self, node: Node, given: Known) -> LinearSums:
        if isinstance(given, np.ndarray):
            raise refused(node, "it depends on no input.")
        if isinstance(given, PooledSums):
            given = self._values(node, given)
        if isinstance(given, ElementView):
            return sums_of(given, node.shape)
        return given

    def _view(self, node: Node, given: Known) -> ElementView:
        """Return the values of a node as elements; CompileError where they are constants."""
        if isinstance(given, np.ndarray):
            raise refused(node, "it is a constant among values.")
        return given if isinstance(given, ElementView) else self._values(node, given)

    def _values(self, node: Node, given: LinearSums | PooledSums) -> ElementView:
        """Return sums as the values of a layer without an operator."""
        if isinstance(given, PooledSums):
            return self._largest(node, self._added(node, given.sums, "linear"), given.axes)
        return ElementView.of(self._added(node, given, "linear"))

    def _plain(self, node: Node, view: ElementView) -> ElementView:
        """Return elements as the values of a layer of their own."""
        if view.is_plain and view.source is not None:
            return view
        return ElementView.of(self._added(node, sums_of(view, node.shape), "linear"))

    def _largest(self, node: Node, source: ReadValues, axes: tuple[WindowAxis, ...]) -> ElementView:
        found = pooled(ElementView.of(source), axes, largest=True)
        assert found is not None
        return ElementView.of(self._pool(node, found[0]))

    def _pool(self, node: Node, bundle: PooledBundle) -> ReadValues:
        if not bundle.counts.all():
            raise refused(node, "one of its windows has no value in it.")
        parts = (WeightedBundle(bundle, np.zeros(0)),)
        return self._added(node, LinearSums(parts, np.zeros(bundle.nodes)), "linear")

    def _added(self, node: Node, sums: LinearSums, function: str) -> ReadValues:
        origin = "" if node.origin is None else str(node.origin)
        self.layers.append(SummedLayer(node.name, sums.parts, sums.biases, function, origin))
        self.ends.append(node)
        return ReadValues(len(self.layers), 0, len(sums.biases))

    def _numbers(self, node: Node) -> Array:
        (parameter,) = node.parameters
        return numbers_of(self._tensors[parameter.name], parameter.name).reshape(node.shape)


def _needed(output: Node) -> set[Node]:
    """Return the nodes that lead to the output."""
    found: set[Node] = set()
    waiting = [output]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.inputs
    return found


def _taps(axes: tuple[WindowAxis, ...]) -> int:
    return int(np.prod([one.kernel for one in axes]))


def _computed(node: Node, sources: list[Array]) -> Array:
    """Return the value of a node whose sources are constants."""
    with np.errstate(all="ignore"):
        found: Array = TABLE[node.op].forward(node, [one[None] for one in sources])
    return found.reshape(node.shape)


def _order(node: Node, sizes: list[int]) -> Places:
    """Return for each element of a node its place among the elements of all sources,
    concatenated.
    """
    starts = np.cumsum([0, *sizes])
    numbered = [
        np.arange(a, b, dtype=np.float64).reshape(1, *source.shape)
        for a, b, source in zip(starts, starts[1:], node.inputs, strict=False)
    ]
    found = TABLE[node.op].forward(node, numbered).reshape(-1)
    return np.asarray(found, np.int64)


_OVER_TIME = (
    "it looks at other steps of a sequence, and a compiled network answers each row by itself."
)
#: The reasons why other operations are refused.
_REASONS: dict[str, str] = {
    "ElementTimes": "it multiplies values with values, which neither sums nor tables do.",
    "LookupTable": "it looks vectors up by words. Give the network the vectors themselves.",
    "ROIPooling": "which of its windows reach where depends on values.",
    "Clip": "its bounds are values, and a device has constants for them.",
}
