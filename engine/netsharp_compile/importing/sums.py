"""Sums of products that no operator was applied to yet, what can be added to and multiplied into
them, and how values become such sums.

Knows no operations and no graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.bundles import (
    ConvolvedBundle,
    FilteredBundle,
    FullBundle,
    PooledBundle,
    WindowAxis,
    united,
)
from netsharp_compile.layers import WeightedBundle

if TYPE_CHECKING:
    from netsharp_compile.importing.views import ElementView
    from netsharp_compile.operators import Array

#: The share of non-zero numbers below which a matrix is stored as pairs: a pair takes the bytes of
#: its weight and of an index of two.
_SPARSE = 1 / 3


class LinearSums(NamedTuple):
    """Bundles with weights of which the sums are added, and biases [nodes]."""

    parts: tuple[WeightedBundle, ...]
    biases: Array

    @property
    def edges(self) -> int:
        """Return the number of products that are added."""
        return sum(part.bundle.edges for part in self.parts)

    def added(self, other: LinearSums) -> LinearSums:
        """Return the sums of both."""
        return LinearSums(self.parts + other.parts, self.biases + other.biases)

    def scaled(self, factors: Array, offsets: Array) -> LinearSums | None:
        """Return ``factors`` times the sums and ``offsets`` more, both [nodes]; None where nodes
        that share weights have other factors.
        """
        parts = []
        for bundle, weights in self.parts:
            if isinstance(bundle, PooledBundle):
                return None
            owners = np.broadcast_to(bundle.owners, weights.shape)
            if isinstance(bundle, ConvolvedBundle):
                firsts = bundle.owners.reshape(-1)
                if not np.array_equal(factors[firsts][bundle.groups], factors):
                    return None
            parts.append(WeightedBundle(bundle, weights * factors[owners]))
        return LinearSums(tuple(parts), self.biases * factors + offsets)


class PooledSums(NamedTuple):
    """The largest sums of windows over others, before their operator: that of one that does not
    fall may come first.
    """

    sums: LinearSums
    axes: tuple[WindowAxis, ...]

    def scaled(self, factors: Array, offsets: Array) -> PooledSums | None:
        """Return the same of scaled sums; None where a factor is below 0 or differs in a window.
        ``factors`` and ``offsets`` are [windows].
        """
        own = [over_windows(self.axes, one) for one in (factors, offsets)]
        if own[0] is None or own[1] is None or (factors < 0).any():
            return None
        found = self.sums.scaled(own[0], own[1])
        return None if found is None else PooledSums(found, self.axes)


def over_windows(axes: Sequence[WindowAxis], numbers: Array) -> Array | None:
    """Return a number for each cell that windows move over [cells], of one for each window
    [windows]; None where it depends on more than what a window leaves apart.
    """
    return _along(axes, numbers, [one.count for one in axes], [one.size for one in axes])


def of_windows(axes: Sequence[WindowAxis], numbers: Array) -> Array | None:
    """Return a number for each window [windows], of one for each cell [cells]; None where it
    depends on more than what a window leaves apart.
    """
    return _along(axes, numbers, [one.size for one in axes], [one.count for one in axes])


def _along(
    axes: Sequence[WindowAxis], numbers: Array, given: list[int], wanted: list[int]
) -> Array | None:
    grid = numbers.reshape(given)
    walked = tuple(d for d, axis in enumerate(axes) if not axis.steady)
    first = grid[tuple(slice(0, 1) if d in walked else slice(None) for d in range(len(axes)))]
    if not np.array_equal(np.broadcast_to(first, given), grid):
        return None
    return np.broadcast_to(first, wanted).reshape(-1)


def products_of(view: ElementView, matrix: Array) -> LinearSums:
    """Return the sums of a matrix [nodes, elements] times the elements of a view."""
    nodes = len(matrix)
    weights = matrix * view.factors
    parts = []
    for source, elements in view.by_source():
        places = view.places[elements] - source.first
        own = weights[:, elements]
        if np.count_nonzero(own) < _SPARSE * nodes * source.size:
            owners, columns = own.nonzero()
            pairs = FilteredBundle(source, nodes, owners, places[columns])
            parts.append(WeightedBundle(pairs, own[owners, columns]))
            continue
        spread = np.zeros((nodes, source.size))
        np.add.at(spread.T, places, own.T)
        parts.append(WeightedBundle(FullBundle(source, nodes), spread))
    return LinearSums(tuple(parts), matrix @ view.offsets)


def sums_of(view: ElementView, shape: Sequence[int], like: LinearSums | None = None) -> LinearSums:
    """Return the elements of a view, an image of a shape, as sums of themselves; those that are
    added to others share their weights in the same way, where they can.
    """
    source = view.source
    if source is not None and source.operand and len(shape) > 1:
        wanted = None if like is None else united([one.bundle for one in like.parts])
        axes = tuple(WindowAxis(size, 1, 1, 0, size) for size in shape)
        for apart in (0, len(shape) - 1):
            # A kernel of one cell for each channel.
            sharing = tuple(d != apart for d in range(len(shape)))
            made = ConvolvedBundle(source, axes, sharing, (1,) * len(shape))
            firsts = made.owners.reshape(-1)
            alike = np.array_equal(view.factors[firsts][made.groups], view.factors)
            if alike and (wanted is None or np.array_equal(wanted, made.groups)):
                weights = view.factors[firsts][:, None]
                return LinearSums((WeightedBundle(made, weights),), view.offsets)
    parts = []
    for read, elements in view.by_source():
        places = view.places[elements] - read.first
        bundle = FilteredBundle(read, view.size, elements, places)
        parts.append(WeightedBundle(bundle, view.factors[elements]))
    return LinearSums(tuple(parts), view.offsets)
