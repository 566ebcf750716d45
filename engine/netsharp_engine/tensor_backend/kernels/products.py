"""Kernels of products: of matrices, of all pairs of elements, and angles of vectors.

Matrices are stored transposed: CNTK's [rows x columns] is (columns, rows) here. Source: CNTK,
ComputationNetworkLib/LinearAlgebraNodes.h.
"""

from __future__ import annotations

import numpy as np

from netsharp_engine.nodes import Node
from netsharp_engine.tensor_backend.kernels.elements import away_from_zero
from netsharp_engine.tensor_backend.kernels.rows import (
    Array,
    Backward,
    Sources,
    TensorKernel,
    total,
)


def _factors(node: Node, sources: Sources) -> tuple[Array, Array]:
    """Return the sources of a product as [samples, contracted, left] and [samples, rest,
    contracted].
    """
    left, right = sources
    inner = node.inputs[0].size // _columns(node)
    return left.reshape(len(left), inner, -1), right.reshape(len(right), -1, inner)


def _columns(node: Node) -> int:
    rank = int(node.attributes.get("outputRank", 1))
    return int(np.prod(node.inputs[0].shape[len(node.inputs[0].shape) - rank :]))


def _times(node: Node, sources: Sources) -> Array:
    left, right = _factors(node, sources)
    return _products(right, left).reshape(-1, *node.shape)


def _products(rows: Array, matrices: Array) -> Array:
    """Return the product of each sample; one for all of them where they share the matrix."""
    if len(matrices) > 1:
        return rows @ matrices
    found: Array = rows.reshape(-1, rows.shape[2]) @ matrices[0]
    return found.reshape(*rows.shape[:2], -1)


def _summed(first: Array, second: Array, shared: bool) -> Array:
    """Return the gradient by a factor: of each sample, or summed over all where they share it."""
    if shared:
        return first.reshape(-1, first.shape[2]).T @ second.reshape(-1, second.shape[2])
    return first.swapaxes(1, 2) @ second


