"""Windows in any number of dimensions by the index of every cell, where ONNX's own operators do not
reach: more than three dimensions, a kernel for each place, pads as wide as windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from netsharp_engine.exporting.onnx.writing import Array, OnnxWriting
from netsharp_engine.exporting.places import cells, kernel_numbers
from netsharp_engine.geometry import product

if TYPE_CHECKING:
    from netsharp_engine.exporting.places import CoveredAxis


def windows(out: OnnxWriting, flat: str, axes: Sequence[CoveredAxis]) -> str:
    """Return the windows [n, places, taps] of images [n, cells]; 0 outside."""
    chosen = cells(axes)
    if (chosen < 0).any():
        flat = out.add("Pad", flat, out.integers(0, 0, 0, 1))
        chosen = np.where(chosen < 0, product(tuple(axis.size for axis in axes)), chosen)
    return out.add("Gather", flat, out.whole(chosen), axis=1)


def most(out: OnnxWriting, flat: str, axes: Sequence[CoveredAxis]) -> str:
    """Add the largest real cell of each window, [n, places]."""
    found = out.add("Gather", flat, out.whole(cells_inside(axes)), axis=1)
    return out.reduced("ReduceMax", found, -1, keep=False)


def cells_inside(axes: Sequence[CoveredAxis]) -> Array:
    """Return the cells of windows [places, taps], where those outside of the image are replaced by
    one inside: no maximum changes by it.
    """
    chosen = cells(axes)
    return np.where(chosen < 0, chosen.max(1, keepdims=True), chosen)


def mean(out: OnnxWriting, flat: str, axes: Sequence[CoveredAxis]) -> str:
    """Add the mean of the real cells of each window, [n, places]."""
    count = (cells(axes) >= 0).sum(1)
    total = out.reduced("ReduceSum", windows(out, flat, axes), -1, keep=False)
    return out.add("Div", total, out.numbers(count))


def kernels(
    out: OnnxWriting,
    flat: str,
    axes: Sequence[CoveredAxis],
    sharing: Sequence[bool],
    maps: Sequence[int],
    weights: Array,
) -> str:
    """Add what kernels [kernels, taps] or [kernels, taps + 1], the last a bias, find in images
    [n, cells]: [n, maps of the first axis * its places, ...].
    """
    numbers = kernel_numbers(axes, sharing, maps)
    taps = product(tuple(axis.kernel for axis in axes))
    found = windows(out, flat, axes)
    is_shared = all(shared or axis.count == 1 for shared, axis in zip(sharing, axes, strict=True))
    if is_shared:
        chosen = weights[numbers[0]]
        found = out.add("MatMul", found, out.numbers(chosen[:, :taps].T))
    else:
        chosen = weights[numbers]
        by_place = out.add("Transpose", found, perm=(1, 0, 2))
        matrices = out.numbers(chosen[..., :taps].swapaxes(1, 2))
        found = out.add("Transpose", out.add("MatMul", by_place, matrices), perm=(1, 0, 2))
    if weights.shape[1] > taps:
        found = out.add("Add", found, out.numbers(chosen[..., taps]))
    return arranged(out, found, [axis.count for axis in axes], maps, places_first=True)


def arranged(
    out: OnnxWriting, name: str, counts: Sequence[int], maps: Sequence[int], *, places_first: bool
) -> str:
    """Add the order of a layer to [n, places, maps] or [n, maps, places]: of each axis its maps,
    and in each of them its places.
    """
    rank = len(counts)
    whole = tuple(one * count for one, count in zip(maps, counts, strict=True))
    if product(tuple(maps[int(not places_first) :])) == 1:  # They lie so already.
        return out.shaped(name, 1, whole)
    places, kinds = list(range(1, rank + 1)), list(range(rank + 1, 2 * rank + 1))
    first, second = (counts, maps) if places_first else (maps, counts)
    if not places_first:
        places, kinds = kinds, places
    spread = out.shaped(name, 1, (*first, *second))
    order = [0, *(axis for pair in zip(kinds, places, strict=True) for axis in pair)]
    found = out.add("Transpose", spread, perm=order)
    return out.shaped(found, 1, whole)
