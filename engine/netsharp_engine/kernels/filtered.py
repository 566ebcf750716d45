"""Numpy kernels of filtered bundles: a matrix with zeros, or rows of edges.

The parameter stays the list of edges in canonical order; only the way of multiplying
differs.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from netsharp_engine.kernels.arrays import Array, IntArray
from netsharp_engine.kernels.layout import Layout
from netsharp_engine.kernels.site import Call, Site, Steps, index

DENSE_CELLS = 65_536
DENSE_SHARE = 0.05


def bind_filtered(site: Site) -> Steps:
    """Choose the form by size and density: small or dense ones as a full matrix."""
    destinations, sources = site.attributes["edges"]
    rows = _places(site.output.layout)[index(destinations)]
    columns = _places(site.sources[0].layout)[index(sources)]
    cells = site.output.value.shape[0] * site.sources[0].value.shape[0]
    if cells <= DENSE_CELLS or len(rows) >= DENSE_SHARE * cells:
        return _as_matrix(site, rows, columns)
    return _as_edges(site, rows, columns)


def _places(layout: Layout) -> IntArray:
    """The memory row of each canonical index."""
    rows = layout.rows
    if rows is None:
        return np.arange(int(np.prod(layout.shape)), dtype=np.intp)
    return np.argsort(rows)


def _as_matrix(site: Site, rows: IntArray, columns: IntArray) -> Steps:
    source, out, slot = site.sources[0], site.output, site.slots[0]
    shape = (out.value.shape[0], source.value.shape[0])
    spots = rows * shape[1] + columns
    matrix = site.scratch(*shape)
    forward: list[Call] = [
        partial(np.put, matrix, spots, slot.value),
        partial(np.matmul, matrix, source.value, out.value),
    ]
    backward: list[Call] = []
    if slot.gradient is not None:
        whole = site.scratch(*shape)
        backward.append(partial(np.matmul, out.gradient, source.value.T, whole))
        backward.append(partial(np.take, whole, spots, None, slot.gradient, "clip"))
    if source.gradient is not None:
        backward.append(partial(np.matmul, matrix.T, out.gradient, source.gradient))
    return Steps(forward, backward)


def _as_edges(site: Site, rows: IntArray, columns: IntArray) -> Steps:
    source, out, slot = site.sources[0], site.output, site.slots[0]
    seen = site.scratch(len(rows), site.samples)
    work = site.scratch(len(rows), site.samples)
    weights = slot.value[:, None]
    forward: list[Call] = [
        partial(np.take, source.value, columns, 0, seen, "clip"),
        partial(np.multiply, seen, weights, work),
        *_gather_sums(site, work, rows, out.value),
    ]
    backward: list[Call] = []
    if not site.training:
        return Steps(forward, backward)
    backward.append(partial(np.take, out.gradient, rows, 0, work, "clip"))
    if slot.gradient is not None:
        backward.append(partial(np.multiply, seen, work, seen))
        backward.append(partial(np.add.reduce, seen, 1, None, slot.gradient))
    if source.gradient is not None:
        turn = np.argsort(columns, kind="stable")
        backward.append(partial(np.multiply, work, weights, work))
        backward.append(partial(np.take, work, turn, 0, seen, "clip"))
        backward += _gather_sums(site, seen, columns[turn], source.gradient)
    return Steps(forward, backward)


def _gather_sums(site: Site, edges: Array, owners: IntArray, target: Array) -> list[Call]:
    """Add runs of equal owner into the owner's row of ``target``; others become 0."""
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    sums = site.scratch(len(starts), site.samples)
    add = partial(np.add.reduceat, edges, starts, 0, None, sums)
    return [add, partial(target.fill, 0), partial(target.__setitem__, owners[starts], sums)]
