"""The order in which a device works out a network, what it works out at once, and where values lie.

Knows the network in integers and no language of programs.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.bundles import ConvolvedBundle, have_one_grid
from netsharp_compile.integers import INT32

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_compile.bundles import Bundle, PooledBundle, WindowAxis
    from netsharp_compile.integers import IntegerLayer, IntegerNetwork, Integers

#: So many largest sums are held beside the scratch memory while a pool is worked out.
_MOST_BEST = 128


class DeviceStep(NamedTuple):
    """A layer that is worked out, by its number, and the pool of it alone that is worked out with
    it, of sums instead of values; None where there is none.
    """

    layer: int
    pool: int | None = None

    @property
    def made(self) -> int:
        """The number of the layer whose values are there afterwards."""
        return self.layer if self.pool is None else self.pool


class ScratchMemory(NamedTuple):
    """Where the values of each layer lie in the scratch memory, by its number, and the windows that
    a layer copies, by its number and that of the bundle; how many bytes it has, and the bytes of
    the widest number in it.
    """

    offsets: dict[int, int]
    windows: dict[tuple[int, int], int]
    size: int
    width: int


class _Block(NamedTuple):
    """Bytes that are held from one step to another, of numbers of some bytes each."""

    size: int
    width: int
    born: int
    dies: int


def steps_of(network: IntegerNetwork) -> list[DeviceStep]:
    """Return what is worked out, in turn."""
    readers: dict[int, list[int]] = {}
    for number, layer in enumerate(network.layers):
        for part in layer.parts:
            readers.setdefault(part.bundle.source.operand - 1, []).append(number)
    pools: dict[int, int] = {}
    for number, layer in enumerate(network.layers):
        read = readers.get(number, [])
        if len(read) == 1 and _is_pooled_at_once(network, layer, network.layers[read[0]]):
            pools[number] = read[0]
    gone = set(pools.values())
    numbers = [number for number in range(len(network.layers)) if number not in gone]
    return [DeviceStep(number, pools.get(number)) for number in numbers]


def scratch_of(network: IntegerNetwork) -> ScratchMemory:
    """Return a place for the values of each step but the last, and for its windows, that nothing
    else holds while they are read: larger ones first, each as low as it can lie.
    """
    steps = steps_of(network)
    values: dict[int, _Block] = {}
    windows: dict[tuple[int, int], _Block] = {}
    for place, step in enumerate(steps):
        layer = network.layers[step.layer]
        copied = copies_windows(layer, pooled=step.pool is not None)
        for number, part in enumerate(layer.parts):
            operand = part.bundle.source.operand
            codes = network.layers[operand - 1].target if operand else network.features.codes
            if operand:
                values[operand - 1] = values[operand - 1]._replace(dies=place)
            if copied and isinstance(part.bundle, ConvolvedBundle):
                width = codes.dtype.itemsize
                size = part.bundle.taps * width
                windows[step.layer, number] = _Block(size, width, place, place)
        made = network.layers[step.made]
        width = made.target.dtype.itemsize
        values[step.made] = _Block(made.nodes * width, width, place, place)
    del values[len(network.layers) - 1]
    blocks = [*values.values(), *windows.values()]
    starts = _packed(blocks)
    ends = [start + one.size for start, one in zip(starts, blocks, strict=True)]
    return ScratchMemory(
        dict(zip(values, starts[: len(values)], strict=True)),
        dict(zip(windows, starts[len(values) :], strict=True)),
        max(ends, default=1),
        max((one.width for one in blocks), default=1),
    )


def _packed(blocks: Sequence[_Block]) -> list[int]:
    """The first byte of each block."""
    starts: dict[int, int] = {}
    for number in sorted(range(len(blocks)), key=lambda one: (-blocks[one].size, one)):
        block = blocks[number]
        taken = sorted(
            (start, start + blocks[other].size)
            for other, start in starts.items()
            if blocks[other].born <= block.dies and block.born <= blocks[other].dies
        )
        start = 0
        for first, end in taken:
            if start + block.size <= first:
                break
            start = max(start, -(-end // block.width) * block.width)
        starts[number] = start
    return [starts[number] for number in range(len(blocks))]


def copies_windows(layer: IntegerLayer, *, pooled: bool) -> bool:
    """Whether each window is copied once for all maps, with the zero point for what lies beyond the
    source: where there are several, and sums with the zero points in biases fit as well.
    """
    first = layer.parts[0].bundle
    if not isinstance(first, ConvolvedBundle) or prod(first.maps) < 2:
        return False
    if pooled and prod(first.maps) > _MOST_BEST:
        return False
    if not all(have_one_grid(first, one.bundle) for one in layer.parts):
        return False
    return layer.wide or folded_bound(layer) <= INT32


def folded_bound(layer: IntegerLayer) -> int:
    """Return what no sum is larger than where zero points are in the biases of kernels."""
    sizes = [np.abs(one.weights.astype(np.int64)).sum(axis=1) for one in layer.parts]
    moved = [abs(part.zero) * one for part, one in zip(layer.parts, sizes, strict=True)]
    return layer.bound + 2 * int(np.sum(moved, axis=0).max())


def folded_biases(layer: IntegerLayer) -> Integers:
    """Return the biases of kernels to which codes are added as they are, the zero point of a bundle
    with them for what lies beyond its source.
    """
    found = layer.biases
    for part in layer.parts:
        found = found - part.zero * part.weights.astype(np.int64).sum(axis=1)
    return found


def windows_over(bundle: Bundle, pool: PooledBundle) -> dict[int, WindowAxis] | None:
    """Return by each axis of a convolution the axis of a pool whose windows move over its
    positions; None where a window reaches over maps or kernels, or over more than one axis.
    """
    if not isinstance(bundle, ConvolvedBundle):
        return None
    grid = [
        (extent, d if extent == axis.count and not is_map and bundle.sharing[d] else None)
        for d, axis in enumerate(bundle.axes)
        for is_map, extent in ((True, bundle.maps[d]), (False, axis.count))
        if extent > 1
    ]
    found: dict[int, WindowAxis] = {}
    for over in pool.axes:
        size, taken = 1, []
        while size < over.size and grid:
            extent, d = grid.pop(0)
            size *= extent
            taken.append(d)
        if size != over.size:
            return None
        if not over.steady and over.size > 1:
            if len(taken) > 1 or taken[0] is None:
                return None
            found[taken[0]] = over
    return found


def _is_pooled_at_once(network: IntegerNetwork, layer: IntegerLayer, pool: IntegerLayer) -> bool:
    """Whether the largest values of windows are those of the largest sums: requantisation and table
    do not fall, the window stays in one channel, and no sum is in two windows.
    """
    bundle = pool.pool
    if bundle is None or not bundle.largest or pool.table is not None:
        return False
    if any(one.stride < one.kernel for one in bundle.axes) or not _does_not_fall(network, layer):
        return False
    first = layer.parts[0].bundle
    alike = all(have_one_grid(first, one.bundle) for one in layer.parts)
    return alike and windows_over(first, bundle) is not None


def _does_not_fall(network: IntegerNetwork, layer: IntegerLayer) -> bool:
    values = network.looked_up(layer, layer.result.codes())
    return bool((np.diff(values.astype(np.int64)) >= 0).all())
