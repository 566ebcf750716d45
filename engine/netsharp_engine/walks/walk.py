"""A kernel's walk over its source as products of matrices, in any number of dimensions.

Samples are innermost. One shared dimension, the row, is never unrolled: the taps of all others are,
into ``unrolled`` [groups, rows, taps, columns], whose windows of consecutive rows are overlapping
views that a matrix product reads in place. Unshared dimensions become groups with a matrix each.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine.geometry import Axis
from netsharp_engine.walks.taps import along

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.intp]


class Walk:
    """The part that each dimension plays: group, row, column, or single (one position)."""

    def __init__(
        self, axes: tuple[Axis, ...], sharing: tuple[bool, ...], maps: tuple[int, ...]
    ) -> None:
        self.axes, self.sharing, self.maps = axes, sharing, maps
        several = [d for d, axis in enumerate(axes) if axis.count > 1]
        self.groups = [d for d in several if not sharing[d]]
        free = [d for d in several if sharing[d]]
        self.row = free[0] if len(free) > 1 else None
        self.columns = free[1:] if len(free) > 1 else free
        self.singles = [d for d, axis in enumerate(axes) if axis.count == 1]
        self.unrolled = [d for d in range(len(axes)) if d != self.row]

    def counts(self, dimensions: list[int]) -> tuple[int, ...]:
        """Return the positions along these dimensions."""
        return tuple(self.axes[d].count for d in dimensions)

    @property
    def group_count(self) -> int:
        """Return the number of separate matrices."""
        return prod(self.counts(self.groups))

    @property
    def map_count(self) -> int:
        """Return the number of kernels of each group."""
        return prod(self.maps)

    @property
    def taps(self) -> tuple[int, ...]:
        """Return the kernel extents of the unrolled dimensions."""
        return tuple(self.axes[d].kernel for d in self.unrolled)

    @property
    def row_figures(self) -> tuple[int, int, int, int]:
        """Return positions, taps, stride and cells read of the row dimension; 1s without one."""
        if self.row is None:
            return 1, 1, 1, 1
        axis = self.axes[self.row]
        return axis.count, axis.kernel, axis.stride, axis.covered

    def weight_order(self) -> IntArray:
        """Return the canonical index per memory position: [groups, maps, taps], then [groups,
        maps].
        """
        cells = prod(axis.kernel for axis in self.axes)
        kernels = self.map_count * self.group_count
        grid = np.arange(kernels * (cells + 1), dtype=np.intp).reshape(kernels, cells + 1)
        radix, outer = self._radix(), self._outer()
        return np.concatenate((self.arranged(grid[:, :-1]), turned(grid[:, -1], radix, outer)))

    def arranged(self, kernels: Array) -> Array:
        """Return kernels without biases in the order [groups, maps, row taps, unrolled taps],
        flat.
        """
        extents = self._radix() + [axis.kernel for axis in self.axes]
        return turned(kernels, extents, self._outer() + self._inner())

    def canonical(self, arranged: Array) -> Array:
        """Return the inverse of `arranged`, flat."""
        extents = self._radix() + [axis.kernel for axis in self.axes]
        order = self._outer() + self._inner()
        back = [order.index(d) for d in range(len(order))]
        return turned(arranged, [extents[d] for d in order], back)

    def _radix(self) -> list[int]:
        """Return, for each dimension, its maps, and its positions where these share no kernel."""
        found: list[int] = []
        for d, axis in enumerate(self.axes):
            found += [self.maps[d], 1 if self.sharing[d] else axis.count]
        return found

    def _outer(self) -> list[int]:
        rank = len(self.axes)
        outer = [2 * d + 1 for d in self.groups] + [2 * d for d in range(rank)]
        return outer + [2 * d + 1 for d in range(rank) if d not in self.groups]

    def _inner(self) -> list[int]:
        rows = [] if self.row is None else [self.row]
        return [2 * len(self.axes) + d for d in rows + self.unrolled]

    def walked_cells(self) -> int:
        """Return the number of cells of the kernel that are copied one by one."""
        return prod(self.axes[d].kernel for d in self.groups + self.columns)

    def unroll_views(self, source: Array, unrolled: Array) -> Iterator[tuple[Array, Array]]:
        """Yield pairs of equal shape: cells of the source, and their places in ``unrolled``.

        ``source`` is [*input shape, samples]; ``unrolled`` is [*group positions, row cells,
        *unrolled taps, *column positions, samples].
        """
        walked = self.groups + self.columns
        fixed = {d: self._fixed(d) for d in self.singles}
        if self.row is not None:
            fixed[self.row] = self._row_cells()
        rows = [] if self.row is None else [self.row]
        order = [*self.groups, *rows, *self.singles, *self.columns, len(self.axes)]
        for taps in product(*(range(self.axes[d].kernel) for d in walked)):
            chosen = dict(zip(walked, taps, strict=True))
            found = {d: along(self.axes[d], tap) for d, tap in chosen.items()}
            real = {d: pair for d, pair in found.items() if pair is not None}
            if len(real) < len(found):
                continue
            cells = tuple((real.get(d) or fixed[d])[1] for d in range(len(self.axes)))
            place: list[Any] = [real[d][0] for d in self.groups]
            place.append(slice(0, 1) if self.row is None else fixed[self.row][0])
            place += [chosen[d] if d in chosen else fixed[d][0] for d in self.unrolled]
            place += [real[d][0] for d in self.columns]
            seen = source[cells].transpose(order)
            if self.row is None:
                seen = np.expand_dims(seen, len(self.groups))
            yield seen, unrolled[tuple(place)]

    def _fixed(self, d: int) -> tuple[slice, slice]:
        """Return taps on real cells of a dimension with one position, and these cells."""
        cells = self.axes[d].cells(0)
        first = self.axes[d].first
        return slice(cells.start - first, cells.stop - first), slice(cells.start, cells.stop)

    def _row_cells(self) -> tuple[slice, slice]:
        """Return real cells among those that the row's kernels read, as places and as cells."""
        assert self.row is not None
        axis = self.axes[self.row]
        low, high = max(axis.first, 0), min(axis.first + axis.covered, axis.size)
        return slice(low - axis.first, high - axis.first), slice(low, high)


def turned(array: Array, extents: list[int], order: list[int]) -> Array:
    """Return an array read as ``extents`` with its dimensions in another order, flat; those of 1
    are left out, since numpy limits the number of dimensions.
    """
    real = [d for d, extent in enumerate(extents) if extent > 1]
    places = [real.index(d) for d in order if extents[d] > 1]
    return array.reshape([extents[d] for d in real]).transpose(places).ravel()
