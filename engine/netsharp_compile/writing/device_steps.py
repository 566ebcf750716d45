"""The order in which a device works out a network, what it works out at once, and where values lie.

Knows the network in integers and no language of programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.bundles import ConvolvedBundle, have_one_grid

if TYPE_CHECKING:
    from netsharp_compile.bundles import Bundle, PooledBundle, WindowAxis
    from netsharp_compile.integers import IntegerLayer, IntegerNetwork


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
    """Where the values of each layer lie in the scratch memory, by its number, and its bytes."""

    offsets: dict[int, int]
    size: int


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
    """Return a place for the values of each step but the last that nothing else holds while they
    are read: larger ones first, each as low as it can lie.
    """
    steps = steps_of(network)
    last = len(network.layers) - 1
    born = {step.made: place for place, step in enumerate(steps)}
    dies = dict(born)
    for place, step in enumerate(steps):
        for part in network.layers[step.layer].parts:
            if part.bundle.source.operand:
                dies[part.bundle.source.operand - 1] = place
    sizes = {made: stored_bytes(network.layers[made]) for made in born if made != last}
    offsets: dict[int, int] = {}
    for made in sorted(sizes, key=lambda one: (-sizes[one], one)):
        taken = sorted(
            (start, start + sizes[other])
            for other, start in offsets.items()
            if born[other] <= dies[made] and born[made] <= dies[other]
        )
        width = network.layers[made].target.dtype.itemsize
        start = 0
        for first, end in taken:
            if start + sizes[made] <= first:
                break
            start = max(start, -(-end // width) * width)
        offsets[made] = start
    return ScratchMemory(offsets, max((offsets[one] + sizes[one] for one in offsets), default=1))


def stored_bytes(layer: IntegerLayer) -> int:
    """Return how many bytes the values of a layer take."""
    return layer.nodes * layer.target.dtype.itemsize


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
    if layer.table is None:
        return True
    return bool((np.diff(network.tables[layer.table].astype(np.int64)) >= 0).all())
