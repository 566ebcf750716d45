"""Channels of a layer brought to one range: each is divided by a factor, and what reads it
multiplied by it, where the operator between keeps factors.

The network answers the same; codes that all channels share are used in full by more of them.
Source: Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction"
(2019), section 4.1, with ranges of values in the place of those of weights.  Knows no integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.bundles import ConvolvedBundle, PooledBundle
from netsharp_compile.layers import values_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_compile.bundles import Bundle, Places
    from netsharp_compile.layers import SummedLayer
    from netsharp_compile.operators import Array

#: Operators f of which f(c x) is c f(x) for every c above 0.
_KEEPS_FACTORS = ("linear", "rlinear", "abs")
#: The power of a channel's relative range by which it is divided: with 1 ranges would be equal.
#: The codes of weights that read values become coarser by what those of the values become finer,
#: and the square root balances both.
_PART = 0.5
#: The least range of a channel, as a part of the largest: a code of 8 bits.
_LEAST = 2.0**-8


def levelled(
    layers: Sequence[SummedLayer], blocks: Iterable[Array], features: int
) -> list[SummedLayer]:
    """Return layers that answer the same, with ranges of channels that are nearer to each other.

    ``blocks`` are normalised features [rows, features]. Raises ValueError for an activation without
    an operator.
    """
    values = _Values(layers, features)
    free = values.free()
    if not free.any():
        return list(layers)
    reached = np.zeros(len(free))
    for block in blocks:
        for own, (_, found) in zip(values.own, values_of(layers, block), strict=True):
            with np.errstate(all="ignore"):
                reached[own] = np.maximum(reached[own], np.abs(found).max(axis=0))
    if not np.isfinite(reached).all():
        return list(layers)  # Invalid numbers are refused with the ranges.
    parts = np.ones(len(free))
    reached = values.largest(reached)
    for own in values.own:
        most = reached[own].max()
        if most > 0:
            parts[own] = np.maximum(reached[own] / most, _LEAST)
    # A channel that is always 0 needs no factor.
    parts[reached == 0] = 1.0
    factors = np.where(free, values.largest(parts) ** _PART, 1.0)
    return [
        _scaled(layer, factors[own], values, factors)
        for layer, own in zip(layers, values.own, strict=True)
    ]


class _Values:
    """The values of a network, features first, and which of them must have the same factor."""

    def __init__(self, layers: Sequence[SummedLayer], features: int) -> None:
        self._layers = layers
        sizes = [features, *(len(layer.biases) for layer in layers)]
        self._starts = [0, *accumulate(sizes)]
        #: Where the values of each layer lie.
        self.own = [slice(a, b) for a, b in zip(self._starts[1:], self._starts[2:], strict=False)]
        self.labels = self._tied()

    def read(self, bundle: Bundle) -> slice:
        """Return the slice of all values that a bundle reads."""
        first = self._starts[bundle.source.operand] + bundle.source.first
        return slice(first, first + bundle.source.size)

    def largest(self, numbers: Array) -> Array:
        """Return for each value the largest number of those tied to it, at least 0."""
        found = np.zeros(len(numbers))
        np.maximum.at(found, self.labels, numbers)
        return found[self.labels]

    def free(self) -> npt.NDArray[np.bool_]:
        """Return which values may have a factor: those tied only to values that may [values]."""
        pinned = np.zeros(self._starts[-1])
        pinned[: self._starts[1]] = 1.0
        for layer, own in zip(self._layers, self.own, strict=True):
            pinned[own] = layer.function not in _KEEPS_FACTORS or layer is self._layers[-1]
        return np.asarray(self.largest(pinned) == 0)

    def _tied(self) -> Places:
        """Return a label for each value, equal for values that must have the same factor."""
        labels = np.arange(self._starts[-1])
        ties = list(self._ties())
        while True:
            before = labels.copy()
            for places, groups in ties:
                least = np.full(groups.max() + 1, len(labels))
                np.minimum.at(least, groups, labels[places])
                labels[places] = least[groups]
            if np.array_equal(before, labels):
                return labels

    def _ties(self) -> Iterator[tuple[Places, Places]]:
        """Yield values, and for each the number of those that have the same factor."""
        every = np.arange(self._starts[-1])
        for layer, own in zip(self._layers, self.own, strict=True):
            for bundle, _ in layer.parts:
                read = every[self.read(bundle)]
                if isinstance(bundle, ConvolvedBundle):
                    yield every[own], bundle.groups
                    kept = [bundle.reads_one_cell(d) for d in range(len(bundle.axes))]
                    yield read, _along([one.size for one in bundle.axes], kept)
                elif isinstance(bundle, PooledBundle):
                    kept = [one.steady for one in bundle.axes]
                    cells = _along([one.size for one in bundle.axes], kept)
                    nodes = _along([one.count for one in bundle.axes], kept)
                    yield np.concatenate([read, every[own]]), np.concatenate([cells, nodes])


def _scaled(layer: SummedLayer, own: Array, values: _Values, factors: Array) -> SummedLayer:
    """Return the layer with its values divided by factors, and the weights of those that it reads
    multiplied.
    """
    parts = []
    for part in layer.parts:
        bundle, weights = part
        if isinstance(bundle, ConvolvedBundle):
            read = factors[values.read(bundle)][bundle.cells_of_weights]
            weights = weights * read / own[bundle.owners]
        elif not isinstance(bundle, PooledBundle):
            read = factors[values.read(bundle)][bundle.places]
            weights = weights * read / own[bundle.owners]
        parts.append(part._replace(weights=weights))
    return layer._replace(parts=tuple(parts), biases=layer.biases / own)


def _along(sizes: Sequence[int], kept: Sequence[bool]) -> Places:
    """Return for each cell of a grid the number of its position along the axes that are kept."""
    found = np.zeros(1, np.int64)
    for size, keep in zip(sizes, kept, strict=True):
        own = np.arange(size) if keep else np.zeros(size, np.int64)
        found = np.add.outer(found * (size if keep else 1), own).reshape(-1)
    return found
