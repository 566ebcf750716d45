"""Multiply-adds per sample and time step of node types that have any, from known shapes; knows no
language.
"""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import elements
from netsharp_lsp.cntk.networks.rules.images import recurrent_weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node


def product(node: Node) -> int:
    """Return the multiply-adds of a matrix product: each element of the second factor once for each
    kept element of the first.
    """
    left = node.inputs[0].shape or ()
    kept = left[: node.integer("outputRank", 1)]
    return _reduced(node, elements(kept) if kept else 1)


def transposed_product(node: Node) -> int:
    """Return the multiply-adds of a product with the first factor transposed."""
    left = node.inputs[0].shape or ()
    return _reduced(node, left[1] if len(left) > 1 else 1)


def convolution(node: Node) -> int:
    """Return the multiply-adds of a convolution: every weight of a kernel once per position and
    map, with positions in the larger image.
    """
    weights, shape = node.inputs[0].shape or (), node.inputs[1].shape or ()
    placed = shape if node.truth("transpose") else node.shape or ()
    return elements(placed) * elements(weights) // (elements(node.dimensions("mapCount")) or 1)


def recurrent_stack(node: Node) -> int:
    """Return the multiply-adds of a recurrent stack: every weight once, without biases."""
    return recurrent_weights(node, biases=0)


def _reduced(node: Node, kept: int) -> int:
    return elements(node.shape or ()) * (elements(node.inputs[0].shape or ()) // (kept or 1))
