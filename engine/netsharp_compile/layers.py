"""A trained network as layers: sums of products over the values before, then one operator.

Several bundles into one layer are one sum.  Knows no integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from netsharp_compile.bundles import (
    Bundle,
    ConvolvedBundle,
    FilteredBundle,
    FullBundle,
    PooledBundle,
    ReadValues,
    window_axes,
)
from netsharp_compile.operators import chain_of
from netsharp_compile.refusal import CompileError, refused
from netsharp_engine.data.errors import nearest
from netsharp_engine.devices.footprint import REFUSALS
from netsharp_engine.excerpt import excerpt

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_compile.operators import Array
    from netsharp_engine.graph import Graph
    from netsharp_engine.nodes import Node

    Tensors: TypeAlias = Mapping[str, npt.NDArray[np.floating]]

#: The operator that a device replaces by the largest answer, or leaves to the host.
SOFTMAX = "softmax"


class WeightedBundle(NamedTuple):
    """A bundle and its weights, in the shape that it says; none of a pool."""

    bundle: Bundle
    weights: Array


class SummedLayer(NamedTuple):
    """A layer: bundles of which the sums are added, biases [nodes], its operator, and its line in
    the specification.  A pool of largest values is alone and without biases.

    ``trained`` is the range of its sums where it was trained with a table; ``node`` is the name of
    the node that it ends in, where it has one of its own.
    """

    name: str
    parts: tuple[WeightedBundle, ...]
    biases: Array
    function: str
    origin: str
    trained: tuple[float, float] | None = None
    node: str = ""

    @property
    def multiply_adds(self) -> int:
        """Return the number of products that a run adds; pools have none."""
        return sum(part.bundle.edges for part in self.parts if self.pool is None)

    @property
    def pool(self) -> PooledBundle | None:
        """Return the pool that the layer is; None where it has other bundles."""
        first = self.parts[0].bundle
        return first if isinstance(first, PooledBundle) else None


def require_names(layers: Sequence[SummedLayer], named: Iterable[str]) -> None:
    """Raise CompileError for the name of a layer that is not there, with the nearest ones."""
    names = list(dict.fromkeys(one.name for one in layers))
    nodes = [one.node for one in layers if one.node]
    for name in named:
        if name not in names:
            near = nearest(name, [*names, *nodes])
            hint = "" if near else f" There are {len(names)}; --explain lists them."
            raise CompileError(
                f"There is no layer '{excerpt(name)}' to have a width of its own.{near}{hint}"
            )


class _Sums(NamedTuple):
    """Sums that have no operator yet."""

    parts: tuple[WeightedBundle, ...]
    biases: Array


def layers_of(graph: Graph, tensors: Tensors) -> list[SummedLayer]:
    """Return the layers of a network, the last of which answers.

    Raises CompileError for an operation that has no form as a layer, and for numbers that are not
    finite.
    """
    return _Reading(graph, tensors).layers


def values_of(layers: Sequence[SummedLayer], features: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the sums and the values [rows, nodes] of each layer; those of softmax are its sums.
    Raises ValueError for an activation without an operator.
    """
    operands = [features]
    for layer in layers:
        with np.errstate(all="ignore"):  # Infinity and NaN are refused with the ranges.
            sums = np.zeros((len(features), len(layer.biases)))
            for bundle, weights in layer.parts:
                operand, first, size = bundle.source
                sums += bundle.sums(operands[operand][:, first : first + size], weights)
            if (pool := layer.pool) is not None and not pool.largest:
                sums /= pool.counts
            sums += layer.biases
            values = sums
            if layer.function != SOFTMAX:
                (operator,) = chain_of(layer.function)
                values = operator.values(sums)
        operands.append(values)
        yield sums, values


