"""Torch's kernels of bundles with a weight an edge, of biases, and of sums of bundles."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

from netsharp_engine.nodes import Node
from netsharp_engine.torch_backend.kernels.rows import Call, IntArray, Tensor, TorchPlace, matrix

#: Weights of a filtered bundle are a full matrix up to these cells for each edge, or cells in all.
FILLED, FEW_CELLS = 8, 1 << 16


def full(node: Node, place: TorchPlace) -> Call:
    """Bind the product with a matrix of weights."""
    ((weights,),) = place.parts
    return lambda values: functional.linear(matrix(values), weights)


def filled_cells(node: Node) -> tuple[tuple[int, int], IntArray] | None:
    """Return the shape of a matrix of all weights, and where in it those of the edges lie.

    None where it would be nearly empty.
    """
    destinations, sources = (np.asarray(each, np.int64) for each in node.attributes["edges"])
    shape = (node.size, node.inputs[0].size)
    if shape[0] * shape[1] > max(FILLED * len(destinations), FEW_CELLS):
        return None
    return shape, destinations * shape[1] + sources


def filtered(node: Node, place: TorchPlace) -> Call:
    """Bind sums along edges, by destination and then by source."""
    ((weights,),) = place.parts
    if weights.dim() == 2:
        return full(node, place)
    destinations, sources = (np.asarray(each, np.int64) for each in node.attributes["edges"])
    into = torch.from_numpy(destinations).to(place.device)
    out_of = torch.from_numpy(sources).to(place.device)
    size = node.size

    def gathered(values: Tensor) -> Tensor:
        terms = matrix(values)[:, out_of] * weights
        return terms.new_zeros(len(terms), size).index_add(1, into, terms)

    return gathered


def bias(node: Node, place: TorchPlace) -> Call:
    """Bind the sum with a number for each node."""
    ((biases,),) = place.parts
    return lambda values: matrix(values) + biases


def add(node: Node, place: TorchPlace) -> Call:
    """Bind the sum of all sources, first to last."""

    def added(first: Tensor, *others: Tensor) -> Tensor:
        total = matrix(first)
        for other in others:
            total = total + matrix(other)
        return total

    return added


def affine(weights: list[Tensor], biases: Tensor) -> Call:
    """Return the function that multiplies each source by its matrix and adds the products and
    biases.
    """
    first, *others = weights
    turned = [other.t() for other in others]
    if not turned:
        return lambda values: functional.linear(matrix(values), first, biases)

    def summed(values: Tensor, *more: Tensor) -> Tensor:
        total = functional.linear(matrix(values), first, biases)
        for other, read in zip(turned, more, strict=True):
            total = torch.addmm(total, matrix(read), other)
        return total

    return summed
