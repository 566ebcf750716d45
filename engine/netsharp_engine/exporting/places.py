"""Which cells of an image kernels and windows read, and which kernel a place has.

For formats whose own operators walk otherwise, or along fewer axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as pairs
from typing import TYPE_CHECKING

import numpy as np

from netsharp_engine.exporting.values import Array

if TYPE_CHECKING:
    from typing import Protocol

    from netsharp_engine.devices.footprint import WalkedAxis
    from netsharp_engine.geometry import Axis

    class CoveredAxis(WalkedAxis, Protocol):
        """One dimension of a kernel's movement over an image, in cells."""

        @property
        def covered(self) -> int:
            """Return the cells from its first start to its last end."""


def cells(axes: Sequence[CoveredAxis]) -> Array:
    """Return the cell under each tap of each place, [places, taps]; -1 outside of the image."""
    sizes = [axis.size for axis in axes]
    found = np.zeros((1, 1), np.int64)
    for axis, size in zip(axes, sizes, strict=True):
        along = axis.first + np.arange(axis.count)[:, None] * axis.stride + np.arange(axis.kernel)
        along = np.where((along < 0) | (along >= size), -1, along)
        joined = found[:, None, :, None] * size + along[None, :, None, :]
        outside = (found[:, None, :, None] < 0) | (along[None, :, None, :] < 0)
        joined = np.where(outside, -1, joined)
        found = joined.reshape(len(found) * axis.count, found.shape[1] * axis.kernel)
    return found


def centres(axes: Sequence[Axis]) -> Array:
    """Return the cell under the centre of each place, [places]."""
    found = np.zeros(1, np.int64)
    for axis in axes:
        along = np.array([axis.centre(position) for position in range(axis.count)])
        found = (found[:, None] * axis.size + along).reshape(-1)
    return found


def kernel_numbers(
    axes: Sequence[CoveredAxis], sharing: Sequence[bool], maps: Sequence[int]
) -> Array:
    """Return the kernel of each place and map, [places, maps]: numbers count by axes, of each its
    map and then the place where none is shared.
    """
    places = list(pairs(*(range(axis.count) for axis in axes)))
    kinds = list(pairs(*(range(one) for one in maps)))
    at, of = np.array(places, np.int64), np.array(kinds, np.int64)
    found = np.zeros((len(places), len(kinds)), np.int64)
    for d, axis in enumerate(axes):
        found = found * maps[d] + of[:, d]
        if not sharing[d]:
            found = found * axis.count + at[:, d, None]
    return found
