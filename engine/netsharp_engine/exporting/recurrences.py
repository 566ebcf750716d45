"""Facts about recurrences that formats need: where delays begin, and the sources of a cell.

It knows graphs and arrays, and must not know formats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_engine.exporting.cells import CellPart
from netsharp_engine.exporting.refusal import refused
from netsharp_engine.exporting.values import STEPWISE, Array, ExportedValue

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node


def border_of(delay: Node, floats: str, values: Mapping[Node, ExportedValue]) -> Array:
    """Return the value of a delay where there is no such step, in its shape. Raises ExportError
    where it changes with the samples.
    """
    number: Array = np.asarray(delay.attributes.get("initial", 0.0), floats)
    if len(delay.inputs) > 1:
        given = values[delay.inputs[1]]
        if given.constant is None:
            raise refused(delay, f"'{given.name}', where it begins, changes with the samples.")
        number = given.constant
    return np.broadcast_to(number, delay.shape)


def constant_of(node: Node, values: Mapping[Node, ExportedValue]) -> Array:
    """Return the numbers of a node that is computed from parameters alone, in its shape."""
    found = values[node].constant
    assert found is not None, "a cell's weights are computed from parameters alone"
    return found


class Fed(NamedTuple):
    """The source of a sum along the sequence, and its weights: ``weights`` [inputs, width],
    ``bias`` [width].

    Without a ``source`` it is the bias alone.
    """

    source: ExportedValue | None
    weights: Array
    bias: Array


def fed(part: CellPart, values: Mapping[Node, ExportedValue]) -> Fed:
    """Return how elements of a node outside a loop are computed from values of its steps."""
    node, width = part.node, part.end - part.begin
    value = values[node]
    columns = slice(part.begin, part.end)
    if value.constant is not None:
        return Fed(None, np.zeros((0, width)), value.constant.reshape(-1)[columns])
    if node.op == "Slice" and len(node.shape) == 1 and node.inputs[0] in values:
        begin = int(node.attributes["beginIndex"])
        begin += node.inputs[0].size if begin < 0 else 0
        return fed(CellPart(node.inputs[0], begin + part.begin, begin + part.end), values)
    if node.op == "Plus" and all(one in values for one in node.inputs):
        parts = [
            CellPart(one, part.begin, part.end) for one in node.inputs if one.size == node.size
        ]
        parts += [CellPart(one, 0, 1) for one in node.inputs if one.size == 1 != node.size]
        affine = [fed(one, values) for one in parts]
        sources = [one for one in affine if one.source is not None and one.source.name]
        numbers = [one.bias for one in affine if one.source is None]
        # What has no name is written with the sum that it is part of.
        if len(sources) == len(numbers) == 1 and len(sources[0].weights[0]) == width:
            return sources[0]._replace(bias=sources[0].bias + numbers[0])
    if node.op == "Times" and int(node.attributes.get("outputRank", 1)) == 1:
        left, right = (values[one] for one in node.inputs)
        if left.constant is not None and right.lead == STEPWISE and len(right.shape) == 1:
            weights = left.constant.reshape(-1, node.size)[:, columns]
            return Fed(right, weights, np.zeros(width))
    return Fed(value, np.eye(node.size)[:, columns], np.zeros(width))


def fed_together(
    gates: Sequence[Sequence[CellPart]], values: Mapping[Node, ExportedValue]
) -> Fed | None:
    """Return how gates are computed from one source, their columns side by side; None where they
    read several, or none.
    """
    source: ExportedValue | None = None
    weights, biases = [], []
    for parts in gates:
        affine = [fed(one, values) for one in parts]
        reading = [one for one in affine if one.source is not None]
        if len(reading) != 1:
            return None
        (one,) = reading
        if source is not None and one.source != source:
            return None
        source = one.source
        weights.append(one.weights)
        biases.append(sum((each.bias for each in affine), np.zeros(one.weights.shape[1])))
    if source is None or source.lead != STEPWISE or len(source.shape) != 1:
        return None
    return Fed(source, np.concatenate(weights, 1), np.concatenate(biases))


def columns_of(part: CellPart, values: Mapping[Node, ExportedValue]) -> Array:
    """Return some columns of the weights [size, width] of a cell."""
    found: Array = constant_of(part.node, values)[:, part.begin : part.end]
    return found


def whole_of(node: Node) -> tuple[CellPart]:
    """Return all elements of a node."""
    return (CellPart(node, 0, node.size),)
