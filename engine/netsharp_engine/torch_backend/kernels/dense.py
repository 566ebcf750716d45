"""Torch's kernels of bundles with a weight an edge, of biases, and of sums of bundles."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional

from netsharp_engine.nodes import Node
from netsharp_engine.torch_backend.kernels.rows import Call, Tensor, TorchPlace, matrix

#: A filtered bundle is multiplied as a full matrix with so many cells an edge, or so many at all.
FILLED, FEW_CELLS = 64, 1 << 16


class FilledEdges(torch.autograd.Function):  # type: ignore[misc]
    """Sums along edges whose weights stand in a matrix that is 0 elsewhere."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weights: Tensor, cells: Tensor, filled: Tensor) -> Tensor:
        """Return values [rows, sources] times ``filled`` [nodes, sources] with these weights."""
        filled.view(-1)[cells] = weights
        ctx.save_for_backward(values, cells)
        ctx.filled = filled
        return values @ filled.t()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients by values and weights."""
        values, cells = ctx.saved_tensors
        by_values = gradient @ ctx.filled if ctx.needs_input_grad[0] else None
        by_weights = None
        if ctx.needs_input_grad[1]:
            by_weights = (gradient.t() @ values).view(-1)[cells]
        return by_values, by_weights, None, None


def full(node: Node, place: TorchPlace) -> Call:
    """Bind the product with a matrix of weights."""
    ((weights,),) = place.parts
    return lambda values: functional.linear(matrix(values), weights)


def filtered(node: Node, place: TorchPlace) -> Call:
    """Bind sums along edges, by destination and then by source."""
    ((weights,),) = place.parts
    destinations, sources = (np.asarray(each, np.int64) for each in node.attributes["edges"])
    read, count = node.inputs[0].size, len(destinations)
    if node.size * read <= max(FILLED * count, FEW_CELLS):
        cells = torch.from_numpy(destinations * read + sources).to(place.device)
        filled = torch.zeros(node.size, read, device=place.device, dtype=place.dtype)
        return lambda values: FilledEdges.apply(matrix(values), weights, cells, filled)
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
    """Return what multiplies each source with its matrix and adds all, and the biases."""
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
