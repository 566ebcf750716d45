"""Transfer functions computed in fixed point instead of being looked up, for comparison with the
tables of this compiler, which avoid such computations.

    d      = code - zero point of the sums
    g      = function(d), a whole number, below
    result = clamp(floor((g * multiplier + 2^shift / 2) / 2^shift) + zero point, least, most)

With near(d) = floor((d * inner + 2^inner_shift / 2) / 2^inner_shift), 2^24 of which are 1:

    linear      d                          rlinear   max(d, 0)
    brlinear    max(d, 0), and ``most`` is the code of 1
    abs         |d|                        square    d * d
    sqrt        floor(root(max(d, 0) * 2^32))
    sigmoid     s = floor((2^60 + floor(m / 2)) / m) with m = 2^30 + p(near(|d|)); 2^30 - s below 0
    tanh        floor((2^30 - p) * 2^30 / (2^30 + p)), with p = p(near(|d|)), less 1 where p is 0,
                and the sign of d
    srlinear    max(near(d), 0) + floor((l(2^30 + p(n)) * LN_2 + 2^29) / 2^30), n = floor(
                (|near(d)| * LOG_2_E + 2^29) / 2^30)

p(n) is 2^30 * 2^-(n / 2^24): a polynomial of the last 24 bits, floored after each product, then a
shift by the others, and 0 where these are above 30.  l(m) is 2^24 * log2(m / 2^30), a bit at a time
by squares that are floored.  No number has more than 63 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.rescaling import MOST_SHIFT, multipliers_of, requantized
from netsharp_compile.schemes import rounded_up

if TYPE_CHECKING:
    from netsharp_compile.rescaling import Whole
    from netsharp_compile.schemes import QuantizationScheme

#: Bits of fractions: of exponents and intermediate numbers, and of powers, so that products have at
#: most 63 bits.
NEAR, POWER = 24, 30
#: Nearest to 2^30 * (-ln 2)^k / k!, to 2^30 * ln 2 and to 2^30 / ln 2.
TERMS = (
    *(1073741824, -744261118, 257941248, -59597083, 10327387),
    *(-1431680, 165394, -16377, 1419, -109),
)
LN_2, LOG_2_E = 744261118, 1549082005
#: Bits of the fraction of a root's operand, and the exponent beyond which powers are 0.
ROOT, FAR = 32, 1 << 31
#: The largest scale with which the steps of ``srlinear`` fit in 31 bits: 127 * 2^24 < 2^31.
_LARGEST_SCALE = 127.0
_WITH_POWERS = {"sigmoid": 1 / np.log(2), "tanh": 2 / np.log(2), "srlinear": 1.0}


@dataclass(frozen=True, slots=True)
class FixedFormula:
    """A transfer function in fixed point: the function by name, what brings its operand to 24 bits
    of a fraction, what brings its result to codes, and the largest code.
    """

    function: str
    inner: int
    inner_shift: int
    multiplier: int
    shift: int
    most: int

    def __post_init__(self) -> None:
        if self.function not in _UNITS:
            raise ValueError(f"there is no formula of {self.function!r}")
        if not all(0 <= one <= MOST_SHIFT for one in (self.inner_shift, self.shift)):
            raise ValueError("a shift of a formula is none")
        if not all(0 <= one < 1 << 31 for one in (self.inner, self.multiplier)):
            raise ValueError("a multiplier of a formula is none")

    def codes(
        self, results: Whole, source: QuantizationScheme, target: QuantizationScheme
    ) -> Whole:
        """Return the codes of values for those of sums, of the same shape."""
        steps = results.astype(np.int64) - source.zero_point
        found = _scaled(self._values(steps), self.multiplier, self.shift)
        bounded: Whole = np.clip(found + target.zero_point, target.least, self.most)
        return bounded.astype(target.dtype)

    def _values(self, steps: Whole) -> Whole:
        """Return the function's values as whole numbers in the units of ``_UNITS``."""
        match self.function:
            case "linear":
                return steps
            case "rlinear" | "brlinear":
                return np.maximum(steps, 0)
            case "abs":
                return np.abs(steps)
            case "square":
                return steps * steps
            case "sqrt":  # Below 2^52, so exact in float64.
                roots = np.sqrt((np.maximum(steps, 0) << ROOT).astype(np.float64))
                return np.floor(roots).astype(np.int64)
        found: Whole
        near = _scaled(np.abs(steps), self.inner, self.inner_shift)
        one = np.int64(1) << POWER
        if self.function == "sigmoid":
            below = one + _power(near)
            found = ((one << POWER) + below // 2) // below
            return np.where(steps < 0, one - found, found)
        if self.function == "tanh":
            power = _power(near)
            found = ((one - power) << POWER) // (one + power) - (power == 0)
            return np.where(steps < 0, -found, found)
        far = np.minimum(near, FAR)
        logs = _logarithm(one + _power((far * LOG_2_E + (1 << 29)) >> 30))
        found = np.where(steps > 0, near, 0) + ((logs * LN_2 + (1 << 29)) >> 30)
        return found


#: The meaning of a unit of each function's whole numbers, by the scale of its operand.
_UNITS: dict[str, Callable[[float], float]] = {
    "linear": lambda scale: scale,
    "rlinear": lambda scale: scale,
    "brlinear": lambda scale: scale,
    "abs": lambda scale: scale,
    "square": lambda scale: scale * scale,
    "sqrt": lambda scale: scale**0.5 / 2 ** (ROOT // 2),
    "sigmoid": lambda scale: 2.0**-POWER,
    "tanh": lambda scale: 2.0**-POWER,
    "srlinear": lambda scale: 2.0**-NEAR,
}


def formula_of(
    function: str, source: QuantizationScheme, target: QuantizationScheme
) -> FixedFormula:
    """Return the formula of a function between two schemes; ValueError where it has none."""
    if function == "srlinear" and source.scale > _LARGEST_SCALE:
        raise ValueError(
            f"srlinear has no formula in fixed point for steps of {source.scale:.4g}, only up to "
            f"{_LARGEST_SCALE:g}: take its table, by --transfer lut."
        )
    inner: Whole = np.zeros(1, np.int64)
    inner_shift, far = inner, source.size
    if function in _WITH_POWERS:
        ratio = np.array([source.scale * _WITH_POWERS[function] * 2.0**NEAR])
        inner, inner_shift = multipliers_of(ratio, far)
    bound = {
        "square": far * far,
        "sqrt": 1 << (ROOT // 2 + 8),
        "sigmoid": 1 << POWER,
        "tanh": 1 << POWER,
        "srlinear": (far * int(inner[0]) >> int(inner_shift[0])) + (1 << NEAR),
    }.get(function, far)
    unit = _UNITS[function](source.scale) / target.scale
    multiplier, shift = multipliers_of(np.array([unit]), bound)
    most = target.most
    if function == "brlinear":
        most = min(most, target.zero_point + int(rounded_up(np.array([1 / target.scale]))[0]))
    return FixedFormula(
        function=function,
        inner=int(inner[0]),
        inner_shift=int(inner_shift[0]),
        multiplier=int(multiplier[0]),
        shift=int(shift[0]),
        most=most,
    )


def _scaled(numbers: Whole, multiplier: int, shift: int) -> Whole:
    return requantized(numbers, np.array(multiplier, np.int64), np.array(shift, np.int64))


def _power(distance: Whole) -> Whole:
    """Return 2^30 * 2^-(distance / 2^24)."""
    part = distance & ((1 << NEAR) - 1)
    found: Whole = np.full_like(part, TERMS[-1])
    for term in reversed(TERMS[:-1]):
        found = term + (found * part >> NEAR)
    whole = distance >> NEAR
    return np.where(whole > POWER, 0, found >> np.minimum(whole, POWER))


def _logarithm(numbers: Whole) -> Whole:
    """Return 2^24 * log2(number / 2^30) of numbers from 2^30 to 2^31, computed a bit at a time."""
    is_two = numbers >> (POWER + 1)
    left, found = numbers >> is_two, is_two << NEAR
    for bit in reversed(range(NEAR)):
        left = left * left >> POWER
        above = left >> (POWER + 1)
        left, found = left >> above, found + (above << bit)
    return found
