"""Which real numbers the codes of each layer have to cover, from what calibration data shows.

Knows no weights in integers and no code for a device.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.layers import SOFTMAX, values_of
from netsharp_compile.operators import chain_of
from netsharp_engine.activations import ACTIVATIONS

if TYPE_CHECKING:
    from netsharp_compile.layers import SummedLayer
    from netsharp_compile.operators import Array
    from netsharp_compile.schemes import QuantizationScheme

#: Operators of which the table is the same for every layer: where they move at all is known.
BOUNDED = {"sigmoid": 40.0, "tanh": 20.0, "brlinear": 2.0}
#: So many points of an operator are looked at to see where it moves.
_POINTS = 1 << 14


class Observed(NamedTuple):
    """The least and the largest number that was seen: of a layer's sums and of its values."""

    sums: tuple[float, float]
    values: tuple[float, float]


class FeatureRanges(NamedTuple):
    """The least and the largest of each feature [features], and the root of the mean square of how
    far it lies above its least.
    """

    low: Array
    high: Array
    above: Array


def observed(
    layers: Sequence[SummedLayer], blocks: Iterable[Array]
) -> tuple[FeatureRanges, list[Observed]]:
    """Return the ranges of the features and of each layer.

    ``blocks`` are normalised features [rows, features].
    """
    moments: Array | None = None
    sums = np.array([[np.inf, -np.inf]] * len(layers))
    values = sums.copy()
    rows = 0
    for block in blocks:
        fresh = np.stack(
            [-block.min(axis=0), block.max(axis=0), block.sum(axis=0), np.square(block).sum(axis=0)]
        )
        rows += len(block)
        if moments is None:
            moments = fresh
        else:
            moments = np.concatenate([np.maximum(moments, fresh)[:2], (moments + fresh)[2:]])
        for place, (summed, given) in enumerate(values_of(layers, block)):
            for kept, found in ((sums, summed), (values, given)):
                kept[place] = min(kept[place, 0], found.min()), max(kept[place, 1], found.max())
    assert moments is not None
    low, high, mean, square = -moments[0], moments[1], moments[2] / rows, moments[3] / rows
    above = np.sqrt(np.maximum(square - 2 * low * mean + low * low, 0))
    pairs = zip(sums.tolist(), values.tolist(), strict=True)
    return FeatureRanges(low, high, above), [Observed((a, b), (c, d)) for (a, b), (c, d) in pairs]


def value_range(function: str, seen: tuple[float, float], shared: bool) -> tuple[float, float]:
    """Return what the codes of a layer's values cover: with shared tables all that a bounded
    operator gives, else what was seen.
    """
    if shared and function in BOUNDED:
        return ACTIVATIONS[function].range
    return seen


def sum_range(
    function: str, seen: tuple[float, float], target: QuantizationScheme, shared: bool
) -> tuple[float, float]:
    """Return what the codes of a layer's sums cover: where the operator still moves the result by
    more than half a code, within what was seen; of a bounded operator with shared tables wherever
    it moves.
    """
    if function in (SOFTMAX, "linear"):
        return seen
    low, high = seen
    if shared and function in BOUNDED:
        low, high = -BOUNDED[function], BOUNDED[function]
    points = np.linspace(low, high, _POINTS)
    (operator,) = chain_of(function)
    with np.errstate(all="ignore"):
        found = operator.values(points)
    moved_low = np.abs(found - found[0]) > target.scale / 2
    moved_high = np.abs(found - found[-1]) > target.scale / 2
    if not moved_low.any():
        return low, high
    # The last point from which on nothing moves, at either end.
    first = max(int(moved_low.argmax()) - 1, 0)
    last = min(_POINTS - int(moved_high[::-1].argmax()), _POINTS - 1)
    return float(points[first]), float(points[last])
