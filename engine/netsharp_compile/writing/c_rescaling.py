"""From a sum to a code in C: by a multiplier and a shift, or by a shift alone, which needs no
multiplication nor, for sums of 32 bits, any number of 64.

Knows layers in integers, and nothing of the functions that add up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerLayer, IntegerNetwork, Integers

#: Every sum of 32 bits is 0 behind a shift of so many, and of more.
_ALL_BITS = 32


def only_shifts(layer: IntegerLayer) -> bool:
    """Return whether all multipliers of a layer are 1."""
    return bool((layer.multipliers == 1).all())


def stored_shifts(layer: IntegerLayer) -> Integers:
    """Return the shifts that a device is given: no more than its numbers have bits."""
    if layer.wide or not only_shifts(layer):
        return layer.shifts
    return np.minimum(layer.shifts, _ALL_BITS)


def is_rescaled(layer: IntegerLayer) -> bool:
    """Return whether a layer has sums: the largest of codes is a code."""
    return layer.pool is None or not layer.pool.largest


def rescaled_code(layer: IntegerLayer, name: str, total: str, channel: str) -> list[str]:
    """Return the lines that declare the code of a sum."""
    ends = f"{layer.result.zero_point}, {layer.result.least}, {layer.result.most}"
    if only_shifts(layer):
        head = f"const int32_t code = shifted{_bits(layer)}({total}, {name}_shifts[{channel}],"
    else:
        head = f"const int32_t code = rescaled({total}, {name}_multipliers[{channel}],"
        ends = f"{name}_shifts[{channel}], {ends}"
    return [head, f"                              {ends});"]


def rescaling_functions(network: IntegerNetwork) -> Iterator[str]:
    """Yield the functions that the layers of a network call."""
    layers = [one for one in network.layers if is_rescaled(one)]
    if not all(map(only_shifts, layers)) or any(one.formula for one in network.layers):
        yield from _MULTIPLIED
    for bits in sorted({_bits(one) for one in layers if only_shifts(one)}):
        yield from _SHIFTED.replace("BITS", str(bits)).splitlines()
        yield ""


def _bits(layer: IntegerLayer) -> int:
    return 64 if layer.wide else 32


_MULTIPLIED = """\
/* floor(value / 2^shift), of negative values, too, whatever the compiler shifts in. */
static int64_t floored(int64_t value, int shift)
{
    return value >= 0 ? value >> shift : ~(~value >> shift);
}

/* The nearest integer to sum * multiplier / 2^shift, halves up, within bounds. */
static int32_t rescaled(int64_t sum, int32_t multiplier, int shift, int32_t zero_point,
                        int32_t least, int32_t most)
{
    const int64_t half = ((int64_t)1 << shift) >> 1;
    const int64_t step = floored(sum * multiplier + half, shift) + zero_point;
    return step < least ? least : step > most ? most : (int32_t)step;
}

""".splitlines()
_SHIFTED = """\
/* The nearest integer to sum / 2^shift, halves up, within bounds; the last bit that is shifted out
   rounds, so that nothing is added that may not fit. */
static int32_t shiftedBITS(intBITS_t sum, int shift, int32_t zero_point, int32_t least,
                         int32_t most)
{
    if (shift > 0) {
        sum = sum >= 0 ? sum >> (shift - 1) : ~(~sum >> (shift - 1));
        sum = (sum >= 0 ? sum >> 1 : ~(~sum >> 1)) + (sum & 1);
    }
    if (sum < least - zero_point)
        return least;
    return sum > most - zero_point ? most : (int32_t)(sum + zero_point);
}
"""
