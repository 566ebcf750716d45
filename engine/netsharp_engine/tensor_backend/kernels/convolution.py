"""Convolution of tensors in any number of dimensions, as products over a walk.

A node's ``axes`` are its image's, slowest first. ``channels_last``: they are channels, width and
height, and are in memory as width, height, channels, weights with their maps after that: CNTK reads
its older layout so, whose shape says that width runs faster than height. Inside, samples run
fastest: results are views. Source: CNTK, ComputationNetworkLib/ConvolutionalNodes.h, and
Math/ConvolveGeometry.h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.geometry import CorneredAxis
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.images import taps_of
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
from netsharp_engine.walks.walk import Walk

if TYPE_CHECKING:
    from netsharp_engine.geometry import Axis

#: The attributes of a convolution.
Attributes = Mapping[str, Any]
#: Numbers of a product that stay in the cache until they are added.
BLOCK = 1 << 16
#: Numbers to which samples are unrolled at a time.
ROOM = 1 << 23
#: The number of maps from which on the gradient's product is faster transposed.
TALL = 32


class _Frame:
    """The walk of a node, and the memory order of its image, places and weights."""

    def __init__(
        self,
        axes: tuple[Axis, ...],
        sharing: tuple[bool, ...],
        maps: tuple[int, ...],
        *,
        turned: bool,
    ) -> None:
        self.axes, self._turned = axes, turned
        self.walk = Walk(axes, sharing, maps)
        walk = self.walk
        self.sizes = tuple(axis.size for axis in walk.axes)
        pairs_of = list(zip(walk.maps, self.axes, strict=True))
        self.places = tuple(maps * axis.count for maps, axis in pairs_of)
        self.shared = not walk.groups
        self._factors = [number for maps, axis in pairs_of for number in (maps, axis.count)]
        self.groups, self.maps = walk.group_count, walk.map_count
        self.positions, self.row_taps, self.stride, self.cells = walk.row_figures
        self.taps = prod(walk.taps)
        self.depth = self.row_taps * self.taps
        self.columns = walk.counts(walk.columns)

    def image(self, values: Array) -> Array:
        """Return images [*sizes, samples], samples innermost."""
        return innermost(shown(values, self.sizes, self._turned))

    def results(self, values: Array) -> Array:
        """Return values at places, as products are made: [groups, positions, maps, columns]."""
        beside = innermost(shown(values, self.places, self._turned))
        order = self._order()
        found = beside.reshape(*self._factors, beside.shape[-1]).transpose(*order, len(order))
        return found.reshape(self.groups, self.positions, self.maps, -1)

    def placed(self, products: Array) -> Array:
        """Return the inverse of ``results``: [samples, *places] as a node has them, without a copy
        where possible.
        """
        order = self._order()
        back = [order.index(d) for d in range(len(order))]
        spread = products.reshape(*(self._factors[d] for d in order), -1)
        found = spread.transpose(*back, len(order)).reshape(*self.places, spread.shape[-1])
        return handed(found, self._turned)

    def images(self, cells: Array) -> Array:
        """Return images [*sizes, samples] as a node has them."""
        return handed(cells, self._turned)

    def by_map(self, values: Array) -> Array:
        """Return values at places as compiled twins take them: [maps, places, samples]."""
        beside = innermost(shown(values, self.places, self._turned))
        rank, samples = 2 * len(self.axes), beside.shape[-1]
        order = (*range(0, rank, 2), *range(1, rank, 2), rank)
        found = beside.reshape(*self._factors, samples).transpose(order)
        return found.reshape(self.maps, -1, samples)

    def spread(self, found: Array) -> Array:
        """Return the inverse of ``by_map``, as a node has values."""
        rank = 2 * len(self.axes)
        factors = *self._factors[::2], *self._factors[1::2], found.shape[-1]
        order = [side + d for d in range(rank // 2) for side in (0, rank // 2)]
        spread = found.reshape(factors).transpose(*order, rank)
        return handed(spread.reshape(*self.places, found.shape[-1]), self._turned)

    def by_tap(self, weights: Array) -> Array:
        """Return weights as compiled twins take them: [taps, maps]."""
        flat = weights.reshape(-1)
        return flat.reshape(-1, self.maps) if self._turned else flat.reshape(self.maps, -1).T

    def from_taps(self, found: Array) -> Array:
        """Return the inverse of ``by_tap``, flat."""
        return (found if self._turned else found.T).reshape(-1)

    def kernels(self, weights: Array) -> Array:
        """Return weights as [groups, 1, maps, depth]."""
        flat = weights.reshape(-1)
        if self._turned:
            flat = flat.reshape(-1, self.maps).T.reshape(-1)
        return self.walk.arranged(flat).reshape(self.groups, 1, self.maps, self.depth)

    def weights(self, kernels: Array) -> Array:
        """Return the inverse of ``kernels``, flat."""
        flat = self.walk.canonical(kernels.reshape(-1))
        if self._turned:
            flat = flat.reshape(self.maps, -1).T.reshape(-1)
        return flat

    def blocks(self, samples: int) -> Iterator[slice]:
        """Return slices of the samples that are unrolled at a time."""
        step = max(1, ROOM // prod(self._unrolled(1)))
        return (slice(at, at + step) for at in range(0, samples, step))

    def windows(self, image: Array) -> Array:
        """Return the windows [groups, positions, depth, columns] of images [*sizes, samples]."""
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
        """Return images [*sizes, samples] from results: the transpose of ``windows``."""
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
        """Return unrolled cells in the shape that the walk takes."""
        walk = self.walk
        groups = walk.counts(walk.groups)
        return unrolled.reshape(*groups, self.cells, *walk.taps, *self.columns, -1)

    def _order(self) -> list[int]:
        """Return the order of (maps, positions) of all dimensions in a product."""
        walk = self.walk
        rows = [] if walk.row is None else [walk.row]
        order = [2 * d + 1 for d in walk.groups + rows]
        order += [2 * d for d in range(len(walk.axes))]
        return order + [2 * d + 1 for d in walk.columns + walk.singles]


@lru_cache(maxsize=256)
def _walking(
    axes: tuple[Axis, ...], sharing: tuple[bool, ...], maps: tuple[int, ...], turned: bool
) -> _Frame:
    return _Frame(axes, sharing, maps, turned=turned)


def _frame(attributes: Attributes) -> _Frame:
    """Return the frame of a convolution, cached: it is immutable."""
    axes, sharing, maps = (tuple(attributes[key]) for key in ("axes", "sharing", "maps"))
    return _walking(axes, sharing, maps, attributes["channels_last"])


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _down(attributes: Attributes, weights: Array, images: Array) -> Array:
    """Return the products of kernels with images."""
    frame = _frame(attributes)
    if frame.shared and compiled(images, len(images)):
        found = compiled_windows.moved(frame.axes, frame.by_tap(weights), frame.image(images))
        if found is not None:
            return frame.spread(found)
    kernels = frame.kernels(weights)
    return _joined(
        [
            frame.placed(kernels @ frame.windows(frame.image(images[rows])))
            for rows in frame.blocks(len(images))
        ]
    )


def _up(attributes: Attributes, weights: Array, results: Array) -> Array:
    """Return the sums that results contribute to images: the transpose of ``_down``."""
    frame = _frame(attributes)
    if frame.shared and compiled(results, len(results)):
        found = compiled_windows.moved_back(
            frame.axes, frame.by_tap(weights), frame.by_map(results)
        )
        if found is not None:
            return frame.images(found)
    kernels = frame.kernels(weights)
    return _joined(
        [
            frame.images(frame.rolled(kernels, frame.results(results[rows])))
            for rows in frame.blocks(len(results))
        ]
    )


def _across(attributes: Attributes, images: Array, results: Array) -> Array:
    """Return the gradient by weights, flat."""
    frame = _frame(attributes)
    if frame.shared and compiled(images, len(images)):
        by_tap = compiled_windows.joined(frame.axes, frame.image(images), frame.by_map(results))
        if by_tap is not None:
            return frame.from_taps(by_tap)
    found = np.zeros((frame.groups, frame.maps, frame.depth), images.dtype)
    for rows in frame.blocks(len(images)):
        windows, by = frame.windows(frame.image(images[rows])), frame.results(results[rows])
        if frame.maps >= TALL:
            found += (windows @ by.swapaxes(2, 3)).sum(axis=1).swapaxes(1, 2)
        else:
            found += (by @ windows.swapaxes(2, 3)).sum(axis=1)
    return frame.weights(found)


class _Parts:
    """A convolution as one for each group of its channels, with kernels that have no gaps."""

    def __init__(self, node: Node) -> None:
        attributes = node.attributes
        self.groups: int = attributes.get("groups", 1)
        self.attributes = attributes
        if self.groups > 1:
            first, *rest = attributes["axes"]
            channels = first.size // self.groups
            maps = (attributes["maps"][0] // self.groups, *attributes["maps"][1:])
            axes = (CorneredAxis(channels, channels, channels), *rest)
            self.attributes = {**attributes, "axes": axes, "maps": maps}
        self._gaps = attributes.get("gaps")
        self._taps = taps_of(self.attributes["axes"], attributes)

    def split(self, values: Array) -> list[Array]:
        """Return values of samples, or of an image, by groups: the parts of the slowest axis."""
        flat = values.reshape(len(values), -1)
        return [values] if self.groups == 1 else np.split(flat, self.groups, axis=1)

    def kernels(self, weights: Array) -> list[Array]:
        """Return weights by groups, 0 in gaps."""
        if self._gaps is None:
            return self.split(weights)
        narrow = weights.reshape(-1, *self._taps)
        wide = tuple(axis.kernel for axis in self.attributes["axes"])
        found = np.zeros((len(narrow), *wide), weights.dtype)
        found[self._places] = narrow
        return self.split(found.reshape(1, -1))

    def gathered(self, parts: list[Array], node: Node) -> Array:
        """Return the gradient by weights from those of the groups, without gaps."""
        flat = _joined(parts)
        if self._gaps is not None:
            wide = tuple(axis.kernel for axis in self.attributes["axes"])
            flat = flat.reshape(-1, *wide)[self._places]
        return flat.reshape(1, *node.inputs[0].shape)

    @property
    def _places(self) -> tuple[slice, ...]:
        return (slice(None), *(slice(None, None, gap) for gap in self._gaps or ()))


def is_plain(node: Node) -> bool:
    """Return whether a convolution has one group and no gaps."""
    return node.attributes.get("groups", 1) == 1 and "gaps" not in node.attributes


def _moved(
    move: Callable[[Attributes, Array, Array], Array], node: Node, weights: Array, values: Array
) -> Array:
    """Return the results of all groups by one of the functions that move kernels, [samples,
    elements].
    """
    parts = _Parts(node)
    found = [
        move(parts.attributes, *both).reshape(len(values), -1)
        for both in zip(parts.kernels(weights), parts.split(values), strict=True)
    ]
    return found[0] if len(found) == 1 else np.concatenate(found, axis=1)


def _convolved(node: Node, sources: Sources) -> Array:
    move = _up if node.attributes["transpose"] else _down
    return _moved(move, node, *sources).reshape(-1, *node.shape)


def _by_weights(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    ends = (sources[1], gradient)
    parts = _Parts(node)
    images, results = reversed(ends) if node.attributes["transpose"] else ends
    both = zip(parts.split(images), parts.split(results), strict=True)
    return parts.gathered([_across(parts.attributes, *one) for one in both], node)


def _by_source(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    move = _down if node.attributes["transpose"] else _up
    return _moved(move, node, sources[0], gradient).reshape(-1, *node.inputs[1].shape)


def rectified(node: Node, weights: Array, biases: Array, images: Array) -> Array | None:
    """Return a convolution, a bias of each map and a rectifier in one, [samples, *node.shape]; None
    without a compiled twin.
    """
    frame = _frame(node.attributes)
    if not frame.shared or not compiled(images, len(images)):
        return None
    weights = frame.by_tap(weights)
    found = compiled_windows.moved(frame.axes, weights, frame.image(images), biases)
    return None if found is None else frame.spread(found).reshape(-1, *node.shape)


def rectified_back(node: Node, value: Array, gradient: Array) -> tuple[Array, Array]:
    """Return the gradient by such a convolution, [samples, *node.shape], and by its biases,
    [maps].
    """
    frame = _frame(node.attributes)
    by, sums = compiled_windows.rectified_back(frame.by_map(value), frame.by_map(gradient))
    return frame.spread(by).reshape(-1, *node.shape), sums


#: By the names of `netsharp_engine.ops.tensors`.
CONVOLUTION = {"Convolution": TensorKernel(_convolved, (_by_weights, _by_source))}
