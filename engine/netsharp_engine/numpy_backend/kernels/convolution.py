"""Numpy kernel of convolutional bundles in any number of dimensions, as products over a walk.

Source: the Net# guide, "Convolutional bundles".
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.layout import Layout
from netsharp_engine.numpy_backend.kernels.products import compiled, of_columns, product, takes
from netsharp_engine.numpy_backend.kernels.site import Call, Draft, Site, Steps, ones
from netsharp_engine.walks.walk import Walk

BLOCK = 1 << 16  # numbers of a product of numpy's that stay in the cache until they are added
TALL = 32  # from this number of maps on, other ways to multiply the gradient are faster


def walk(attributes: Any) -> Walk:
    """Return the walk of a convolution's attributes."""
    return Walk(tuple(attributes["axes"]), tuple(attributes["sharing"]), tuple(attributes["maps"]))


def layout_of(walk: Walk) -> Layout:
    """Return the memory order of the matrix product's result, over (map, position) factors."""
    pairs = zip(walk.maps, walk.axes, strict=True)
    factors = [n for maps, axis in pairs for n in (maps, axis.count)]
    rows = [] if walk.row is None else [walk.row]
    order = [2 * d + 1 for d in walk.groups + rows]
    order += [2 * d for d in range(len(walk.axes))]
    order += [2 * d + 1 for d in walk.columns + walk.singles]
    return Layout(tuple(factors), tuple(order))


def bind_convolve(site: Site) -> Steps:
    """Unroll, multiply, add each kernel's bias; backward by the transposed products."""
    return _Convolution(site, walk(site.attributes)).steps()


