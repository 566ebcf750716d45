"""Kernels and pools over images of tensors as bundles, in both layouts of CNTK.

Axes of a node are its image's, slowest first.  Where channels run fastest the axes are channels,
width and height, and lie in memory as width, height, channels; kernels then have their maps last.
Of a graph it knows only a node's attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from netsharp_compile.bundles import ConvolvedBundle, PooledBundle, WindowAxis, window_axes
from netsharp_compile.importing.sums import LinearSums, of_windows
from netsharp_compile.layers import WeightedBundle
from netsharp_engine.ops.tensors.images import taps_of

if TYPE_CHECKING:
    from netsharp_compile.bundles import ReadValues
    from netsharp_compile.importing.views import ElementView
    from netsharp_compile.operators import Array
    from netsharp_engine.nodes import Node

T = TypeVar("T")


def kernels_of(node: Node, numbers: Array, view: ElementView) -> LinearSums | None:
    """Return the sums of a convolution whose kernels are ``numbers``; None where the values do not
    lie side by side, or have factors that its kernels cannot take. ``numbers`` have the shape of
    the node's weights.
    """
    attributes = node.attributes
    sharing, maps = (tuple(attributes[key]) for key in ("sharing", "maps"))
    walked, groups = window_axes(attributes["axes"]), int(attributes.get("groups", 1))
    if attributes["channels_last"]:
        weights = _channels_last(walked, sharing, maps, numbers)
        walked, sharing, maps = _turned(walked), _turned(sharing), _turned(maps)
        return convolved(view, walked, weights, sharing, maps)
    weights = _spread_out(node, numbers, groups)
    if groups > 1:
        first, *rest = walked
        each = first.size // groups
        # Channels as two dimensions, so that maps come group by group.
        parts = WindowAxis(groups, 1, 1, 0, groups), WindowAxis(each, each, 1, 0, 1)
        walked, sharing = (*parts, *rest), (False, *sharing)
        maps = (1, maps[0] // groups, *maps[1:])
    return convolved(view, walked, weights, sharing, maps)


def convolved(
    view: ElementView,
    axes: tuple[WindowAxis, ...],
    weights: Array,
    sharing: Sequence[bool],
    maps: Sequence[int],
) -> LinearSums | None:
    """Return the sums of kernels [kernels, cells of a window] over a view; None likewise."""
    source = view.source
    if source is None:
        return None
    bundle = ConvolvedBundle(source, axes, tuple(map(bool, sharing)), tuple(map(int, maps)))
    # Outside the borders there is 0, without the offset.
    biases = bundle.sums(view.offsets[None], weights)[0]
    factors = _factors(bundle, view.factors)
    if factors is None:
        return None
    return LinearSums((WeightedBundle(bundle, weights * factors),), biases)


def _factors(bundle: ConvolvedBundle, factors: Array) -> Array | None:
    """Return a factor for each weight, which broadcasts to the weights; None where a weight has
    several.
    """
    if (factors == factors[0]).all():
        return factors[:1, None]
    grid = factors.reshape([one.size for one in bundle.axes])
    shared = [d for d in range(grid.ndim) if not bundle.reads_one_cell(d)]
    first = grid[tuple(slice(0, 1) if d in shared else slice(None) for d in range(grid.ndim))]
    if not np.array_equal(np.broadcast_to(first, grid.shape), grid):
        return None
    return factors[bundle.cells_of_weights]


def _spread_out(node: Node, numbers: Array, groups: int) -> Array:
    """Return kernels [kernels, cells of a window] in the order of the node's axes, 0 in gaps."""
    attributes = node.attributes
    taps = list(taps_of(attributes["axes"], attributes))
    taps[0] //= groups
    narrow = numbers.reshape(-1, *taps)
    wide = [axis.kernel for axis in attributes["axes"]]
    wide[0] //= groups
    found = np.zeros((len(narrow), *wide))
    gaps = attributes.get("gaps", (1,) * len(wide))
    found[(slice(None), *(slice(None, None, gap) for gap in gaps))] = narrow
    return found.reshape(len(narrow), -1)


def _channels_last(
    axes: Sequence[WindowAxis], sharing: Sequence[bool], maps: Sequence[int], numbers: Array
) -> Array:
    """Return kernels [kernels, cells of a window] in the order of memory, where channels run
    fastest.
    """
    rank = len(axes)
    radix = [
        one
        for axis, shared, count in zip(axes, sharing, maps, strict=True)
        for one in (count, 1 if shared else axis.count)
    ]
    flat = numbers.reshape(-1, int(np.prod(maps))).T
    spread = flat.reshape(*radix, *(one.kernel for one in axes))
    kernels = [one for d in _turned(tuple(range(rank))) for one in (2 * d, 2 * d + 1)]
    cells = [2 * rank + d for d in _turned(tuple(range(rank)))]
    found: Array = spread.transpose(*kernels, *cells)
    return found.reshape(-1, int(np.prod([one.kernel for one in axes])))


def _turned(values: tuple[T, ...]) -> tuple[T, ...]:
    """Return values of axes in the order of memory, where channels run fastest."""
    return (*values[1:], values[0])


def pool_axes(node: Node) -> tuple[WindowAxis, ...]:
    """Return the ways of a pool's windows in the order of memory."""
    found = window_axes(node.attributes["axes"])
    return _turned(found) if node.attributes["channels_last"] else found


def pooled(
    view: ElementView, axes: tuple[WindowAxis, ...], *, largest: bool
) -> tuple[PooledBundle, Array, Array] | None:
    """Return a pool of values, and the factors and offsets of its results [nodes].

    Returns None where the values are not contiguous, a window has several factors, or a negative
    one changes what is largest.
    """
    source: ReadValues | None = view.source
    if source is None or (largest and (view.factors < 0).any()):
        return None
    factors, offsets = (of_windows(axes, one) for one in (view.factors, view.offsets))
    if factors is None or offsets is None:
        return None
    return PooledBundle(source, axes, largest), factors, offsets
