"""Shapes of element-wise nodes, with broadcasting.  Knows no language."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.rules.common import (
    compatible,
    differ,
    fill,
    fill_each_other,
    inherit_axis,
    shape_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node


def same(node: Node, final: bool) -> None:
    """Take the shape and axis of the one input."""
    inherit_axis(node)
    node.shape = shape_of(node, 0)


def pair(node: Node, final: bool) -> None:
    """Broadcast two inputs: a dimension of 1 matches any."""
    inherit_axis(node)
    fill_each_other(node, 2)
    _spread(node, final)


def together(node: Node, final: bool) -> None:
    """Broadcast all inputs: a dimension of 1 matches any."""
    inherit_axis(node)
    fill_each_other(node, len(node.inputs))
    _spread(node, final)


def normalized(node: Node, final: bool) -> None:
    """Take the shape of the first input, with a mean and a deviation of that shape."""
    inherit_axis(node)
    shape = shape_of(node, 0)
    for number in (1, 2):
        fill(node.inputs[number], shape)
    old = shape_of(node, 1)
    if shape[:2] == (1, 1) and len(shape) == 3 and old == shape_of(node, 2) == (shape[2], 1):
        node.inputs[1].shape = node.inputs[2].shape = shape
    for number in (1, 2):
        if final and not compatible(shape, shape_of(node, number)):
            raise differ(node, 0, number)
    node.shape = shape


def _spread(node: Node, final: bool) -> None:
    """Set the shape to the largest dimensions of all inputs."""
    dimensions = list(shape_of(node, 0))
    for number in range(1, len(node.inputs)):
        other = shape_of(node, number)
        dimensions += [1] * (len(other) - len(dimensions))
        for axis, size in enumerate(other):
            if dimensions[axis] <= 1 and size:
                dimensions[axis] = size
            elif size > 1 and dimensions[axis] != size and final:
                raise differ(node, 0, number)
    node.shape = tuple(dimensions)
