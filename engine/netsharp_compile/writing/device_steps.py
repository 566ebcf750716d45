"""The order in which a device works out a network, what it works out at once, and where values lie.

Knows the network in integers and no language of programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.bundles import ConvolvedBundle, PooledBundle

if TYPE_CHECKING:
    from netsharp_compile.bundles import Bundle
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


def _is_pooled_at_once(network: IntegerNetwork, layer: IntegerLayer, pool: IntegerLayer) -> bool:
    """Whether the largest values of windows are those of the largest sums: requantisation and table
    do not fall, the window stays in one channel, and no sum is in two windows.
    """
    bundle = pool.pool
    if bundle is None or not bundle.largest or pool.table is not None:
        return False
    if bundle.source.size != layer.nodes or not _does_not_fall(network, layer):
        return False
    return all(_is_walked_alike(part.bundle, bundle) for part in layer.parts)


def _does_not_fall(network: IntegerNetwork, layer: IntegerLayer) -> bool:
    if layer.table is None:
        return True
    return bool((np.diff(network.tables[layer.table].astype(np.int64)) >= 0).all())


def _is_walked_alike(bundle: Bundle, pool: PooledBundle) -> bool:
    if not isinstance(bundle, ConvolvedBundle) or len(bundle.axes) != len(pool.axes):
        return False
    every = zip(bundle.axes, bundle.sharing, bundle.maps, pool.axes, strict=True)
    return all(
        maps * axis.count == over.size
        and over.stride >= over.kernel
        and (over.steady or (shared and maps == 1))
        for axis, shared, maps, over in every
    )