def _times_left(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    left, right = _factors(node, sources)
    by = gradient.reshape(len(gradient), right.shape[1], -1)
    return _summed(right, by, len(left) == 1).reshape(-1, *node.inputs[0].shape)


def _times_right(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    left, right = _factors(node, sources)
    by = gradient.reshape(len(gradient), right.shape[1], -1)
    return _products(by, left.swapaxes(1, 2)).reshape(-1, *node.inputs[1].shape)


def _as_left(node: Node, sources: Sources) -> tuple[Array, Array]:
    """Return the sources of a product with the first one transposed: [n, left, inner], [n, rest,
    inner].
    """
    left, right = sources
    inner = node.inputs[1].shape[-1]
    return left.reshape(len(left), -1, inner), right.reshape(len(right), -1, inner)


def _transpose_times(node: Node, sources: Sources) -> Array:
    left, right = _as_left(node, sources)
    return _products(right, left.swapaxes(1, 2)).reshape(-1, *node.shape)


def _transpose_times_left(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    left, right = _as_left(node, sources)
    by = gradient.reshape(len(gradient), right.shape[1], -1)
    return _summed(by, right, len(left) == 1).reshape(-1, *node.inputs[0].shape)


def _transpose_times_right(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    left, right = _as_left(node, sources)
    by = gradient.reshape(len(gradient), right.shape[1], -1)
    return _products(by, left).reshape(-1, *node.inputs[1].shape)


def _scaled_rows(node: Node, sources: Sources) -> Array:
    column, matrix = _rows(node, sources)
    found: Array = matrix * column
    return found.reshape(-1, *node.shape)


def _scaled_rows_column(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    _, matrix = _rows(node, sources)
    sums = total(gradient.reshape(len(gradient), *matrix.shape[1:]) * matrix, (1,))
    return sums.reshape(-1, *node.inputs[0].shape)


def _scaled_rows_matrix(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    column, matrix = _rows(node, sources)
    found: Array = gradient.reshape(len(gradient), *matrix.shape[1:]) * column
    return found.reshape(-1, *node.inputs[1].shape)


def _rows(node: Node, sources: Sources) -> tuple[Array, Array]:
    """Return an element for each row, and the rows: [n, 1, rows] and [n, columns, rows]."""
    column, matrix = sources
    count = node.inputs[0].size
    return column.reshape(len(column), 1, count), matrix.reshape(len(matrix), -1, count)


def _pairs(node: Node, sources: Sources) -> Array:
    first, second = (one.reshape(len(one), -1) for one in sources)
    found: Array = second[:, :, None] * first[:, None, :]
    return found.reshape(-1, *node.shape)


def _pairs_first(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    second = sources[1].reshape(len(sources[1]), -1, 1)
    by = gradient.reshape(len(gradient), second.shape[1], -1)
    return total(by * second, (1,)).reshape(-1, *node.inputs[0].shape)


def _pairs_second(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    first = sources[0].reshape(len(sources[0]), 1, -1)
    by = gradient.reshape(len(gradient), -1, first.shape[2])
    return total(by * first, (2,)).reshape(-1, *node.inputs[1].shape)


class _Vectors:
    """Two vectors of each sample, with the inverses of their lengths."""

    def __init__(self, sources: Sources) -> None:
        self.pair = [one.reshape(len(one), -1) for one in sources[:2]]
        lengths = (np.sqrt(total(np.square(one), (1,), keep=True)) for one in self.pair)
        self.inverse = [one.dtype.type(1) / away_from_zero(one) for one in lengths]

    def cosine(self, shift: int) -> Array:
        """Return the cosine of each first vector with the second one ``shift`` samples later,
        [samples, 1].
        """
        first, second = self.pair
        ahead, scale = (np.roll(one, -shift, 0) for one in (second, self.inverse[1]))
        found: Array = total(first * ahead, (1,), keep=True) * self.inverse[0] * scale
        return found

    def slope(self, number: int, shift: int, cosine: Array, gradient: Array) -> Array:
        """Return the gradient of such cosines by the first or the second vectors."""
        first, second = self.pair
        ahead, scale = (np.roll(one, -shift, 0) for one in (second, self.inverse[1]))
        both = self.inverse[0] * scale
        if number == 0:
            found = gradient * (ahead * both - first * (cosine * np.square(self.inverse[0])))
        else:
            found = gradient * (first * both - ahead * (cosine * np.square(scale)))
        return np.roll(found, shift, 0) if number else found


def _shifts(node: Node, sources: Sources) -> list[int]:
    """Return, for each cosine, how many samples later the second vector is taken."""
    if node.op == "CosDistance":
        return [0]
    shift = int(sources[2].reshape(-1)[0])
    return [0, *(shift + number for number in range(node.size - 1))]


def _cosines(node: Node, sources: Sources) -> Array:
    vectors = _Vectors(sources)
    return np.concatenate([vectors.cosine(shift) for shift in _shifts(node, sources)], axis=1)


def _cosines_by(number: int) -> Backward:
    def back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
        vectors, found = _Vectors(sources), np.zeros((1, 1), gradient.dtype)
        for at, shift in enumerate(_shifts(node, sources)):
            column = slice(at, at + 1)
            found = found + vectors.slope(number, shift, value[:, column], gradient[:, column])
        return found.reshape(-1, *node.inputs[number].shape)

    return back


_TIMES = TensorKernel(_times, (_times_left, _times_right))
_COSINES = (_cosines_by(0), _cosines_by(1))
PRODUCTS: dict[str, TensorKernel] = {
    "Times": _TIMES,
    "LookupTable": _TIMES,
    "TransposeTimes": TensorKernel(
        _transpose_times, (_transpose_times_left, _transpose_times_right)
    ),
    "DiagTimes": TensorKernel(_scaled_rows, (_scaled_rows_column, _scaled_rows_matrix)),
    "KhatriRaoProduct": TensorKernel(_pairs, (_pairs_first, _pairs_second)),
    "CosDistance": TensorKernel(_cosines, _COSINES),
    "CosDistanceWithNegativeSamples": TensorKernel(_cosines, (*_COSINES, None, None)),
}
