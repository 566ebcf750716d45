"""Numbers few of which are not 0: products with sparse samples, and gradients of few rows.

Source: CNTK, Math/CPUSparseMatrix.cpp.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netsharp_engine.program import Sparse
from netsharp_engine.tensor_backend.kernels.rows import Array

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from netsharp_engine.graph import Node
    from netsharp_engine.packing import Indices, Packing


#: The result of the twin that chooses rows where it cannot.
_SEVERAL, _BEYOND = 1, 2


class TouchedRows(NamedTuple):
    """A gradient [rows, columns] that is 0 except for the rows at ``places``, which are in
    order.
    """

    places: Indices
    values: Array

    def dense(self, shape: tuple[int, ...]) -> Array:
        """Return the whole gradient, dense, of a ``shape``."""
        found = np.zeros(shape, self.values.dtype)
        found.reshape(-1, self.values.shape[1])[self.places] = self.values
        return found


#: The gradient by a parameter.
Gradient = Array | TouchedRows


def joined(first: Gradient, second: Gradient, shape: tuple[int, ...]) -> Gradient:
    """Return the sum of two gradients of a parameter of a ``shape``."""
    if isinstance(first, TouchedRows) and isinstance(second, TouchedRows):
        places = np.concatenate([first.places, second.places])
        return _summed(places, np.concatenate([first.values, second.values]))
    one, other = (
        each.dense(shape) if isinstance(each, TouchedRows) else each for each in (first, second)
    )
    return one + other


class Entries:
    """Sparse samples: the value and the place of each entry, and where the entries of each sample
    begin.
    """

    def __init__(self, values: Array, places: Indices, starts: Indices) -> None:
        self.values, self.places, self.starts = values, places, starts

    @cached_property
    def counts(self) -> Indices:
        """Return the number of entries of each sample, [samples]."""
        return self.starts[1:] - self.starts[:-1]

    @cached_property
    def single(self) -> bool:
        """Return whether no sample has more than one entry."""
        return bool(self.counts.max(initial=0) <= 1)

    @cached_property
    def samples(self) -> Indices:
        """Return the sample of each entry, [entries]."""
        if self.single:
            return np.flatnonzero(self.counts)
        return np.repeat(np.arange(len(self.counts)), self.counts)


def entries(given: Sparse, kind: Any) -> Entries:
    """Return the samples that were fed, [entries] of each array, in the type of the numbers."""
    places, starts = (np.ascontiguousarray(one, np.intp) for one in (given.columns, given.starts))
    return Entries(np.ascontiguousarray(given.values, kind), places, starts)


def dense(sparse: Entries, shape: tuple[int, ...]) -> Array:
    """Return all numbers of sparse samples, [samples, *shape]."""
    count = len(sparse.starts) - 1
    found: Array = np.zeros((count, math.prod(shape)), sparse.values.dtype)
    if sparse.single:
        found[sparse.samples, sparse.places] = sparse.values
    else:
        np.add.at(found, (sparse.samples, sparse.places), sparse.values)
    return found.reshape(count, *shape)


def takes_sparse(node: Node) -> bool:
    """Return whether the second source may stay sparse: a vector for each sample, or words side by
    side.
    """
    rank = int(node.attributes.get("outputRank", 1))
    left, right = node.inputs
    alone = node.op == "Times" and len(left.shape) == rank + len(right.shape)
    return alone or node.op == "LookupTable"


def stays_sparse(
    node: Node, samples: Container[Node], packings: Mapping[Node, Packing | None]
) -> bool:
    """Return whether a node is a product with ``samples`` that stay sparse, and all share its other
    source.
    """
    return (
        len(node.inputs) == 2
        and node.inputs[1] in samples
        and takes_sparse(node)
        and packings[node.inputs[0]] is None
    )


def inner(node: Node) -> int:
    """Return the places of each vector that the first source of such a product is multiplied
    with.
    """
    left, right = node.inputs
    return right.size if node.op == "Times" else left.size // left.shape[-1]


def vectors(node: Node, sparse: Entries) -> Entries:
    """Return the samples of the second source, each split into these vectors, [samples * words] of
    them.
    """
    places = inner(node)
    words = node.inputs[1].size // places
    if words == 1:
        return sparse
    at = sparse.samples * words + sparse.places // places
    order = np.argsort(at, kind="stable")
    counts = np.bincount(at, minlength=words * (len(sparse.starts) - 1))
    starts = np.concatenate([[0], np.cumsum(counts)])
    return Entries(sparse.values[order], sparse.places[order] % places, starts)


def times(left: Array, sparse: Entries, inner: int) -> Array:
    """Return the product of samples with a matrix that all share, [samples, columns]."""
    matrix = left.reshape(inner, -1)
    parts: Array = matrix[sparse.places] * sparse.values[:, None]
    counts = sparse.counts
    most = counts.max(initial=0)
    if most == 1 and len(parts) == len(counts):
        return parts
    found: Array = np.zeros((len(counts), matrix.shape[1]), parts.dtype)
    filled = np.flatnonzero(counts)
    if most == 1:
        found[filled] = parts
    elif most:
        found[filled] = np.add.reduceat(parts, sparse.starts[filled], axis=0)
    return found


def rows_of(matrix: Array, sparse: Entries, out: Array) -> bool:
    """Write the same product, for samples with at most one number each, into ``out``; return False
    for others. IndexError for a place beyond the matrix.
    """
    places, beyond = sparse.places, f"a place is beyond the {len(matrix)} rows of a matrix"
    if twins is not None and matrix.dtype == np.float32 and matrix.flags.c_contiguous:
        given = sparse.values, places, sparse.starts, out
        found = twins.rows_chosen(matrix.shape[1], matrix, *given)
        if found == _BEYOND:
            raise IndexError(beyond)
        return found != _SEVERAL
    if not sparse.single:
        return False
    if len(places) and not 0 <= places.min() <= places.max() < len(matrix):
        raise IndexError(beyond)
    if len(places) == len(out):
        np.take(matrix, places, 0, out, "clip")
        filled: Any = slice(None)
    else:
        filled = sparse.samples
        at = np.zeros(len(out), np.intp)
        at[filled] = places
        np.take(matrix, at, 0, out, "clip")
        out[sparse.counts == 0] = 0
    if not (sparse.values == 1).all():
        out[filled] *= sparse.values[:, None]
    return True


def times_back(sparse: Entries, gradient: Array) -> TouchedRows:
    """Return the gradient by that matrix. ``gradient`` is [samples, ...]; the rows of the result
    are those that samples touch.
    """
    by = gradient.reshape(len(sparse.starts) - 1, -1)
    if twins is None or by.dtype != np.float32 or not len(sparse.places):
        return _summed(sparse.places, by[sparse.samples] * sparse.values[:, None])
    places, sums = (
        np.empty_like(sparse.places),
        np.empty((len(sparse.places), by.shape[1]), by.dtype),
    )
    by = np.ascontiguousarray(by)
    count = twins.rows_summed(by, sparse.values, sparse.places, sparse.starts, places, sums)
    return TouchedRows(places[:count], sums[:count])


def _sorted(places: Indices) -> tuple[Indices, Indices, Indices]:
    """Return the order of places, each of them once, and where each begins in that order."""
    order = np.argsort(places, kind="stable")
    found = places[order]
    first = np.ones(len(found), bool)
    np.not_equal(found[1:], found[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    return order, found[starts], starts


def _summed(places: Indices, values: Array) -> TouchedRows:
    """Return rows with those at the same place summed up in their order."""
    if not len(places):
        return TouchedRows(places, values)
    order, found, starts = _sorted(places)
    sums = np.add.reduceat(values[order], starts, axis=0, dtype=np.float64)
    return TouchedRows(found, sums.astype(values.dtype))
