"""Shapes and dynamic axes of nodes that read along or change a sequence.  Knows no language."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import Axis, elements
from netsharp_lsp.cntk.networks.rules.common import Misfit, inherit_axis, need_axis, shape_of
from netsharp_lsp.cntk.networks.rules.elementwise import pair, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node

#: The axis of selected frames; the inference numbers several of them.
CHOSEN_AXIS = "WhereNodeAxis"


def delayed(node: Node, final: bool) -> None:
    """Take the shape of the input at another time step; a second input is the state at the
    border.
    """
    if len(node.inputs) == 1:
        same(node, final)
    else:
        pair(node, final)
    if final:
        need_axis(node, 0)
        if len(node.inputs) == 2 and node.inputs[1].axis is not None:
            raise Misfit("the initial state of a delay cannot have a dynamic axis.")


def where(node: Node, final: bool) -> None:
    """Set the shape of the indices of selected frames, along a new axis."""
    if final:
        need_axis(node, 0)
        _scalar(node, 0)
    node.axis = node.axis or Axis(CHOSEN_AXIS)
    node.shape = (1,)


def packed_index(node: Node, final: bool) -> None:
    """Set the shape of indices as positions in the packed data."""
    if final:
        need_axis(node, 0, 1)
        _scalar(node, 1)
    node.axis = node.inputs[1].axis
    node.shape = shape_of(node, 1)


def gather_packed(node: Node, final: bool) -> None:
    """Select frames of a sequence, or columns of a matrix."""
    if final:
        need_axis(node, 0)
        _scalar(node, 0)
    node.axis = node.inputs[0].axis
    source = shape_of(node, 1)
    if node.inputs[1].axis is not None:
        node.shape = source
    else:
        node.shape = source[:-1] if len(source) > 1 else (1,)


def scatter_packed(node: Node, final: bool) -> None:
    """Write frames back to where they were selected from."""
    if final:
        need_axis(node, 0, 1, 2)
        _scalar(node, 1)
    node.axis = node.inputs[0].axis
    node.shape = shape_of(node, 2)


def reconciled(node: Node, final: bool) -> None:
    """Take the first input along the axis of the second; later releases repeat one without
    an axis.
    """
    if final:
        need_axis(node, *((1,) if node.truth("repeated") else (0, 1)))
    node.axis = node.inputs[1].axis
    node.shape = shape_of(node, 0)


def summed_columns(node: Node, final: bool) -> None:
    """Set the shape of one number for each time step."""
    inherit_axis(node)
    node.shape = (1,)


def over_all_data(node: Node, final: bool) -> None:
    """Set the shape of a statistic over all data, that of a sample."""
    if final:
        need_axis(node, 0)
    node.axis = None
    node.shape = shape_of(node, 0)


def accumulated(node: Node, final: bool) -> None:
    """Set the shape of a sum over an epoch, that of a sample."""
    node.axis = None
    node.shape = shape_of(node, 0)


def _scalar(node: Node, number: int) -> None:
    if elements(shape_of(node, number)) != 1:
        raise Misfit(f"input {number + 1} of {node.operation} has to be one number per step.")
