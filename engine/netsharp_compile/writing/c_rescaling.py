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

#: A shift of at least as many bits makes every sum of 32 bits 0.
_ALL_BITS = 32
#: From this shift on the upper 32 bits of a product contain the result and its rounding bit.
_UPPER = 33
#: From this shift on a shifted sum of 32 bits has room for the rounding and a zero point.
_BRIEF = 2


def only_shifts(layer: IntegerLayer) -> bool:
    """Return whether all multipliers of a layer are 1."""
    return bool((layer.multipliers == 1).all())


def stored_shifts(layer: IntegerLayer) -> Integers:
    """Return the shifts [kernels] that a device is given: no more than its numbers have bits."""
    if layer.wide or not only_shifts(layer):
        return layer.shifts
    return np.minimum(layer.shifts, _ALL_BITS)


def only_shift(layer: IntegerLayer) -> int | None:
    """Return the shift of a layer all of whose shifts are the same, which is not stored."""
    found = set(stored_shifts(layer).tolist())
    return found.pop() if len(found) == 1 else None


def reads_channel(layer: IntegerLayer) -> bool:
    """Return whether the lines that make a code read numbers of its channel."""
    return not only_shifts(layer) or only_shift(layer) is None


def is_rescaled(layer: IntegerLayer) -> bool:
    """Return whether a layer has sums: the largest of codes is a code."""
    return layer.pool is None or not layer.pool.largest


def rescaled_code(layer: IntegerLayer, name: str, total: str, channel: str) -> list[str]:
    """Return the lines that declare the code of a sum."""
    ends = f"{layer.result.zero_point}, {layer.result.least}, {layer.result.most}"
    shift = only_shift(layer)
    shown = f"{name}_shifts[{channel}]" if shift is None else str(shift)
    if only_shifts(layer):
        function = "briefly_shifted" if _rounds_in_32_bits(layer) else f"shifted{_bits(layer)}"
        head = f"const int32_t code = {function}({total}, {shown},"
    else:
        function = "upper_rescaled" if _is_of_upper_half(layer) else "rescaled"
        head = f"const int32_t code = {function}({total}, {name}_multipliers[{channel}],"
        ends = f"{shown}, {ends}"
    return [head, f"                              {ends});"]


def rescaling_functions(network: IntegerNetwork) -> Iterator[str]:
    """Yield the functions that the layers of a network call."""
    layers = [one for one in network.layers if is_rescaled(one)]
    multiplied = [one for one in layers if not only_shifts(one)]
    if any(one.formula for one in network.layers) or not all(map(_is_of_upper_half, multiplied)):
        yield from _MULTIPLIED
    shifted = [one for one in layers if only_shifts(one)]
    brief = [one for one in shifted if _rounds_in_32_bits(one)]
    of_upper_half = any(map(_is_of_upper_half, multiplied))
    if brief or of_upper_half:
        yield from _ROUNDED
    yield from _OF_UPPER_HALF if of_upper_half else ()
    yield from _BRIEFLY if brief else ()
    for bits in sorted({_bits(one) for one in shifted if one not in brief}):
        yield from _SHIFTED.replace("BITS", str(bits)).splitlines()
        yield ""


def _is_of_upper_half(layer: IntegerLayer) -> bool:
    """Return whether codes come from the upper halves of products: of all nodes, with sums of 32
    bits.
    """
    return not layer.wide and int(layer.shifts.min()) >= _UPPER


def _rounds_in_32_bits(layer: IntegerLayer) -> bool:
    """Return whether the upper halves of products have room for 1 and a zero point in 32 bits."""
    return not layer.wide and int(stored_shifts(layer).min()) >= _BRIEF


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
_ROUNDED = """\
/* floor(value / 2^shift), of negative values, too, whatever the compiler shifts in. */
static int32_t floored32(int32_t value, int shift)
{
    return value >= 0 ? value >> shift : ~(~value >> shift);
}

/* The nearest integer to half of floor(value / 2^shift), halves up, within bounds. */
static int32_t rounded(int32_t value, int shift, int32_t zero_point, int32_t least, int32_t most)
{
    const int32_t step = floored32(floored32(value, shift) + 1, 1) + zero_point;
    return step < least ? least : step > most ? most : step;
}

""".splitlines()
_OF_UPPER_HALF = f"""\
/* The nearest integer to sum * multiplier / 2^shift, halves up, within bounds, for shifts from
   {_UPPER} on: the last bit that is shifted out of the product's upper half rounds. */
static int32_t upper_rescaled(int32_t sum, int32_t multiplier, int shift, int32_t zero_point,
                              int32_t least, int32_t most)
{{
    const int64_t product = (int64_t)sum * multiplier;
    const int32_t upper = (int32_t)(product >= 0 ? product >> 32 : ~(~product >> 32));
    return rounded(upper, shift - {_UPPER}, zero_point, least, most);
}}

""".splitlines()
_BRIEFLY = f"""\
/* The nearest integer to sum / 2^shift, halves up, within bounds, for shifts from {_BRIEF} on. */
static int32_t briefly_shifted(int32_t sum, int shift, int32_t zero_point, int32_t least,
                               int32_t most)
{{
    return rounded(sum, shift - 1, zero_point, least, most);
}}

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