class Figures:
    """The extents of a convolution's buffers for ``samples`` samples, without memory."""

    def __init__(self, walked: Walk, samples: int) -> None:
        self.walk = walked
        self.groups, self.maps = walked.group_count, walked.map_count
        self.positions, self.row_taps, self.stride, self.cells = walked.row_figures
        self.taps = prod(walked.taps)
        self.depth = self.row_taps * self.taps
        self.columns = prod(walked.counts(walked.columns)) * samples
        self.result = (self.groups, self.positions, self.maps, self.columns)
        self.unrolled = (self.groups, self.cells, self.taps, self.columns)
        self.biased = (self.groups, self.positions, self.maps)
        kernel = (self.depth, self.maps) if self.maps >= TALL else (self.maps, self.depth)
        self.kernels = (self.groups, 1, *kernel)
        size = self.groups * self.maps * self.depth
        self.products = (self.groups, self._block(size), *kernel)
        size = self.groups * self.depth * self.columns
        self.shares = (self.groups, self._block(size), self.depth, self.columns)

    def _block(self, size: int) -> int:
        """Return the number of positions to multiply at once, when each makes ``size`` numbers."""
        return min(self.positions, max(1, BLOCK // size))

    @property
    def overlaps(self) -> bool:
        """Return whether the windows of two positions share cells, so that products must be
        added.
        """
        return not self.row_taps == self.positions == 1

    def numbers(self, direct: bool, learns: bool, down: bool) -> int:
        """Return the number of elements of the buffers."""
        own = 0 if direct else prod(self.result)
        count = prod(self.unrolled) + own
        if learns:
            count += own + self.columns + prod(self.biased)
        if learns and not takes(self.depth):
            count += prod(self.products)
            count += prod(self.kernels) if self.products[1] < self.positions else 0
        if down:
            count += prod(self.unrolled)
            count += prod(self.shares) if self.overlaps and not takes(self.columns) else 0
        return count


def convolve_bytes(draft: Draft) -> int:
    """Return the bytes of a bound convolution's buffers."""
    walked = walk(draft.node.attributes)
    direct = draft.output.same(layout_of(walked))
    figures = Figures(walked, draft.samples)
    return figures.numbers(direct, draft.learns, draft.down) * draft.width


class _Convolution(Figures):
    """The buffers of one bound convolution."""

    def __init__(self, site: Site, walked: Walk) -> None:
        super().__init__(walked, site.samples)
        self.site = site
        self.direct = site.output.layout.same(layout_of(walked))
        self.value = self._result(site.output.value)
        self.gradient = None
        if site.output.gradient is not None:
            self.gradient = self._result(site.output.gradient)

    def _result(self, array: Array) -> Array:
        return array.reshape(self.result) if self.direct else self.site.scratch(*self.result)

    def _windows(self, unrolled: Array) -> Array:
        """Return overlapping windows [groups, positions, row taps * taps, columns]."""
        group, cell, tap, item = unrolled.strides
        return np.lib.stride_tricks.as_strided(
            unrolled,
            (self.groups, self.positions, self.depth, self.columns),
            (group, cell * self.stride, tap, item),
        )

    def _spread(self, unrolled: Array) -> Array:
        walked = self.walk
        return unrolled.reshape(
            *walked.counts(walked.groups),
            self.cells,
            *walked.taps,
            *walked.counts(walked.columns),
            self.site.samples,
        )

    def _split(self, vector: Array) -> tuple[Array, Array]:
        count = self.groups * self.maps * self.depth
        weights = vector[:count].reshape(self.groups, 1, self.maps, self.depth)
        return weights, vector[count:].reshape(self.groups, 1, self.maps, 1)

    def steps(self) -> Steps:
        site, source = self.site, self.site.sources[0]
        shape = tuple(axis.size for axis in self.walk.axes)
        unrolled = self.site.scratch(*self.unrolled)
        windows = self._windows(unrolled)
        weights, biases = self._split(site.slots[0].value)
        views = self.walk.unroll_views(source.values(shape), self._spread(unrolled))
        forward: list[Call] = [partial(np.copyto, place, cells) for cells, place in views]
        forward += of_columns(site, weights, windows, self.value, biases)
        backward: list[Call] = []
        if not self.direct:
            forward.append(self._copy_out(site.output.value, self.value, outwards=True))
        if site.output.gradient is None or self.gradient is None:
            return Steps(forward, backward)
        if not self.direct:
            backward.append(self._copy_out(site.output.gradient, self.gradient, outwards=False))
        if site.slots[0].gradient is not None:
            backward += self._weight_gradient(windows, self.gradient, site.slots[0].gradient)
        if source.gradient is not None:
            backward += self._source_gradient(weights, self.gradient)
        return Steps(forward, backward)

    def _copy_out(self, canonical: Array, own: Array, outwards: bool) -> Call:
        mine = layout_of(self.walk)
        shown = mine.view(own.reshape(-1, self.site.samples), mine.shape)
        theirs = self.site.output.layout.view(canonical, mine.shape)
        assert shown is not None
        assert theirs is not None
        return partial(np.copyto, theirs, shown) if outwards else partial(np.copyto, shown, theirs)

    def _weight_gradient(self, windows: Array, gradient: Array, target: Array) -> list[Call]:
        weights, biases = self._split(target)
        column = ones(self.site, self.columns)
        biased = self.site.scratch(*self.biased)
        sums = partial(np.matmul, gradient, column, biased)
        total = partial(np.add.reduce, biased, 1, None, biases[:, 0, :, 0])
        turned = windows.transpose(0, 1, 3, 2)
        if takes(self.depth):
            return [sums, total, compiled(gradient, turned, weights, lanes=self.maps < TALL)]
        left, right = gradient, turned
        if self.maps >= TALL:
            left, right = windows, gradient.transpose(0, 1, 3, 2)
            weights = weights.transpose(0, 1, 3, 2)
        parts = self.site.scratch(*self.products)
        spare = self.site.scratch(*self.kernels) if parts.shape[1] < self.positions else None
        calls: list[Call] = [sums, total]
        for rows in self._blocks(parts.shape[1]):
            part = parts[:, : rows.stop - rows.start]
            calls.append(partial(np.matmul, left[:, rows], right[:, rows], part))
            if rows.start == 0 or spare is None:
                calls.append(partial(np.add.reduce, part, 1, None, weights[:, 0]))
            else:
                calls.append(partial(np.add.reduce, part, 1, None, spare[:, 0]))
                calls.append(partial(np.add, weights, spare, weights))
        return calls

    def _blocks(self, count: int) -> list[slice]:
        return [
            slice(start, min(start + count, self.positions))
            for start in range(0, self.positions, count)
        ]

    def _source_gradient(self, weights: Array, gradient: Array) -> list[Call]:
        source = self.site.sources[0]
        assert source.gradient is not None
        unrolled = self.site.scratch(*self.unrolled)
        calls: list[Call] = []
        turned = weights.transpose(0, 1, 3, 2)
        if self.overlaps:
            calls += self._overlapping(turned, gradient, unrolled)
        else:
            calls.append(product(turned, gradient, unrolled))
        calls.append(partial(source.gradient.fill, 0))
        shape = tuple(axis.size for axis in self.walk.axes)
        views = self.walk.unroll_views(source.gradients(shape), self._spread(unrolled))
        calls.extend(partial(np.add, cells, place, cells) for cells, place in views)
        return calls

    def _overlapping(self, turned: Array, gradient: Array, unrolled: Array) -> list[Call]:
        """Add each position's product to its window of rows, some positions at a time."""
        if takes(self.columns):
            windows = self._windows(unrolled)
            return [partial(unrolled.fill, 0), compiled(turned, gradient, windows, adds=True)]
        parts = self.site.scratch(*self.shares)
        windows = self._windows(unrolled)
        calls: list[Call] = [partial(unrolled.fill, 0)]
        for rows in self._blocks(parts.shape[1]):
            count = rows.stop - rows.start
            part = parts[:, :count]
            calls.append(partial(np.matmul, turned, gradient[:, rows], part))
            if count == 1:
                window = windows[:, rows]
                calls.append(partial(np.add, window, part, window))
                continue
            low, reach = rows.start * self.stride, (count - 1) * self.stride + 1
            for tap in range(self.row_taps):
                cells = unrolled[:, low + tap : low + tap + reach : self.stride]
                share = part[:, :, tap * self.taps : (tap + 1) * self.taps]
                calls.append(partial(np.add, cells, share, cells))
        return calls
