"""The compiled twins of convolution and pooling, in float32: no window is copied.

They know images and places whose samples lie side by side, and neither nodes nor their layouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from netsharp_engine.geometry import Axis
from netsharp_engine.tensor_backend.kernels.rows import Array
from netsharp_engine.walks import runs
from netsharp_engine.walks.runs import LaidWay

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

#: The numbers of the widest vectors: the least number of samples.
LEAST_SAMPLES = 16
#: Fewer channels than a tile has would leave most of it to nothing.
_LEAST_CHANNELS = 4


def compiled(like: Array, samples: int) -> bool:
    """Return whether there are twins for numbers of this type and this number of samples. Arrays
    have any shape.
    """
    return twins is not None and like.dtype == np.float32 and samples >= LEAST_SAMPLES


def moved(
    axes: Sequence[Axis], weights: Array, image: Array, biases: Array | None = None
) -> Array | None:
    """Return the products of kernels, ``weights`` [taps, maps], with an image [*sizes, samples], as
    [maps, places, samples]; with ``biases`` [maps] these are added and a rectifier is applied. None
    where the table of cells would be too long.
    """
    way, maps = runs.down(axes), weights.shape[1]
    if way is None or (biases is not None and not way.everywhere):
        return None
    found = _room(way, maps, prod(axis.count for axis in axes), image.shape[-1])
    _move(way, weights, image, found, biases)
    return found


def moved_back(axes: Sequence[Axis], weights: Array, by: Array) -> Array | None:
    """Return the gradient by an image [*sizes, samples] from that by the places [maps, places,
    samples]. None where there is no twin.
    """
    leading = runs.channel_axes(axes)
    sizes, maps = tuple(axis.size for axis in axes), weights.shape[1]
    channels = prod(sizes[:leading])
    way = runs.up(axes, maps, leading) if channels >= _LEAST_CHANNELS else None
    if way is None:
        return None
    turned = weights.reshape(channels, -1, maps).transpose(2, 1, 0).reshape(-1, channels)
    found = _room(way, channels, prod(sizes[leading:]), by.shape[-1])
    _move(way, turned, by, found)
    return found.reshape(*sizes, by.shape[-1])


def joined(axes: Sequence[Axis], image: Array, by: Array) -> Array | None:
    """Return the gradient by weights, [taps, maps], from [maps, places, samples]."""
    way = runs.down(axes)
    if way is None:
        return None
    found = np.empty((prod(axis.kernel for axis in axes), len(by)), np.float32)
    image, by = _flat(image), _flat(by)
    twins.windows_joined(by.shape[-1], len(by), *way[:3], image, by, found)
    return found


def rectified_back(value: Array, by: Array) -> tuple[Array, Array]:
    """Return the gradient below a rectifier, from [maps, places, samples], and its sum for each
    map.
    """
    value, by = _flat(value), _flat(by)
    found, sums = np.empty_like(by), np.empty(len(by), np.float32)
    twins.windows_rectified_back(len(by), value, by, found, sums)
    return found, sums


class Pooling(NamedTuple):
    """The way of windows over images; ``turns``: how often it is gone."""

    way: LaidWay
    turns: int
    means: bool


def pooling(axes: Sequence[Axis], means: bool) -> Pooling | None:
    """Return the plan of a compiled pooling; None where a table of cells would be too long, or a
    window has no real cell.
    """
    alone = runs.lone_axes(axes)
    if alone == len(axes):
        return None
    way = runs.down(axes[alone:])
    if way is None or not way.everywhere:
        return None
    return Pooling(way, prod(axis.size for axis in axes[:alone]), means)


def pooled(one: Pooling, image: Array, found: Array) -> None:
    """Write the largest or the mean of each window of [*sizes, samples] into ``found`` [*counts,
    samples].
    """
    twins.windows_pooled(image.shape[-1], one.turns, *one.way[:3], one.means, _flat(image), found)


def pooled_back(
    one: Pooling,
    ties: tuple[bool, bool],
    values: tuple[Array, Array] | None,
    by: Array,
    found: Array,
) -> None:
    """Add the gradient ``by`` places to that by the image, which holds 0; ``ties``: whether each of
    equal cells gets it, and whether windows are disjoint. For the largest, ``values`` are image and
    places. ``by`` is [positions, samples] and ``found`` [cells, samples], in float32.
    """
    seen = (None, None) if values is None else map(_flat, values)
    samples = by.shape[-1]
    twins.windows_pooled_back(
        samples, one.turns, *one.way[:3], one.means, *ties, *seen, _flat(by), found
    )


def _move(
    way: LaidWay, weights: Array, seen: Array, found: Array, biases: Array | None = None
) -> None:
    maps, _, samples = found.shape
    added = None if biases is None else _flat(biases)
    twins.windows_moved(samples, maps, *way[:3], _flat(seen), _flat(weights), added, found)


def _room(way: LaidWay, maps: int, places: int, samples: int) -> Array:
    """Return the buffer of results; places without real cells are 0."""
    make = np.empty if way.everywhere else np.zeros
    return make((maps, places, samples), np.float32)


def _flat(values: Array) -> Array:
    return np.ascontiguousarray(values)
