"""The traversal of images as runs of consecutive places that read the same taps, for compiled
twins.

Samples are contiguous, so that a run of places is one of numbers. Tables are cached: they depend on
figures alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from netsharp_engine.geometry import Axis

Indices = npt.NDArray[np.int64]
#: Taps of an axis, each by its cell beyond a base, and its number.
_Taps = tuple[tuple[int, int], ...]
#: For each place along an axis a base cell, and the taps there.
_Steps = list[tuple[int, _Taps]]
#: Size, kernel, stride, first cell and count of an axis.
_Figures = tuple[int, int, int, int, int]
#: The most taps or runs of a table.
_MOST = 1 << 20


class LaidWay(NamedTuple):
    """``runs`` [runs, 4]: the first place of each, the cell that goes with it, how many places, and
    the class of its taps; ``classes`` [classes, 2]: where their taps begin and end; ``taps`` [taps,
    2]: how far from that cell, and the number of the weight.

    ``everywhere``: each place sees something.
    """

    runs: Indices
    classes: Indices
    taps: Indices
    everywhere: bool


def down(axes: Sequence[Axis]) -> LaidWay | None:
    """Return the table from places of kernels to cells; None where it would be too long."""
    return _down(_figures(axes))


def up(axes: Sequence[Axis], maps: int, channels: int) -> LaidWay | None:
    """Return the table from cells to the places of all maps that read them; the first axes, those
    of ``channels``, are left out: their cells have the same places. None where it would be too
    long.
    """
    return _up(_figures(axes[channels:]), maps)


def channel_axes(axes: Sequence[Axis]) -> int:
    """Return the number of leading axes that every kernel reads completely."""
    for number, axis in enumerate(axes):
        if axis.count > 1 or axis.first != 0 or axis.kernel != axis.size:
            return number
    return len(axes)


def lone_axes(axes: Sequence[Axis]) -> int:
    """Return the number of leading axes whose windows are single cells at their own places."""
    for number, axis in enumerate(axes):
        if axis.kernel != 1 or axis.first != 0 or axis.stride != 1 or axis.count != axis.size:
            return number
    return len(axes)


def _figures(axes: Sequence[Axis]) -> tuple[_Figures, ...]:
    return tuple((one.size, one.kernel, one.stride, one.first, one.count) for one in axes)


@lru_cache(maxsize=128)
def _down(axes: tuple[_Figures, ...]) -> LaidWay | None:
    ways = []
    for size, kernel, stride, first, count in axes:
        bases = [first + place * stride for place in range(count)]
        taps = [
            tuple((tap, tap) for tap in range(max(0, -at), min(kernel, size - at))) for at in bases
        ]
        ways.append(list(zip(bases, taps, strict=True)))
    return _laid(ways, [one[0] for one in axes], [one[1] for one in axes])


@lru_cache(maxsize=128)
def _up(axes: tuple[_Figures, ...], maps: int) -> LaidWay | None:
    every: _Steps = [(0, tuple((number, number) for number in range(maps)))]
    ways = [every]
    for size, kernel, stride, first, count in axes:
        found = []
        for cell in range(size):
            base, rest = divmod(cell - first, stride)
            taps = ((-(tap // stride), tap) for tap in range(rest, kernel, stride))
            found.append((base, tuple(one for one in taps if 0 <= base + one[0] < count)))
        ways.append(found)
    return _laid(ways, [maps, *(one[4] for one in axes)], [maps, *(one[1] for one in axes)])


def _laid(ways: list[_Steps], sizes: list[int], kernels: list[int]) -> LaidWay | None:
    """Return all places of all axes, row-major; ``sizes`` are those of the source."""
    if prod(map(len, ways)) > _MOST:
        return None
    strides = [prod(sizes[d + 1 :]) for d in range(len(sizes))]
    known: dict[tuple[_Taps, ...], int] = {}
    classes: list[tuple[int, int]] = []
    taps: list[Indices] = []
    runs: list[tuple[int, int, int, int]] = []
    length = total = 0
    extents = [len(way) for way in ways[:-1]]
    lasts = _together(ways[-1])
    for number, places in enumerate(product(*map(range, extents))):
        outer = [way[place] for way, place in zip(ways, places, strict=False)]
        begin = sum(base * stride for (base, _), stride in zip(outer, strides, strict=False))
        for place, base, count, last in lasts:
            kinds = (*(one for _, one in outer), last)
            if not all(kinds):
                continue
            if kinds not in known:
                known[kinds] = len(classes)
                taps.append(_taps(kinds, strides, kernels))
                classes.append((total, total + len(taps[-1])))
                total += len(taps[-1])
                if total > _MOST:
                    return None
            runs.append((number * len(ways[-1]) + place, begin + base, count, known[kinds]))
            length += count
    if not runs:
        return None
    everywhere = length == prod(map(len, ways))
    of_runs, of_classes = (np.array(one, np.int64) for one in (runs, classes))
    return LaidWay(of_runs, of_classes, np.concatenate(taps), everywhere)


def _together(way: _Steps) -> list[tuple[int, int, int, _Taps]]:
    """Return places with the same taps and consecutive cells: the first, its base cell, and how
    many.
    """
    found: list[tuple[int, int, int, _Taps]] = []
    for place, (base, taps) in enumerate(way):
        if found:
            first, begin, count, known = found[-1]
            if known == taps and begin + count == base:
                found[-1] = (first, begin, count + 1, taps)
                continue
        found.append((place, base, 1, taps))
    return found


def _taps(kinds: tuple[_Taps, ...], strides: list[int], kernels: list[int]) -> Indices:
    """Return the taps of all axes together, in the order of the weights."""
    cells, numbers = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for one, stride, kernel in zip(kinds, strides, kernels, strict=True):
        far, number = np.array(one, np.int64).T
        cells = np.add.outer(cells, far * stride).ravel()
        numbers = np.add.outer(numbers * kernel, number).ravel()
    return np.stack((cells, numbers), axis=1)
