"""Shapes of nodes without inputs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node


def declared(node: Node, final: bool) -> None:
    """The shape that it was created with; the axis comes with the network."""


def one_number(node: Node, final: bool) -> None:
    """A number without a dynamic axis."""
    node.axis = None
    node.shape = (1,)
