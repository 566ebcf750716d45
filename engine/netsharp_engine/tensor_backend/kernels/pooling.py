"""Pooling of tensors in any number of dimensions: the largest or the mean of windows' real cells.

Images lie as those of ``convolution``; nothing here knows weights. Source: CNTK,
ComputationNetworkLib/ConvolutionalNodes.h.
"""

from __future__ import annotations

from functools import reduce
from math import prod

import numpy as np

from netsharp_engine.nodes import Node
from netsharp_engine.tensor_backend.kernels import compiled_windows
from netsharp_engine.tensor_backend.kernels.compiled_windows import compiled
from netsharp_engine.tensor_backend.kernels.rows import (
    Array,
    Sources,
    TensorKernel,
    handed,
    innermost,
    shown,
)
from netsharp_engine.walks.taps import pairs, real_cells


class _Pool:
    """The windows of a pooling node over its images and places, both [..., samples]."""

    def __init__(self, node: Node) -> None:
        self.axes = node.attributes["axes"]
        self._turned: bool = node.attributes["channels_last"]
        self.sizes = tuple(axis.size for axis in self.axes)
        self.counts = tuple(axis.count for axis in self.axes)
        #: Whether cells outside of the image count among those of a mean.
        self.padded: bool = node.attributes.get("include_pads", False)
        self.apart = all(axis.stride >= axis.kernel for axis in self.axes)

    def images(self, values: Array) -> Array:
        """Return values of the source as [*sizes, samples]."""
        return innermost(shown(values, self.sizes, self._turned))

    def places(self, values: Array) -> Array:
        """Return values of the node as [*counts, samples]."""
        return innermost(shown(values, self.counts, self._turned))

    def handed(self, found: Array, shape: tuple[int, ...]) -> Array:
        """Return results [*counts, samples] or [*sizes, samples] as the values of a node."""
        return handed(found, self._turned).reshape(-1, *shape)


def _most(node: Node, sources: Sources) -> Array:
    """Return the largest real cell of each window."""
    pool = _Pool(node)
    image = pool.images(sources[0])
    way = _compiled(pool, image, means=False)
    if way is not None:
        found = np.empty((*pool.counts, image.shape[-1]), image.dtype)
        compiled_windows.pooled(way, image, found)
        return pool.handed(found, node.shape)
    best = np.full((*pool.counts, image.shape[-1]), -np.inf, image.dtype)
    for places, cells in pairs(pool.axes):
        np.maximum(best[places], image[cells], out=best[places])
    return pool.handed(best, node.shape)


def _most_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    """Return the gradient of a maximum: to the first of equal cells; with channels last to all of
    them.
    """
    pool = _Pool(node)
    image, best, by = pool.images(sources[0]), pool.places(value), pool.places(gradient)
    found, every = np.zeros(image.shape, image.dtype), node.attributes["channels_last"]
    way = _compiled(pool, image, means=False)
    if way is not None:
        ties = every, pool.apart
        compiled_windows.pooled_back(way, ties, (image, best), by, found)
        return pool.handed(found, node.inputs[0].shape)
    left = np.ones(best.shape, bool)
    for places, cells in pairs(pool.axes):
        hit = best[places] == image[cells]
        if not every:
            hit &= left[places]
            left[places] ^= hit
        if pool.apart:
            np.copyto(found[cells], by[places], where=hit)
        else:
            found[cells] += np.where(hit, by[places], by.dtype.type(0))
    return pool.handed(found, node.inputs[0].shape)


def _mean(node: Node, sources: Sources) -> Array:
    """Return the mean of the real cells of each window."""
    pool = _Pool(node)
    image = pool.images(sources[0])
    found = np.zeros((*pool.counts, image.shape[-1]), image.dtype)
    way = _compiled(pool, image, means=True)
    if way is not None:
        compiled_windows.pooled(way, image, found)
        return pool.handed(found, node.shape)
    for places, cells in pairs(pool.axes):
        found[places] += image[cells]
    return pool.handed(found / _cells(pool, image), node.shape)


def _mean_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    pool = _Pool(node)
    by = pool.places(gradient)
    found = np.zeros((*pool.sizes, by.shape[-1]), by.dtype)
    way = _compiled(pool, by, means=True)
    if way is not None:
        compiled_windows.pooled_back(way, (True, pool.apart), None, by, found)
        return pool.handed(found, node.inputs[0].shape)
    share = by / _cells(pool, by)
    for places, cells in pairs(pool.axes):
        if pool.apart:
            found[cells] = share[places]
        else:
            found[cells] += share[places]
    return pool.handed(found, node.inputs[0].shape)


def _compiled(pool: _Pool, like: Array, means: bool) -> compiled_windows.Pooling | None:
    """Return the plan of a compiled twin, where there is one."""
    if not compiled(like, like.shape[-1]) or (means and pool.padded):
        return None
    return compiled_windows.pooling(pool.axes, means)


def _cells(pool: _Pool, like: Array) -> Array:
    """Return the number of cells of each window, real ones or all, [*counts, 1]."""
    if pool.padded:
        whole = prod(axis.kernel for axis in pool.axes)
        return np.full((*pool.counts, 1), whole, like.dtype)
    lengths = [np.asarray(cells, like.dtype) for cells in real_cells(pool.axes)]
    found: Array = reduce(np.multiply.outer, lengths)
    return found[..., None]


def _pooled(node: Node, sources: Sources) -> Array:
    return (_most if node.attributes["pool"] == "max" else _mean)(node, sources)


def _pooled_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    back = _most_back if node.attributes["pool"] == "max" else _mean_back
    return back(node, sources, value, gradient)


_POOLING = TensorKernel(_pooled, (_pooled_back,))
#: By the names of `netsharp_engine.ops.tensors`.
POOLING = dict.fromkeys(("Pooling", "MaxPooling", "AveragePooling"), _POOLING)
