"""Multipliers and shifts by which sums become codes: floor((sum * multiplier + 2^shift / 2) /
2^shift), in 64 bits.

Knows no layer and no scheme. Source: Jacob et al. (2017), section 2.2, with 64 bits and ties
rounded up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.schemes import rounded_up

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_compile.operators import Array

    Whole = npt.NDArray[np.integer]

#: Bits of a multiplier, which with its sign fits in 32, and the largest shift of a product in 64.
MULTIPLIER_BITS, MOST_SHIFT = 31, 62


def requantized(sums: Whole, multipliers: Whole, shifts: Whole) -> Whole:
    """Return floor((sum * multiplier + 2^shift / 2) / 2^shift) of each in int64, of the shape to
    which sums [..., nodes], multipliers and shifts [nodes] broadcast.
    """
    half = (np.int64(1) << shifts) >> 1
    return (sums.astype(np.int64) * multipliers + half) >> shifts


def powers_of_two(scales: Array) -> Array:
    """Return the least powers of two that are not below positive scales, of the same shape."""
    shares, exponents = np.frexp(scales)
    found: Array = np.ldexp(1.0, exponents - (shares == 0.5))
    return found


def shifts_of(ratios: Array) -> tuple[Whole, Whole] | None:
    """Return the multiplier 1 and a shift for each ratio [nodes], where all are powers of two that
    are not above 1; else None.
    """
    shares, exponents = np.frexp(ratios)
    shifts = 1 - exponents.astype(np.int64)
    if not ((shares == 0.5) & (shifts >= 0) & (shifts <= MOST_SHIFT)).all():
        return None
    return np.ones_like(shifts), shifts


def multipliers_of(ratios: Array, bound: int) -> tuple[Whole, Whole]:
    """Return a multiplier and a shift for each ratio [nodes], the multiplier as wide as fits with
    sums up to a bound into 64 bits.
    """
    bits = min(MULTIPLIER_BITS, 62 - bound.bit_length())
    # Beyond it every sum except 0 is outside the codes.
    ratios = np.minimum(ratios, 2.0**bits - 1)
    _, exponents = np.frexp(ratios)
    shifts = np.clip(bits - exponents, 0, MOST_SHIFT)
    found = rounded_up(np.ldexp(ratios, shifts)).astype(np.int64)
    # A multiplier that was rounded up to a power of two has a bit too many.
    over = (found >> bits > 0) & (shifts > 0)
    shifts = shifts - over
    return np.where(over, rounded_up(np.ldexp(ratios, shifts)).astype(np.int64), found), shifts
