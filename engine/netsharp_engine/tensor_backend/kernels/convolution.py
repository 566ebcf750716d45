"""Convolution and pooling of tensors in any number of dimensions, as products over a walk.

A node's ``axes`` are its image's, slowest first.  ``channels_last``: they are channels, width and
height, and lie in memory as width, height, channels, weights with their maps behind that: the
original reads its older layout so, whose shape says that width runs faster than height.
Inside, samples run fastest: what is handed on is a view.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from math import prod

import numpy as np

from netsharp_engine.nodes import Node
from netsharp_engine.tensor_backend.kernels.rows import Array, Sources, TensorKernel
from netsharp_engine.walks.taps import pairs, real_cells
from netsharp_engine.walks.walk import Walk

#: Numbers of a product that stay in the cache until they are added.
BLOCK = 1 << 16
#: Numbers to which samples are unrolled at a time.
ROOM = 1 << 23
#: From so many maps on, the gradient's product is faster on its side.
TALL = 32


class _Frame:
    """The walk of a node, and how its image, places and weights lie in memory."""

    def __init__(self, node: Node) -> None:
        attributes = node.attributes
        self.axes = attributes["axes"]
        self.walk = Walk(self.axes, attributes["sharing"], attributes["maps"])
        self._turned: bool = attributes["channels_last"]
        walk = self.walk
        self.sizes = tuple(axis.size for axis in walk.axes)
        pairs_of = list(zip(walk.maps, self.axes, strict=True))
        self.places = tuple(maps * axis.count for maps, axis in pairs_of)
        self._factors = [number for maps, axis in pairs_of for number in (maps, axis.count)]
        self.groups, self.maps = walk.group_count, walk.map_count
        self.positions, self.row_taps, self.stride, self.cells = walk.row_figures
        self.taps = prod(walk.taps)
        self.depth = self.row_taps * self.taps
        self.columns = walk.counts(walk.columns)

    def image(self, values: Array) -> Array:
        """Images [*sizes, samples], samples innermost."""
        return _innermost(_shown(values, self.sizes, self._turned))

    def results(self, values: Array) -> Array:
        """Values at places, as products are made: [groups, positions, maps, columns]."""
        shown = _innermost(_shown(values, self.places, self._turned))
        order = self._order()
        found = shown.reshape(*self._factors, shown.shape[-1]).transpose(*order, len(order))
        return found.reshape(self.groups, self.positions, self.maps, -1)

    def placed(self, products: Array) -> Array:
        """The inverse: [samples, *places] as a node has them, without a copy where there can."""
        order = self._order()
        back = [order.index(d) for d in range(len(order))]
        spread = products.reshape(*(self._factors[d] for d in order), -1)
        found = spread.transpose(*back, len(order)).reshape(*self.places, spread.shape[-1])
        return _handed(found, self._turned)

    def images(self, cells: Array) -> Array:
        """Images [*sizes, samples] as a node has them."""
        return _handed(cells, self._turned)

    def kernels(self, weights: Array) -> Array:
        """Weights as [groups, 1, maps, depth]."""
        flat = weights.reshape(-1)
        if self._turned:
            flat = flat.reshape(-1, self.maps).T.reshape(-1)
        return self.walk.arranged(flat).reshape(self.groups, 1, self.maps, self.depth)

    def weights(self, kernels: Array, node: Node) -> Array:
        """The inverse, as a parameter of all samples."""
        flat = self.walk.canonical(kernels.reshape(-1))
        if self._turned:
            flat = flat.reshape(self.maps, -1).T.reshape(-1)
        return flat.reshape(1, *node.inputs[0].shape)

    def blocks(self, samples: int) -> Iterator[slice]:
        """As many samples as are unrolled at a time."""
        step = max(1, ROOM // prod(self._unrolled(1)))
        return (slice(at, at + step) for at in range(0, samples, step))

    def windows(self, image: Array) -> Array:
        """The windows [groups, positions, depth, columns] of images [*sizes, samples]."""
        outside = (axis.first < 0 or axis.first + axis.covered > axis.size for axis in self.axes)
        make = np.zeros if any(outside) else np.empty
        found = make(self._unrolled(image.shape[-1]), image.dtype)
        for seen, place in self.walk.unroll_views(image, self._spread(found)):
            np.copyto(place, seen)
        group, cell, tap, item = found.strides
        return np.lib.stride_tricks.as_strided(
            found,
            (self.groups, self.positions, self.depth, found.shape[-1]),
            (group, cell * self.stride, tap, item),
        )

    def rolled(self, kernels: Array, results: Array) -> Array:
        """Images [*sizes, samples] from results, as windows give them back."""
        samples = results.shape[-1] // prod(self.columns)
        found = np.zeros(self._unrolled(samples), results.dtype)
        flipped = kernels.swapaxes(2, 3)
        step = min(self.positions, max(1, BLOCK // (self.depth * found.shape[-1])))
        for start in range(0, self.positions, step):
            stop = min(start + step, self.positions)
            part = flipped @ results[:, start:stop]
            low, reach = start * self.stride, (stop - start - 1) * self.stride + 1
            for tap in range(self.row_taps):
                cells = found[:, low + tap : low + tap + reach : self.stride]
                cells += part[:, :, tap * self.taps : (tap + 1) * self.taps]
        image = np.zeros((*self.sizes, samples), results.dtype)
        for seen, place in self.walk.unroll_views(image, self._spread(found)):
            seen += place
        return image

    def _unrolled(self, samples: int) -> tuple[int, ...]:
        return self.groups, self.cells, self.taps, prod(self.columns) * samples

    def _spread(self, unrolled: Array) -> Array:
        """Unrolled cells as the walk takes them."""
        walk = self.walk
        groups = walk.counts(walk.groups)
        return unrolled.reshape(*groups, self.cells, *walk.taps, *self.columns, -1)

    def _order(self) -> list[int]:
        """The order of (maps, positions) of all dimensions in a product."""
        walk = self.walk
        rows = [] if walk.row is None else [walk.row]
        order = [2 * d + 1 for d in walk.groups + rows]
        order += [2 * d for d in range(len(walk.axes))]
        return order + [2 * d + 1 for d in walk.columns + walk.singles]


def _shown(values: Array, sizes: tuple[int, ...], turned: bool) -> Array:
    """The values of a node as [samples, *sizes]."""
    if not turned:
        return values.reshape(len(values), *sizes)
    return np.moveaxis(values.reshape(len(values), *sizes[1:], sizes[0]), -1, 1)


def _innermost(values: Array) -> Array:
    """[samples, ...] as [..., samples], which lie side by side."""
    found = np.moveaxis(values, 0, -1)
    beside = found.strides[-1] == found.itemsize
    return found if beside else np.ascontiguousarray(found)


def _handed(found: Array, turned: bool) -> Array:
    """[..., samples] as the values of a node, one row a sample."""
    values = np.moveaxis(found, -1, 0)
    return np.moveaxis(values, 1, -1) if turned else values


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _down(node: Node, weights: Array, images: Array) -> Array:
    """What kernels find in images."""
    frame = _Frame(node)
    kernels = frame.kernels(weights)
    return _joined(
        [
            frame.placed(kernels @ frame.windows(frame.image(images[rows])))
            for rows in frame.blocks(len(images))
        ]
    )


def _up(node: Node, weights: Array, results: Array) -> Array:
    """What results give back to images."""
    frame = _Frame(node)
    kernels = frame.kernels(weights)
    return _joined(
        [
            frame.images(frame.rolled(kernels, frame.results(results[rows])))
            for rows in frame.blocks(len(results))
        ]
    )


def _across(node: Node, images: Array, results: Array) -> Array:
    """The gradient by weights."""
    frame = _Frame(node)
    found = np.zeros((frame.groups, frame.maps, frame.depth), images.dtype)
    for rows in frame.blocks(len(images)):
        windows, by = frame.windows(frame.image(images[rows])), frame.results(results[rows])
        if frame.maps >= TALL:
            found += (windows @ by.swapaxes(2, 3)).sum(axis=1).swapaxes(1, 2)
        else:
            found += (by @ windows.swapaxes(2, 3)).sum(axis=1)
    return frame.weights(found, node)


def _convolved(node: Node, sources: Sources) -> Array:
    move = _up if node.attributes["transpose"] else _down
    return move(node, *sources).reshape(-1, *node.shape)


def _by_weights(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    ends = (sources[1], gradient)
    return _across(node, *(reversed(ends) if node.attributes["transpose"] else ends))


def _by_source(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    move = _down if node.attributes["transpose"] else _up
    return move(node, sources[0], gradient).reshape(-1, *node.inputs[1].shape)


class _Pool:
    """The windows of a pooling node over its images and places, both [..., samples]."""

    def __init__(self, node: Node) -> None:
        self.axes = node.attributes["axes"]
        self._turned: bool = node.attributes["channels_last"]
        self.sizes = tuple(axis.size for axis in self.axes)
        self.counts = tuple(axis.count for axis in self.axes)
        self.apart = all(axis.stride >= axis.kernel for axis in self.axes)

    def images(self, values: Array) -> Array:
        """Values of the source."""
        return _innermost(_shown(values, self.sizes, self._turned))

    def places(self, values: Array) -> Array:
        """Values of the node."""
        return _innermost(_shown(values, self.counts, self._turned))

    def handed(self, found: Array, shape: tuple[int, ...]) -> Array:
        """What was found as the values of a node."""
        return _handed(found, self._turned).reshape(-1, *shape)


def _most(node: Node, sources: Sources) -> Array:
    """The largest real cell of each window."""
    pool = _Pool(node)
    image = pool.images(sources[0])
    best = np.full((*pool.counts, image.shape[-1]), -np.inf, image.dtype)
    for places, cells in pairs(pool.axes):
        np.maximum(best[places], image[cells], out=best[places])
    return pool.handed(best, node.shape)


def _most_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    """The gradient goes to the first of equal cells; with channels last to all of them."""
    pool = _Pool(node)
    image, best, by = pool.images(sources[0]), pool.places(value), pool.places(gradient)
    found = np.zeros(image.shape, image.dtype)
    left = np.ones(best.shape, bool)
    for places, cells in pairs(pool.axes):
        hit = best[places] == image[cells]
        if not node.attributes["channels_last"]:
            hit &= left[places]
            left[places] ^= hit
        if pool.apart:
            np.multiply(by[places], hit, out=found[cells])
        else:
            found[cells] += by[places] * hit
    return pool.handed(found, node.inputs[0].shape)


def _mean(node: Node, sources: Sources) -> Array:
    """The mean of the real cells of each window."""
    pool = _Pool(node)
    image = pool.images(sources[0])
    found = np.zeros((*pool.counts, image.shape[-1]), image.dtype)
    for places, cells in pairs(pool.axes):
        found[places] += image[cells]
    return pool.handed(found / _cells(pool, image), node.shape)


def _mean_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    pool = _Pool(node)
    by = pool.places(gradient)
    share = by / _cells(pool, by)
    found = np.zeros((*pool.sizes, by.shape[-1]), by.dtype)
    for places, cells in pairs(pool.axes):
        if pool.apart:
            found[cells] = share[places]
        else:
            found[cells] += share[places]
    return pool.handed(found, node.inputs[0].shape)


def _cells(pool: _Pool, like: Array) -> Array:
    """How many real cells each window has, [*counts, 1]."""
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
WINDOWED = {
    "Convolution": TensorKernel(_convolved, (_by_weights, _by_source)),
    "Pooling": _POOLING,
    "MaxPooling": _POOLING,
    "AveragePooling": _POOLING,
}
