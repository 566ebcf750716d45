"""Slices that pair a kernel's taps with the source cells they read, for any rank.

Pads never appear: a slice holds real cells only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from netsharp_engine.geometry import Axis


def along(axis: Axis, tap: int) -> tuple[slice, slice] | None:
    """Return positions whose tap is on a real cell, and these cells; None if there are none."""
    offset = axis.first + tap
    low = max(0, -(offset // axis.stride))
    high = min(axis.count, (axis.size - 1 - offset) // axis.stride + 1)
    if low >= high:
        return None
    start = offset + low * axis.stride
    stop = offset + (high - 1) * axis.stride + 1
    return slice(low, high), slice(start, stop, axis.stride)


def pairs(axes: Sequence[Axis]) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]]]:
    """Yield, for every tap in row-major kernel order, position slices and source slices."""
    for taps in product(*(range(axis.kernel) for axis in axes)):
        found = [along(axis, tap) for axis, tap in zip(axes, taps, strict=True)]
        real = [pair for pair in found if pair is not None]
        if len(real) == len(found):
            yield tuple(pair[0] for pair in real), tuple(pair[1] for pair in real)


def centres(axes: Sequence[Axis]) -> tuple[slice, ...]:
    """Return the source cells under the kernel's centre, one for each position."""
    return tuple(
        slice(axis.centre(0), axis.centre(axis.count - 1) + 1, axis.stride) for axis in axes
    )


def real_cells(axes: Sequence[Axis]) -> list[list[int]]:
    """Return, per dimension, the number of real cells under each position."""
    return [[len(axis.cells(position)) for position in range(axis.count)] for axis in axes]
