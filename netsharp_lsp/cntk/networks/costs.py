"""Multiply-adds per sample and time step of the nodes that have any, from shapes that are known."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import elements
from netsharp_lsp.cntk.networks.rules.images import recurrent_weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node


def product(node: Node) -> int:
    """Each element of the second factor once for every element of the first that is kept."""
    left = node.inputs[0].shape or ()
    kept = left[: node.integer("outputRank", 1)]
    return _reduced(node, elements(kept) if kept else 1)


def transposed_product(node: Node) -> int:
    """The same with the first factor turned: its second dimension is kept."""
    left = node.inputs[0].shape or ()
    return _reduced(node, left[1] if len(left) > 1 else 1)


def convolution(node: Node) -> int:
    """Every weight of a kernel once for each place and map; placed in the larger image."""
    weights, shape = node.inputs[0].shape or (), node.inputs[1].shape or ()
    placed = shape if node.truth("transpose") else node.shape or ()
    return elements(placed) * elements(weights) // (elements(node.dimensions("mapCount")) or 1)


def recurrent_stack(node: Node) -> int:
    """Every weight once; biases are added alone."""
    return recurrent_weights(node, biases=0)


def _reduced(node: Node, kept: int) -> int:
    return elements(node.shape or ()) * (elements(node.inputs[0].shape or ()) // (kept or 1))
