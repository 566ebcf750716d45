"""Operations that arrange, choose or sum up elements, and those that look along sequences.

Axes are CNTK's: counted from 1, the one that runs fastest first. Source: CNTK,
ComputationNetworkLib/ReshapingNodes.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.ops.definition import expect_inputs

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node

#: Operations that read another step of a sequence.
DELAYS = ("PastValue", "FutureValue")
#: Operations whose columns are other ones than those of what they read.
COLUMNS = ("Where", "PackedIndex", "GatherPacked", "ScatterPacked", "ReconcileDynamicAxis")


def sliced(node: Node) -> tuple[int, ...]:
    """Return the shape of a range of an axis; a negative begin, and an end of 0 or less, count from
    its end. Attribute ``stride``, where it is given, takes every ``stride``-th element of it, a
    negative one backwards. ValueError for a range outside.
    """
    expect_inputs(node, 1)
    shape, axis = list(node.inputs[0].shape), node.attributes["axis"]
    if not 1 <= axis <= len(shape):
        raise ValueError(f"{shape} has no axis {axis}")
    size, begin, end = shape[-axis], node.attributes["beginIndex"], node.attributes["endIndex"]
    first, last = begin + size if begin < 0 else begin, end if end > 0 else end + size
    if not 0 <= first < last <= size:
        raise ValueError(f"the range {begin} to {end} is not within {size}")
    stride = node.attributes.get("stride", 1)
    if not stride:
        raise ValueError("one element of 0 is none")
    shape[-axis] = -(-(last - first) // abs(stride))
    return tuple(shape)


def sliced_cells(node: Node) -> slice:
    """Return the cells of its axis that a slice takes, as Python counts them."""
    size = node.inputs[0].shape[-node.attributes["axis"]]
    begin, end = node.attributes["beginIndex"], node.attributes["endIndex"]
    first, last = begin + size if begin < 0 else begin, end if end > 0 else end + size
    stride = node.attributes.get("stride", 1)
    if stride > 0:
        return slice(first, last, stride)
    return slice(last - 1, first - 1 if first else None, stride)


def stacked(node: Node) -> tuple[int, ...]:
    """Return the shape of sources one after the other along an axis; in others they are equal, or
    1. ValueError where they are not.
    """
    axis = node.attributes["axis"]
    rank = max(axis, *(len(one.shape) for one in node.inputs))
    shapes = [(1,) * (rank - len(one.shape)) + one.shape for one in node.inputs]
    found = [max(sizes) for sizes in zip(*shapes, strict=True)]
    found[-axis] = sum(shape[-axis] for shape in shapes)
    for shape in shapes:
        others = (place for place in range(rank) if place != rank - axis)
        if any(shape[place] not in (1, found[place]) for place in others):
            raise ValueError(f"{list(shape)} does not fit {found}")
    return tuple(found)


def transposed(node: Node) -> tuple[int, ...]:
    """Return the shape with two axes exchanged. Raises ValueError for another number of sources."""
    expect_inputs(node, 1)
    first, second = node.attributes["axis1"], node.attributes["axis2"]
    source = node.inputs[0].shape
    shape = [1] * (max(first, second, len(source)) - len(source)) + list(source)
    shape[-first], shape[-second] = shape[-second], shape[-first]
    return tuple(shape)


def reduced_elements(node: Node) -> tuple[int, ...]:
    """Return the shape with 1 element left of one axis, or of one element alone.

    That of `Argmax` and `Argmin` is a place along the axis, or among all elements. ValueError for
    an axis that the source does not have.
    """
    expect_inputs(node, 1)
    shape, axis = list(node.inputs[0].shape), node.attributes["axis"]
    if axis == 0:
        return (1,)
    if not 1 <= axis <= len(shape):
        raise ValueError(f"{shape} has no axis {axis}")
    shape[-axis] = 1
    return tuple(shape)


def one_element(node: Node) -> tuple[int, ...]:
    """Return the shape of the sum of all elements. Raises ValueError for several sources."""
    expect_inputs(node, 1)
    return (1,)


def repeated(node: Node) -> tuple[int, ...]:
    """Return the shape of attribute ``numRepeats`` copies along the axis that runs slowest. Raises
    ValueError for another number of sources.
    """
    expect_inputs(node, 1)
    first, *rest = node.inputs[0].shape
    return (first * int(node.attributes["numRepeats"]), *rest)


def diagonal(node: Node) -> tuple[int, ...]:
    """Return the shape of the diagonal of a square matrix, one element in each column. ValueError
    for another source.
    """
    expect_inputs(node, 1)
    shape = node.inputs[0].shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{list(shape)} is not a square matrix")
    return (shape[0], 1)


def cropped(node: Node) -> tuple[int, ...]:
    """Return the shape of the first source cut to the two sides of the second that run fastest;
    attribute ``offsets`` gives the first cells, the side that runs fastest first. ValueError where
    the cut is not inside.
    """
    expect_inputs(node, 2)
    whole, cut = (one.shape for one in node.inputs)
    if min(len(whole), len(cut)) < 2:
        raise ValueError("an image has two sides")
    for axis, offset in enumerate(node.attributes["offsets"], 1):
        if not 0 <= offset <= whole[-axis] - cut[-axis]:
            raise ValueError(f"{list(cut)} from {offset} on is not within {list(whole)}")
    return (*whole[:-2], *cut[-2:])


def indices(node: Node) -> tuple[int, ...]:
    """Return the shape of one number for each step. ValueError for a source of several numbers."""
    expect_inputs(node, 2 if node.op == "PackedIndex" else 1)
    if node.inputs[-1].size != 1:
        raise ValueError(f"{list(node.inputs[-1].shape)} is not one number for each step")
    return (1,)


def moved(node: Node) -> tuple[int, ...]:
    """Return the shape of the last source, or of the first of a pair that is reconciled. Raises
    ValueError for another number of sources.
    """
    expect_inputs(node, 3 if node.op == "ScatterPacked" else 2)
    return node.inputs[0 if node.op == "ReconcileDynamicAxis" else -1].shape
