"""Operations with a weight per edge (full, filtered), and the bias of a layer.

Source: the Net# guide, "Full bundles" and "Filtered bundles".
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from netsharp_engine.geometry import product
from netsharp_engine.ops.definition import Cost, Operation, expect_inputs, expect_parameters

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node


def _destination(node: Node) -> tuple[int, ...]:
    shape = node.attributes.get("shape")
    if shape is None and node.op == "full" and node.parameters:
        return node.parameters[0].shape[:1]
    if shape is None:
        raise KeyError("shape")
    return tuple(int(extent) for extent in shape)


def _full_shape(node: Node) -> tuple[int, ...]:
    """Shape of ``full``: attribute ``shape`` if given, else [destination nodes]."""
    expect_inputs(node, 1)
    shape = _destination(node)
    expect_parameters(node, (product(shape), node.inputs[0].size))
    return shape


def _full_cost(node: Node) -> Cost:
    edges = node.size * node.inputs[0].size
    return Cost(edges, edges)


def _filtered_shape(node: Node) -> tuple[int, ...]:
    """Shape of ``filtered``: attribute ``shape``; ``edges`` must be ordered and inside."""
    expect_inputs(node, 1)
    shape = _destination(node)
    destinations, sources = node.attributes["edges"]
    expect_parameters(node, (len(destinations),))
    pairs = zip(map(int, destinations), map(int, sources), strict=True)
    if any(later <= earlier for earlier, later in pairwise(pairs)):
        raise ValueError("the edges must be distinct, ordered by destination and then by source")
    inside = len(destinations) and destinations[0] >= 0 and destinations[-1] < product(shape)
    if not inside or not (min(sources) >= 0 and max(sources) < node.inputs[0].size):
        raise ValueError("an edge lies outside the source or the destination")
    return shape


def _filtered_cost(node: Node) -> Cost:
    edges = node.parameters[0].size
    return Cost(edges, edges)


def _bias_shape(node: Node) -> tuple[int, ...]:
    """Shape of ``bias``: that of its source, with one number for each node."""
    expect_inputs(node, 1)
    expect_parameters(node, (node.inputs[0].size,))
    return node.inputs[0].shape


OPERATIONS = (
    Operation("full", _full_shape, _full_cost),
    Operation("filtered", _filtered_shape, _filtered_cost),
    Operation("bias", _bias_shape, lambda node: Cost(0, 0)),
)
