"""Operations of later releases that make axes of classes, pad, sort, look up or fill.

Axes are CNTK's: counted from 1, the one that runs fastest first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.geometry import product
from netsharp_engine.ops.definition import Operation, expect_inputs, free

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node

#: How padding is filled: with a number, or as a mirror shows what lies beside it, without the
#: border or with it [CNTK: PaddingMode].
FILLED, REFLECTED, SYMMETRIC = range(3)


def _one_hot(node: Node) -> tuple[int, ...]:
    """Return the source's shape with attribute ``classes`` elements along a new axis, which becomes
    number ``axis``.
    """
    expect_inputs(node, 1)
    shape, axis = node.inputs[0].shape, node.attributes["axis"]
    at = len(shape) + 1 - axis
    if not 0 <= at <= len(shape) or node.attributes["classes"] < 1:
        raise ValueError(f"{list(shape)} gets no axis {axis}")
    return (*shape[:at], node.attributes["classes"], *shape[at:])


def _padded(node: Node) -> tuple[int, ...]:
    """Return the shape after padding. Attributes ``head`` and ``foot`` say by how much each axis is
    longer, ``mode`` how that is filled, ``value`` with which number.
    """
    expect_inputs(node, 1)
    shape, mode = node.inputs[0].shape, node.attributes["mode"]
    pairs = list(zip(node.attributes["head"], node.attributes["foot"], strict=True))
    if len(pairs) != len(shape) or mode not in (FILLED, REFLECTED, SYMMETRIC):
        raise ValueError(f"{list(shape)} is not padded by {pairs}")
    room = [size - (mode == REFLECTED) for size in shape]
    if mode and any(max(pair) > size for pair, size in zip(pairs[::-1], room, strict=True)):
        raise ValueError(f"{list(shape)} is too small to be padded by {pairs}")
    return tuple(a + size + b for (a, b), size in zip(pairs[::-1], shape, strict=True))


def _largest(node: Node) -> tuple[int, ...]:
    """Return the shape of attribute ``count`` elements of the axis that runs fastest; ``places``:
    of their places.
    """
    expect_inputs(node, 1)
    *rest, last = node.inputs[0].shape
    if not 1 <= node.attributes["count"] <= last:
        raise ValueError(f"{[*rest, last]} has no {node.attributes['count']} largest elements")
    return (*rest, node.attributes["count"])


def _gathered(node: Node) -> tuple[int, ...]:
    """Return the shape of the second source's rows along its slowest axis, for each number of the
    first.
    """
    expect_inputs(node, 2)
    indices, reference = node.inputs
    return (*indices.shape, *reference.shape[1:])


def _filled(node: Node) -> tuple[int, ...]:
    """Return the source's shape; attribute ``value`` is everywhere."""
    expect_inputs(node, 1)
    return node.inputs[0].shape


def _identity(node: Node) -> tuple[int, ...]:
    """Return the source's shape, a matrix with 1 on its diagonal."""
    expect_inputs(node, 1)
    if len(node.inputs[0].shape) != 2 or product(node.inputs[0].shape) < 1:
        raise ValueError(f"{list(node.inputs[0].shape)} is not a matrix")
    return node.inputs[0].shape


CHOOSING = (
    Operation("OneHot", _one_hot, free),
    Operation("Pad", _padded, free),
    Operation("TopK", _largest, free),
    Operation("Gather", _gathered, free),
    Operation("ConstantOp", _filled, free),
    Operation("EyeLike", _identity, free),
)
