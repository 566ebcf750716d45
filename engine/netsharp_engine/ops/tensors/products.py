"""Products of nodes' values: of matrices, of all pairs of elements, and angles of vectors.

Source: CNTK, ComputationNetworkLib/LinearAlgebraNodes.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.geometry import product
from netsharp_engine.ops.definition import Cost, Operation, expect_inputs, free

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node


def _times(node: Node) -> tuple[int, ...]:
    """Return the remaining dimensions of both sources; attribute ``outputRank`` of the first one's
    stay.
    """
    expect_inputs(node, 2)
    left, right = (source.shape for source in node.inputs)
    cut = len(left) - int(node.attributes.get("outputRank", 1))
    rest = right[: len(right) - cut] if len(right) >= cut else ()
    if cut < 1 or product(left[:cut]) * product(rest) != product(right):
        raise ValueError(f"{list(left)} cannot be multiplied with {list(right)}")
    return rest + left[cut:]


def _times_cost(node: Node) -> Cost:
    left = node.inputs[0]
    kept = node.shape[-int(node.attributes.get("outputRank", 1)) :]
    pairs = left.size * node.size // product(kept)
    return Cost(pairs, pairs)


def _transpose_times(node: Node) -> tuple[int, ...]:
    """Return the shape of the first source transposed times the second: the common first dimension
    is gone.
    """
    expect_inputs(node, 2)
    left, right = (source.shape for source in node.inputs)
    if left[-1] != right[-1] or len(left) > 2:
        raise ValueError(f"{list(left)} transposed cannot be multiplied with {list(right)}")
    return (*right[:-1], *(left[:-1] or (1,)))


def _looked_up(node: Node) -> tuple[int, ...]:
    """Return the shape of a column of the first source for each block of the second."""
    expect_inputs(node, 2)
    table, words = node.inputs
    width = table.shape[-1]
    count = table.size // width
    if words.size % count:
        raise ValueError(f"{list(words.shape)} has no whole number of {count} words")
    return (width * (words.size // count),)


def _look_up_cost(node: Node) -> Cost:
    pairs = node.size * node.inputs[0].size // node.inputs[0].shape[-1]
    return Cost(pairs, pairs)


def _scaled_rows(node: Node) -> tuple[int, ...]:
    """Return the shape of the second source, whose rows the first one has an element for."""
    expect_inputs(node, 2)
    column, matrix = node.inputs
    if matrix.size % column.size:
        raise ValueError(f"{list(column.shape)} is not a diagonal for {list(matrix.shape)}")
    return matrix.shape


def _all_pairs(node: Node) -> tuple[int, ...]:
    """Return the shape of every element of the one times every element of the other, as one
    vector.
    """
    expect_inputs(node, 2)
    first, second = node.inputs
    return (first.size * second.size,)


def _cosine(node: Node) -> tuple[int, ...]:
    """Return the shape of one number for two vectors of equally many elements."""
    expect_inputs(node, 2)
    return _angles(node, 1)


def _cosines(node: Node) -> tuple[int, ...]:
    """Return the shape of one cosine, and one more for each of ``negatives`` later samples."""
    expect_inputs(node, 4)
    return _angles(node, 1 + int(node.attributes["negatives"]))


def _angles(node: Node, count: int) -> tuple[int, ...]:
    first, second = node.inputs[:2]
    if first.size != second.size:
        raise ValueError(f"{list(first.shape)} has no angle with {list(second.shape)}")
    return (count,)


PRODUCTS = (
    Operation("Times", _times, _times_cost),
    Operation("TransposeTimes", _transpose_times, free),
    Operation("LookupTable", _looked_up, _look_up_cost),
    Operation("DiagTimes", _scaled_rows, free),
    Operation("KhatriRaoProduct", _all_pairs, free),
    Operation("CosDistance", _cosine, free),
    Operation("CosDistanceWithNegativeSamples", _cosines, free),
)
