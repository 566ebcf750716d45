"""The order in which a device computes a network, which layers it computes together, and where
values lie in memory.

Knows the network in integers and no programming language.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.bundles import ConvolvedBundle, have_one_grid
from netsharp_compile.integers import INT32
from netsharp_engine.devices.footprint import (
    MOST_BEST,
    DeviceStep,
    PlacedLayer,
    scratch_of_steps,
    windows_along,
)

if TYPE_CHECKING:
    from netsharp_compile.bundles import Bundle, PooledBundle
    from netsharp_compile.integers import IntegerLayer, IntegerNetwork, Integers
    from netsharp_engine.devices.footprint import ScratchMemory, WalkedAxis


def steps_of(network: IntegerNetwork) -> list[DeviceStep]:
    """Return the steps of a run, in order."""
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
    """Return a place for the values of each step but the last, and for its windows."""
    steps = steps_of(network)
    pooled = {step.layer: step.pool is not None for step in steps}
    placed = [
        PlacedLayer(layer.nodes, layer.target.dtype.itemsize, _read(layer, pooled.get(number)))
        for number, layer in enumerate(network.layers)
    ]
    return scratch_of_steps(placed, steps, network.features.codes.dtype.itemsize)


def _read(layer: IntegerLayer, pooled: bool | None) -> list[tuple[int, int]]:
    """Return the operand of each bundle, and the number of cells of a window that is copied; 0 for
    a pool that is computed with its source.
    """
    copied = pooled is not None and copies_windows(layer, pooled=pooled)
    return [
        (
            one.bundle.source.operand,
            one.bundle.taps if copied and isinstance(one.bundle, ConvolvedBundle) else 0,
        )
        for one in layer.parts
    ]


def copies_windows(layer: IntegerLayer, *, pooled: bool) -> bool:
    """Return whether each window is copied once for all maps, with the zero point outside the
    source: where there are several maps, and sums with zero points in biases fit as well.
    """
    first = layer.parts[0].bundle
    if not isinstance(first, ConvolvedBundle) or prod(first.maps) < 2:
        return False
    if not has_biases_of_kernels(layer):
        return False
    if pooled and prod(first.maps) > MOST_BEST:
        return False
    if not all(have_one_grid(first, one.bundle) for one in layer.parts):
        return False
    return layer.wide or folded_bound(layer) <= INT32


def has_biases_of_kernels(layer: IntegerLayer) -> bool:
    """Return whether a kernel has one bias for all its nodes: a term that is added to values but
    not outside their borders, as by a normalisation before padding, makes them differ.
    """
    return len(layer.biases) == len(layer.parts[0].weights)


def folded_bound(layer: IntegerLayer) -> int:
    """Return the upper bound of sums if zero points are folded into the biases of kernels."""
    sizes = [np.abs(one.weights.astype(np.int64)).sum(axis=1) for one in layer.parts]
    moved = [abs(part.zero) * one for part, one in zip(layer.parts, sizes, strict=True)]
    return layer.bound + 2 * int(np.sum(moved, axis=0).max())


def folded_biases(layer: IntegerLayer) -> Integers:
    """Return the biases [kernels] to which codes are added as they are: the zero point of a bundle
    is folded in, also for what lies beyond its source.
    """
    found = layer.biases
    for part in layer.parts:
        found = found - part.zero * part.weights.astype(np.int64).sum(axis=1)
    return found


def windows_over(bundle: Bundle, pool: PooledBundle) -> dict[int, WalkedAxis] | None:
    """Return, by axes of a convolution, the axes of a pool whose windows move over their
    positions; None where a window reaches over maps or kernels, or over more than one axis.
    """
    if not isinstance(bundle, ConvolvedBundle):
        return None
    return windows_along(bundle.axes, bundle.sharing, bundle.maps, pool.axes)


def _is_pooled_at_once(network: IntegerNetwork, layer: IntegerLayer, pool: IntegerLayer) -> bool:
    """Return whether the largest values of windows are those of the largest sums: requantisation
    and table do not fall, the window stays in one channel, and no sum is in two windows.
    """
    bundle = pool.pool
    if bundle is None or not bundle.largest or pool.table is not None:
        return False
    if any(one.stride < one.kernel for one in bundle.axes) or not _does_not_fall(network, layer):
        return False
    first = layer.parts[0].bundle
    if not isinstance(first, ConvolvedBundle) or not has_biases_of_kernels(layer):
        return False
    alike = all(have_one_grid(first, one.bundle) for one in layer.parts)
    return alike and windows_over(first, bundle) is not None


def _does_not_fall(network: IntegerNetwork, layer: IntegerLayer) -> bool:
    values = network.looked_up(layer, layer.result.codes())
    return bool((np.diff(values.astype(np.int64)) >= 0).all())