class _Reading:
    """One walk over a graph."""

    def __init__(self, graph: Graph, tensors: Tensors) -> None:
        self._tensors = tensors
        self._known: dict[Node, ReadValues | _Sums] = {}
        self.layers: list[SummedLayer] = []
        first = 0
        for node in graph.inputs:
            self._known[node] = ReadValues(0, first, node.size)
            first += node.size
        needed = _needed(graph)
        for node in graph.nodes:
            if node in self._known or node not in needed:
                continue
            if node.op in ("activation", "transfer"):
                self._known[node] = self._layer(node, last=node is graph.output)
            else:
                self._known[node] = self._summed(node)
        output = graph.output
        if output is None or not isinstance(self._known[output], ReadValues) or not self.layers:
            raise CompileError("The network has no output that goes through an activation.")

    def _layer(self, node: Node, *, last: bool) -> ReadValues:
        sums = self._sums(node, node.inputs[0])
        function = str(node.attributes["function"])
        if function == SOFTMAX and not last:
            raise refused(node, REFUSALS[SOFTMAX])
        try:
            chain_of("linear" if function == SOFTMAX else function)
        except ValueError:
            reason = f"the activation '{function}' has no form in integers here."
            raise refused(node, reason) from None
        return self._added(node, sums, function)

    def _added(self, node: Node, sums: _Sums, function: str) -> ReadValues:
        origin = "" if node.origin is None else str(node.origin)
        made = SummedLayer(node.name, *self._plain(node, sums), function, origin)
        if node.op == "transfer":
            low, high = self._tensors[node.parameters[0].name].tolist()
            # A run that was stopped in its first epoch has tracked no range.
            made = made._replace(trained=(low, high) if low or high else None)
        self.layers.append(made)
        return ReadValues(len(self.layers), 0, node.size)

    def _plain(self, node: Node, sums: _Sums) -> _Sums:
        """Return sums without pools: a largest value becomes a layer before it is added, and a mean
        a sum with weights.
        """
        if len(sums.parts) == 1 and not sums.biases.any():
            return sums
        parts = []
        for bundle, weights in sums.parts:
            if not isinstance(bundle, PooledBundle):
                parts.append(WeightedBundle(bundle, weights))
            elif bundle.largest:
                pooled = _Sums((WeightedBundle(bundle, weights),), np.zeros(bundle.nodes))
                source = self._added(node, pooled, "linear")
                nodes = np.arange(bundle.nodes)
                own = FilteredBundle(source, bundle.nodes, nodes, nodes)
                parts.append(WeightedBundle(own, np.ones(bundle.nodes)))
            else:
                parts.append(_weighted_means(bundle))
        return _Sums(tuple(parts), sums.biases)

    def _summed(self, node: Node) -> _Sums:
        if node.op == "bias":
            sums = self._sums(node, node.inputs[0])
            return sums._replace(biases=sums.biases + self._numbers(node).reshape(-1))
        if node.op == "add":
            found = [self._sums(node, one) for one in node.inputs]
            parts = tuple(part for one in found for part in one.parts)
            return _Sums(parts, np.sum([one.biases for one in found], axis=0))
        made = _BUNDLES.get(node.op)
        if made is None:
            raise refused(node, REFUSALS.get(node.op, f"{node.op} has no form in integers here."))
        source = self._known[node.inputs[0]]
        if not isinstance(source, ReadValues):
            raise refused(node, "it reads sums that go through no activation.")
        return made(node, source, self._numbers(node) if node.parameters else np.zeros(0))

    def _sums(self, node: Node, read: Node) -> _Sums:
        found = self._known[read]
        if isinstance(found, ReadValues):
            raise refused(node, "it reads values, and not the sums of a bundle.")
        return found

    def _numbers(self, node: Node) -> Array:
        (parameter,) = node.parameters
        return numbers_of(self._tensors[parameter.name], parameter.name).reshape(parameter.shape)


def numbers_of(values: npt.ArrayLike, name: str) -> Array:
    """Return a parameter's numbers in double precision, of the same shape.

    Raises CompileError where one is infinite or no number.
    """
    found = np.asarray(values, np.float64)
    if not np.isfinite(found).all():
        raise CompileError(
            f"'{name}' holds numbers that are infinite or no numbers: the training "
            "diverged. Train again with a lower learning rate."
        )
    # Denormal numbers are flushed to 0, as on most devices.
    return np.where(np.abs(found) < np.finfo(np.float32).tiny, 0.0, found)


def _needed(graph: Graph) -> set[Node]:
    """Return the nodes that lead to the output."""
    found: set[Node] = set()
    waiting = [graph.output]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += node.inputs
    return found


def _full(node: Node, source: ReadValues, weights: Array) -> _Sums:
    made = FullBundle(source, node.size)
    return _Sums((WeightedBundle(made, weights),), np.zeros(node.size))


def _filtered(node: Node, source: ReadValues, weights: Array) -> _Sums:
    owners, places = (np.asarray(one, np.int64) for one in node.attributes["edges"])
    order = np.lexsort((places, owners))
    made = FilteredBundle(source, node.size, owners[order], places[order])
    return _Sums((WeightedBundle(made, weights.reshape(-1)[order]),), np.zeros(node.size))


def _convolved(node: Node, source: ReadValues, weights: Array) -> _Sums:
    read = node.attributes
    sharing, maps = tuple(map(bool, read["sharing"])), tuple(map(int, read["maps"]))
    made = ConvolvedBundle(source, window_axes(read["axes"]), sharing, maps)
    # Each kernel's own bias is its last number.
    biases = weights[made.groups, -1]
    return _Sums((WeightedBundle(made, weights[:, :-1]),), biases)


def _pooled(node: Node, source: ReadValues, weights: Array) -> _Sums:
    made = PooledBundle(source, window_axes(node.attributes["axes"]), node.op == "max pool")
    if not made.counts.all():
        raise refused(node, "one of its windows has no value in it.")
    return _Sums((WeightedBundle(made, weights),), np.zeros(node.size))


def _weighted_means(bundle: PooledBundle) -> WeightedBundle:
    """Return means as sums with weights, to which others can be added."""
    axes = bundle.axes
    each = ConvolvedBundle(bundle.source, axes, (True,) * len(axes), (1,) * len(axes))
    cells = np.arange(1, bundle.source.size + 1, dtype=np.float64)[None]
    owners, places = [], []
    for tap in range(bundle.taps):
        # Where the weight of this cell alone is 1, the sums are the number of the value there.
        seen = each.sums(cells, (np.arange(bundle.taps) == tap)[None].astype(np.float64))[0]
        (nodes,) = seen.nonzero()
        owners.append(nodes)
        places.append(seen[nodes].astype(np.int64) - 1)
    owner, place = np.concatenate(owners), np.concatenate(places)
    order = np.lexsort((place, owner))
    made = FilteredBundle(bundle.source, bundle.nodes, owner[order], place[order])
    return WeightedBundle(made, 1.0 / bundle.counts[made.owners])


#: Functions that make sums of an operation, its source and its numbers.
_BUNDLES: dict[str, Callable[[Node, ReadValues, Array], _Sums]] = {
    "full": _full,
    "filtered": _filtered,
    "convolve": _convolved,
    "max pool": _pooled,
    "mean pool": _pooled,
}
