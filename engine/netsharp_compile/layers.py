"""A trained network as layers: sums of products over the values before, then one operator.

Several bundles into one layer are one sum.  Knows no integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.operators import chain_of
from netsharp_compile.refusal import CompileError, refused

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_compile.operators import Array
    from netsharp_engine.graph import Graph
    from netsharp_engine.nodes import Node

#: The operator whose place is taken by the largest answer, or by the host.
SOFTMAX = "softmax"


class ReadValues(NamedTuple):
    """Values that a layer reads: the number of the operand (0 the features, then the layers in
    order), the first of its values, and how many.
    """

    operand: int
    first: int
    size: int


class SummedLayer(NamedTuple):
    """A layer: weights [nodes, values of all its sources in turn], biases [nodes], its operator,
    and its line in the specification.
    """

    name: str
    sources: tuple[ReadValues, ...]
    weights: Array
    biases: Array
    function: str
    origin: str


class _Sums(NamedTuple):
    """Sums that have no operator yet."""

    sources: tuple[ReadValues, ...]
    weights: tuple[Array, ...]
    biases: Array


def layers_of(graph: Graph, tensors: Mapping[str, npt.NDArray[np.floating]]) -> list[SummedLayer]:
    """Return the layers of a network, the last of which answers.

    Raises CompileError for an operation that is no such layer, and for numbers that are none.
    """
    known: dict[Node, ReadValues | _Sums] = {}
    first = 0
    for node in graph.inputs:
        known[node] = ReadValues(0, first, node.size)
        first += node.size
    layers: list[SummedLayer] = []
    for node in graph.nodes:
        if node in known:
            continue
        if node.op == "activation":
            sums = _sums(known, node, node.inputs[0])
            function = str(node.attributes["function"])
            if function == SOFTMAX and node is not graph.output:
                raise refused(node, "softmax within a network looks at all nodes at once.")
            layers.append(_layer(node, sums, function))
            known[node] = ReadValues(len(layers), 0, node.size)
        else:
            known[node] = _summed(known, node, tensors)
    if graph.output is None or not layers or not isinstance(known[graph.output], ReadValues):
        raise CompileError("The network has no output that goes through an activation.")
    return layers


def values_of(layers: Sequence[SummedLayer], features: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the sums and the values [rows, nodes] of each layer; those of softmax are its sums."""
    operands = [features]
    for layer in layers:
        given = [
            operands[one.operand][:, one.first : one.first + one.size] for one in layer.sources
        ]
        with np.errstate(all="ignore"):  # What is no number is seen in the ranges.
            sums = np.concatenate(given, axis=1) @ layer.weights.T + layer.biases
            values = sums
            if layer.function != SOFTMAX:
                (operator,) = chain_of(layer.function)
                values = operator.values(sums)
        operands.append(values)
        yield sums, values


def _layer(node: Node, sums: _Sums, function: str) -> SummedLayer:
    weights = np.concatenate(sums.weights, axis=1)
    origin = "" if node.origin is None else str(node.origin)
    return SummedLayer(node.name, sums.sources, weights, sums.biases, function, origin)


def _summed(
    known: Mapping[Node, ReadValues | _Sums],
    node: Node,
    tensors: Mapping[str, npt.NDArray[np.floating]],
) -> _Sums:
    if node.op == "full":
        source = known[node.inputs[0]]
        if not isinstance(source, ReadValues):
            raise refused(node, "it reads sums that go through no activation.")
        return _Sums((source,), (_numbers(node, tensors),), np.zeros(node.size))
    if node.op == "bias":
        sums = _sums(known, node, node.inputs[0])
        return sums._replace(biases=sums.biases + _numbers(node, tensors).reshape(-1))
    if node.op == "add":
        parts = [_sums(known, node, one) for one in node.inputs]
        return _Sums(
            tuple(source for part in parts for source in part.sources),
            tuple(weights for part in parts for weights in part.weights),
            np.sum([part.biases for part in parts], axis=0),
        )
    raise refused(node, f"layers of full bundles become integers so far, and this is {node.op}.")


def _sums(known: Mapping[Node, ReadValues | _Sums], node: Node, read: Node) -> _Sums:
    found = known[read]
    if isinstance(found, ReadValues):
        raise refused(node, "it reads values, and not the sums of a bundle.")
    return found


def _numbers(node: Node, tensors: Mapping[str, npt.NDArray[np.floating]]) -> Array:
    (parameter,) = node.parameters
    found = np.asarray(tensors[parameter.name], np.float64).reshape(parameter.shape)
    if not np.isfinite(found).all():
        raise CompileError(
            f"'{parameter.name}' holds numbers that are infinite or no numbers: the training "
            "diverged. Train again with a lower learning rate."
        )
    # Denormal numbers are 0 on most devices, and here.
    return np.where(np.abs(found) < np.finfo(np.float32).tiny, 0.0, found)
