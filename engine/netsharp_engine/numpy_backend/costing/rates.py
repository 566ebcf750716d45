"""The cost of work: kinds with their sizes, and rates that turn them into seconds.

Plain numbers: it must not know operations, arrays, or how a rate was measured.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from netsharp_engine import stored


class CallWork(NamedTuple):
    """The work of one call: ``units`` of a ``kind``, whose rate depends on ``sizes``.

    ``calls`` is the number of such calls; it is less than one for a call that is made now and then.
    """

    kind: str
    sizes: tuple[float, ...]
    units: float
    calls: float = 1.0


class Rate(NamedTuple):
    """The time of a kind of work: ``call`` seconds for each call, and the seconds of each unit.

    ``units`` has the seconds of a unit at each point of a grid over ``axes``, the last of which
    runs fastest; all are in increasing order.
    """

    call: float
    axes: tuple[tuple[float, ...], ...]
    units: tuple[float, ...]

    def seconds(self, work: CallWork) -> float:
        """Return the seconds of some work: between points interpolated by the logarithms of sizes,
        beyond them as at the nearest.
        """
        return work.calls * (self.call + work.units * self._unit(work.sizes))

    def _unit(self, sizes: tuple[float, ...]) -> float:
        corners = [(0, 1.0)]
        for points, size in zip(self.axes, sizes, strict=True):
            low, share = _between(points, size)
            corners = [
                (place * len(points) + low + step, weight * part)
                for place, weight in corners
                for step, part in ((0, 1 - share), (1, share))
                if part
            ]
        return sum(self.units[place] * weight for place, weight in corners)


Rates = Mapping[str, Rate]


def _between(points: tuple[float, ...], size: float) -> tuple[int, float]:
    """Return the point below a size, and the fraction of the way to the next (0 at the ends)."""
    if size <= points[0]:
        return 0, 0.0
    if size >= points[-1]:
        return len(points) - 1, 0.0
    low = bisect_right(points, size) - 1
    return low, math.log(size / points[low]) / math.log(points[low + 1] / points[low])


def seconds_of(rates: Rates, works: Iterable[CallWork]) -> float:
    """Return the seconds of all these works; KeyError for a kind without a rate."""
    return math.fsum(rates[work.kind].seconds(work) for work in works)


def rates_out(rates: Rates) -> dict[str, Any]:
    """Return rates as plain values."""
    return {
        kind: {"call": rate.call, "axes": list(map(list, rate.axes)), "units": list(rate.units)}
        for kind, rate in rates.items()
    }


def rates_in(values: Mapping[str, Any]) -> dict[str, Rate]:
    """Return rates from plain values. Raises ValueError for other values."""
    return {kind: _rate_in(stored.table(values, kind)) for kind in values}


def _rate_in(row: Mapping[str, Any]) -> Rate:
    axes = tuple(_numbers(axis, "axes") for axis in stored.items(row, "axes"))
    units = _numbers(stored.items(row, "units"), "units")
    rate = Rate(stored.number(row, "call"), axes, units)
    rising = all(low < high for axis in axes for low, high in pairwise(axis))
    positive = all(axis and axis[0] > 0 for axis in axes) and min((rate.call, *units)) >= 0
    if not rising or not positive or len(units) != math.prod(map(len, axes)):
        raise ValueError("a rate is none")
    return rate


def _numbers(values: object, key: str) -> tuple[float, ...]:
    if not isinstance(values, list):
        raise ValueError(f"'{key}' does not hold a list")
    return tuple(stored.as_number(value, key) for value in values)
