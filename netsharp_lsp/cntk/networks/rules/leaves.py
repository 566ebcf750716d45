"""Shapes of nodes without inputs.  Knows no language."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node


def declared(node: Node, final: bool) -> None:
    """Keep the shape that the node was created with; the axis is set for the whole network."""


def one_number(node: Node, final: bool) -> None:
    """Set the shape of a number without a dynamic axis."""
    node.axis = None
    node.shape = (1,)
