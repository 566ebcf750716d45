"""Numpy kernels of filtered bundles: a matrix with zeros, or gathered rows.

The parameter stays the list of edges in canonical order; only the way of multiplying differs.
Source: the Net# guide, "Filtered bundles".
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array, IntArray
from netsharp_engine.numpy_backend.kernels.layout import Layout
from netsharp_engine.numpy_backend.kernels.products import of_columns, product
from netsharp_engine.numpy_backend.kernels.site import Call, Draft, Site, Steps, index

#: Up to this number of cells a full matrix stays in a processor's cache.
DENSE_CELLS = 65_536
#: From this share of edges on a product with the full matrix is faster than gathered edges:
#: forward, in float32 with 64 rows, both took the same time between 3 and 4 % (1024 x 1024 and
#: 4096 x 2048).
DENSE_SHARE = 0.03
INDEX_BYTES = 8


def bind_filtered(site: Site) -> Steps:
    """Choose the form by size and density: small or dense ones as a full matrix."""
    destinations, sources = site.attributes["edges"]
    rows = _places(site.output.layout)[index(destinations)]
    columns = _places(site.sources[0].layout)[index(sources)]
    cells = site.output.value.shape[0] * site.sources[0].value.shape[0]
    return (_as_matrix if _is_dense(cells, len(rows)) else _as_edges)(site, rows, columns)


def _is_dense(cells: int, edges: int) -> bool:
    return cells <= DENSE_CELLS or edges >= DENSE_SHARE * cells


def filtered_bytes(draft: Draft) -> int:
    """Return an upper bound of the bytes of a bound filtered bundle's buffers: nodes without edges
    need less.
    """
    edges, samples = draft.node.parameters[0].size, draft.samples
    targets, sources = draft.node.size, draft.node.inputs[0].size
    if _is_dense(targets * sources, edges):
        numbers, indexes = targets * sources * (2 if draft.learns else 1), edges
        return numbers * draft.width + indexes * INDEX_BYTES
    numbers, indexes = edges * (samples + 1) + min(targets, edges) * samples, 2 * edges
    if draft.learns:
        numbers += min(targets, edges) * samples + edges
        indexes += edges
    if draft.down:
        numbers += edges * (samples + 1) + min(sources, edges) * samples
        indexes += 2 * edges
    return numbers * draft.width + (indexes + 2 * min(targets, edges)) * INDEX_BYTES


def _places(layout: Layout) -> IntArray:
    """Return the memory row of each canonical index."""
    rows = layout.rows
    if rows is None:
        return np.arange(int(np.prod(layout.shape)), dtype=np.intp)
    return np.argsort(rows)


def _as_matrix(site: Site, rows: IntArray, columns: IntArray) -> Steps:
    source, out, slot = site.sources[0], site.output, site.slots[0]
    shape = (out.value.shape[0], source.value.shape[0])
    spots = rows * shape[1] + columns
    matrix = site.scratch(*shape)
    forward = of_columns(site, matrix, source.value, out.value)
    placed: list[Call] = [partial(np.put, matrix, spots, slot.value)]
    backward: list[Call] = []
    if slot.gradient is not None and out.gradient is not None:
        whole = site.scratch(*shape)
        backward.append(product(out.gradient, source.value.T, whole))
        backward.append(partial(np.take, whole, spots, None, slot.gradient, "clip"))
    if source.gradient is not None and out.gradient is not None:
        backward.append(product(matrix.T, out.gradient, source.gradient))
    return Steps(placed + forward, backward)


def _as_edges(site: Site, rows: IntArray, columns: IntArray) -> Steps:
    source, out, slot = site.sources[0], site.output, site.slots[0]
    ahead = _Gathered(site, rows, columns)
    forward = ahead.sums(source.value, slot.value, out.value)
    backward: list[Call] = []
    if slot.gradient is not None and out.gradient is not None:
        backward += ahead.products(out.gradient, slot.gradient)
    if source.gradient is not None and out.gradient is not None:
        back = _Gathered(site, columns, rows)
        backward += back.sums(out.gradient, slot.value, source.gradient)
    return Steps(forward, backward)


class _Gathered:
    """Edges sorted so that owners with equally many of them form one batched product.

    ``owners`` and ``others`` are the rows at both ends of each edge in canonical order.
    """

    def __init__(self, site: Site, owners: IntArray, others: IntArray) -> None:
        self.site = site
        counts = np.bincount(owners)
        self.order = np.lexsort((others, owners, counts[owners]))
        self.others = others[self.order]
        self.rows = owners[self.order][self._firsts(owners[self.order])]
        self.degrees = counts[self.rows]
        self.seen = site.scratch(len(owners), site.samples)
        self.held = site.scratch(len(owners))

    @staticmethod
    def _firsts(values: IntArray) -> IntArray:
        """Return the indices at which a new value begins."""
        return np.flatnonzero(np.diff(values, prepend=-1))

    def _classes(self) -> list[tuple[slice, slice, tuple[int, int]]]:
        """Return rows, edges, and (rows, edges a row) of each class of equal degree."""
        bounds = [*self._firsts(self.degrees).tolist(), len(self.degrees)]
        classes, start = [], 0
        for low, high in pairwise(bounds):
            shape = (high - low, int(self.degrees[low]))
            classes.append((slice(low, high), slice(start, start + shape[0] * shape[1]), shape))
            start += shape[0] * shape[1]
        return classes

    def sums(self, values: Array, weights: Array, target: Array) -> list[Call]:
        """Bind target[owner] = sum over its edges of weight * values[other]; other rows become
        0.
        """
        samples = self.site.samples
        made = self.site.scratch(len(self.rows), samples)
        calls: list[Call] = [
            partial(np.take, values, self.others, 0, self.seen, "clip"),
            partial(np.take, weights, self.order, 0, self.held, "clip"),
        ]
        for rows, edges, (count, degree) in self._classes():
            left = self.held[edges].reshape(count, 1, degree)
            right = self.seen[edges].reshape(count, degree, samples)
            target_rows = made[rows].reshape(count, 1, samples)
            calls += of_columns(self.site, left, right, target_rows)
        if len(self.rows) < len(target):
            calls.append(partial(target.fill, 0))
        return [*calls, partial(target.__setitem__, self.rows, made)]

    def products(self, errors: Array, target: Array) -> list[Call]:
        """Bind target[edge] = sum over samples of the gathered value * errors[owner]."""
        samples = self.site.samples
        near = self.site.scratch(len(self.rows), samples)
        made = self.site.scratch(len(self.others))
        calls: list[Call] = [partial(np.take, errors, self.rows, 0, near, "clip")]
        for rows, edges, (count, degree) in self._classes():
            left = self.seen[edges].reshape(count, degree, samples)
            right = near[rows].reshape(count, samples, 1)
            calls.append(partial(np.matmul, left, right, made[edges].reshape(count, degree, 1)))
        return [*calls, partial(np.take, made, np.argsort(self.order), 0, target, "clip")]
