"""Torch's rows for products: of matrices, of all pairs of elements, and angles of vectors.

Matrices lie transposed: CNTK's [rows x columns] is (columns, rows) here.
"""

from __future__ import annotations

from math import prod

import torch

from netsharp_engine.nodes import Node
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.kernels.elements import away_from_zero
from netsharp_engine.torch_backend.tensors.kernels.rows import (
    Tensors,
    TorchRow,
    flat,
    ruled,
)


def _times(node: Node, sources: Tensors) -> Tensor:
    left, right = sources
    shape, rank = node.inputs[0].shape, int(node.attributes.get("outputRank", 1))
    inner = node.inputs[0].size // prod(shape[len(shape) - rank :])
    rows, matrices = (
        right.reshape(right.shape[0], -1, inner),
        left.reshape(left.shape[0], inner, -1),
    )
    return _product(rows, matrices).reshape(-1, *node.shape)


def _product(rows: Tensor, matrices: Tensor) -> Tensor:
    """Return the product of each sample; one for all of them where they share the matrix."""
    if matrices.shape[0] > 1:
        return rows @ matrices
    found = rows.reshape(-1, rows.shape[2]) @ matrices[0]
    return found.reshape(*rows.shape[:2], -1)


def _transpose_times(node: Node, sources: Tensors) -> Tensor:
    left, right = sources
    inner = node.inputs[1].shape[-1]
    matrices = left.reshape(left.shape[0], -1, inner).transpose(1, 2)
    return _product(right.reshape(right.shape[0], -1, inner), matrices).reshape(-1, *node.shape)


def _scaled_rows(node: Node, sources: Tensors) -> Tensor:
    column, matrix = sources
    count = node.inputs[0].size
    found = matrix.reshape(matrix.shape[0], -1, count) * column.reshape(column.shape[0], 1, count)
    return found.reshape(-1, *node.shape)


def _pairs(node: Node, sources: Tensors) -> Tensor:
    first, second = (one.reshape(one.shape[0], -1) for one in sources)
    return (second[:, :, None] * first[:, None, :]).reshape(-1, *node.shape)


def _cosines(node: Node, sources: Tensors) -> Tensor:
    """Return the cosine of both vectors, then those of the first with later vectors, [samples, n].

    The gradient is CNTK's formula: in float32 that of a vector of zeros is NaN, since the square of
    its inverse length, 1e30, overflows. Source: CNTK, ComputationNetworkLib/LinearAlgebraNodes.h.
    """
    shifts = [0]
    if node.op != "CosDistance":
        shift = int(sources[2].reshape(-1)[0])
        shifts += [shift + number for number in range(node.size - 1)]

    def compute(first: Tensor, second: Tensor) -> Tensor:
        own, other = _inverse_length(first), _inverse_length(second)
        found = []
        for shift in shifts:
            ahead, scale = (torch.roll(one, -shift, 0) for one in (second, other))
            found.append((first * ahead).sum(1, keepdim=True) * own * scale)
        return torch.cat(found, 1)

    def rule(value: Tensor, by: Tensor, first: Tensor, second: Tensor) -> list[Tensor]:
        own, other = _inverse_length(first), _inverse_length(second)
        left, right = torch.zeros_like(first), torch.zeros_like(second)
        for at, shift in enumerate(shifts):
            ahead, scale = (torch.roll(one, -shift, 0) for one in (second, other))
            cosine, gradient = value[:, at : at + 1], by[:, at : at + 1]
            both = own * scale
            left = left + gradient * (ahead * both - first * (cosine * own.square()))
            turned = gradient * (first * both - ahead * (cosine * scale.square()))
            right = right + torch.roll(turned, shift, 0)
        return [left, right]

    return ruled(compute, rule, *flat(sources[:2]))


def _inverse_length(vectors: Tensor) -> Tensor:
    """Return 1 / length of each of [samples, elements], [samples, 1]; 1e30 for zeros."""
    return 1 / away_from_zero(vectors.square().sum(1, keepdim=True).sqrt())


PRODUCTS: dict[str, TorchRow] = {
    "Times": _times,
    "LookupTable": _times,
    "TransposeTimes": _transpose_times,
    "DiagTimes": _scaled_rows,
    "KhatriRaoProduct": _pairs,
    "CosDistance": _cosines,
    "CosDistanceWithNegativeSamples": _cosines,
}
