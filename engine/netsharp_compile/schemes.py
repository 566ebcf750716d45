"""Quantisation schemes: which integers an operand may be, and which real number each one means.

A real number is (code - zero_point) * scale.  Knows no operator and no network.  Sources: Jacob et
al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference"
(2017), section 2.1; Krishnamoorthi, "Quantizing deep convolutional networks for efficient
inference" (2018), section 2.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Kind = Literal["affine", "asymmetric", "symmetric", "qmn"]
Operand = Literal["unsigned", "signed", "symmetric"]
OPERANDS: tuple[Operand, ...] = ("unsigned", "signed", "symmetric")
LEAST_BITS, MOST_BITS = 4, 16


@dataclass(frozen=True, slots=True)
class QuantizationScheme:
    """A mapping of real numbers to integers of a few bits, and back: (code - zero_point) * scale.

    Made by ``affine``, ``asymmetric``, ``symmetric`` or ``qmn``.

    Parameters
    ----------
    kind : {"affine", "asymmetric", "symmetric", "qmn"}
        Which of them made it.
    operand : {"unsigned", "signed", "symmetric"}
        Which codes there are: 0 to 2^bits - 1, -2^(bits-1) to 2^(bits-1) - 1, or the same without
        its least.
    bits : int
        The width of a code, 4 to 16.
    scale : float
        What one step means.
    zero_point : int
        The code that means 0.

    Attributes
    ----------
    least, most, size : int
        The least code (minR), the largest (maxR), and their number.
    dtype : numpy.dtype
        The smallest type of integers that holds every code.

    Raises
    ------
    ValueError
        For a width, scale, zero point or range that no scheme has.

    Since
    -----
    0.1
    """

    kind: Kind
    operand: Operand
    bits: int
    scale: float
    zero_point: int = 0

    def __post_init__(self) -> None:
        if self.operand not in OPERANDS:
            raise ValueError(f"operand is one of {', '.join(OPERANDS)}; '{self.operand}' is none.")
        if not LEAST_BITS <= self.bits <= MOST_BITS:
            raise ValueError(
                f"An operand has {LEAST_BITS} to {MOST_BITS} bits; {self.bits} was given."
            )
        if not sys.float_info.min <= self.scale <= sys.float_info.max:
            raise ValueError(
                f"The scale is a positive number that a float holds in full; {self.scale} is none."
            )
        if not self.least <= self.zero_point <= self.most:
            raise ValueError(
                f"The zero point is a code, {self.least} to {self.most} in {self.operand} operands "
                f"of {self.bits} bits; {self.zero_point} is none."
            )

    @classmethod
    def affine(
        cls, scale: float, zero_point: int, bits: int = 8, operand: Operand = "unsigned"
    ) -> QuantizationScheme:
        """Return the uniform affine scheme with this scale and this code for 0. Raises ValueError
        for a width, a scale or a zero point that no scheme has.
        """
        return cls("affine", operand, bits, float(scale), zero_point)

    @classmethod
    def asymmetric(
        cls, low: float, high: float, bits: int = 8, operand: Operand = "unsigned"
    ) -> QuantizationScheme:
        """Return the scheme whose codes cover ``low`` to ``high``, widened to hold 0 exactly.
        Raises ValueError where ``low`` is not below ``high`` or the range is wider than any number.
        """
        low, high = _range(low, high)
        plain = cls("asymmetric", operand, bits, 1.0)
        scale = (high - low) / (plain.most - plain.least)
        if not scale:
            return plain
        zero_point = plain.least + _rounded(-low / scale)
        zero_point = min(max(zero_point, plain.least), plain.most)
        return cls("asymmetric", operand, bits, scale, zero_point)

    @classmethod
    def symmetric(
        cls, bound: float, bits: int = 8, operand: Operand = "symmetric"
    ) -> QuantizationScheme:
        """Return the scheme whose largest code means ``bound``, and whose code 0 means 0. Raises
        ValueError where the bound is not above 0 or twice as much is infinite.
        """
        _, bound = _range(0.0, bound)
        plain = cls("symmetric", operand, bits, 1.0)
        return cls("symmetric", operand, bits, bound / plain.most or 1.0)

    @classmethod
    def qmn(
        cls, integer_bits: int, fraction_bits: int, operand: Operand = "signed"
    ) -> QuantizationScheme:
        """Return the fixed-point scheme Qm.n: a sign bit unless unsigned, m bits, n of a fraction.

        Either may be negative, as in CMSIS, where the binary point lies outside of the bits. Raises
        ValueError for another number of bits than a scheme may have.
        """
        bits = integer_bits + fraction_bits + (operand != "unsigned")
        return cls("qmn", operand, bits, 2.0**-fraction_bits)

    @property
    def least(self) -> int:
        """Return the least code (minR)."""
        return {
            "unsigned": 0,
            "signed": -(1 << self.bits - 1),
            "symmetric": 1 - (1 << self.bits - 1),
        }[self.operand]

    @property
    def most(self) -> int:
        """Return the largest code (maxR)."""
        return (1 << self.bits - (self.operand != "unsigned")) - 1

    @property
    def size(self) -> int:
        """Return the number of codes."""
        return self.most - self.least + 1

    @property
    def dtype(self) -> np.dtype[np.integer]:
        """Return the smallest type of integers that holds every code."""
        name = f"{'u' * (self.operand == 'unsigned')}int{8 if self.bits <= 8 else 16}"
        return np.dtype(name)

    def codes(self) -> npt.NDArray[np.int64]:
        """Return every code in rising order [size]."""
        return np.arange(self.least, self.most + 1)

    def dequantize(self, codes: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the real numbers that codes mean, of the same shape."""
        steps = np.asarray(codes, np.int64) - self.zero_point
        found: npt.NDArray[np.float64] = steps * np.float64(self.scale)
        return found

    def quantize(self, values: npt.ArrayLike) -> npt.NDArray[np.integer]:
        """Return the nearest codes of real numbers, of the same shape; halves are rounded up, and
        numbers outside the range get the code at its end.

        Raises ValueError for NaN.
        """
        with np.errstate(over="ignore"):  # An overflow is outside the range, too.
            scaled = np.asarray(values, np.float64) / self.scale
        if np.isnan(scaled).any():
            raise ValueError("What is quantised must be numbers; nan is none.")
        return self.clamped(rounded_up(scaled))

    def clamped(self, steps: npt.NDArray[np.float64]) -> npt.NDArray[np.integer]:
        """Return the codes of whole multiples of the scale, of the same shape."""
        bounded = np.clip(steps, self.least - self.zero_point, self.most - self.zero_point)
        return (bounded.astype(np.int64) + self.zero_point).astype(self.dtype)


def rounded_up(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the nearest whole numbers, the upper one of two that are as near.

    Adding a half first would round the largest number below a half to 1. Values have any shape, and
    so has the result: round half up, towards positive infinity.
    """
    below = np.floor(values)
    with np.errstate(invalid="ignore"):  # Infinity has no fraction.
        found: npt.NDArray[np.float64] = below + (values - below >= 0.5)
    return found


def _rounded(value: float) -> int:
    return int(rounded_up(np.float64(value)))  # type: ignore[arg-type]


def _range(low: float, high: float) -> tuple[float, float]:
    """Return a range of finite numbers, in order, extended to contain 0."""
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(f"A range goes from a number to a larger one; {low} to {high} does not.")
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    if math.isinf(high - low):
        raise ValueError(f"The range from {low} to {high} is wider than any number.")
    return low, high
