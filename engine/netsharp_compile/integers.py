"""A network in integers: all that a device needs, and all that the simulator sees.

    acc    = bias[n] + sum of weight[n, i] * code[i]
    step   = floor((acc * multiplier[n] + 2^shift[n] / 2) / 2^shift[n])
    result = clamp(step + zero_point)
    next   = table[result - least]

One rounding, half up; zero points of the operands are in the biases.  A device, the simulator and
every compiler give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.schemes import QuantizationScheme, rounded_up

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_compile.layers import ReadValues
    from netsharp_compile.operators import Array

    Integers = npt.NDArray[np.integer]

#: Bits of a multiplier, the largest shift, and what fits in 32 bits.
MULTIPLIER_BITS, MOST_SHIFT = 31, 62
INT32 = 2**31 - 1
#: So many times smaller than the largest scale of a layer's weights may that of a node be: training
#: leaves nodes whose weights are nearly 0, and whose bias would be beyond all integers.
_SMALLEST = 2.0**-20
_MOST_BIAS = 2.0**30
#: Up to here float64 adds integers without rounding.
_EXACT = 2**53


@dataclass(frozen=True, slots=True)
class FeatureCodes:
    """How features become codes, each by a scheme of its own: nearest to (feature - offset) *
    factor, from 0 to ``most``, counted from the least code.  ``codes`` says which codes there are.
    """

    codes: QuantizationScheme
    offset: Array
    factor: Array
    most: Integers

    def of(self, features: Array) -> Integers:
        """Return the codes of numbers [rows, features] that are not normalised."""
        steps = rounded_up((features - self.offset) * self.factor)
        bounded = np.clip(steps, 0, self.most).astype(np.int64) + self.codes.least
        return bounded.astype(self.codes.dtype)


@dataclass(frozen=True, slots=True)
class IntegerLayer:
    """A layer: integers [nodes, values], [nodes] and [nodes] twice, the schemes of its sums and of
    its values, and the number of the table between them; None where the codes are the same.
    """

    name: str
    function: str
    origin: str
    sources: tuple[ReadValues, ...]
    weights: Integers
    biases: Integers
    multipliers: Integers
    shifts: Integers
    result: QuantizationScheme
    table: int | None
    target: QuantizationScheme
    #: The largest magnitude that a sum of any node can have, proven from the weights.
    bound: int

    @property
    def nodes(self) -> int:
        """How many values it has."""
        return len(self.weights)

    @property
    def wide(self) -> bool:
        """Whether its sums need 64 bits."""
        return self.bound > INT32


@dataclass(frozen=True, slots=True)
class IntegerNetwork:
    """Codes of features, layers in order, and the tables that they share."""

    features: FeatureCodes
    layers: tuple[IntegerLayer, ...]
    tables: tuple[Integers, ...]

    def simulate(self, codes: Integers) -> list[Integers]:
        """Return the codes of every layer's values [rows, nodes], the last of them the answers, for
        codes of features [rows, features].
        """
        operands = [codes]
        for layer in self.layers:
            parts = [operands[a][:, first : first + size] for a, first, size in layer.sources]
            sums = _products(np.concatenate(parts, axis=1), layer)
            found = requantized(sums, layer.multipliers, layer.shifts) + layer.result.zero_point
            results = np.clip(found, layer.result.least, layer.result.most)
            if layer.table is None:
                operands.append(results.astype(layer.target.dtype))
            else:
                operands.append(self.tables[layer.table][results - layer.result.least])
        return operands[1:]


def requantized(sums: Integers, multipliers: Integers, shifts: Integers) -> Integers:
    """Return floor((sum * multiplier + 2^shift / 2) / 2^shift) of each, in 64 bits."""
    half = (np.int64(1) << shifts) >> 1
    return (sums.astype(np.int64) * multipliers + half) >> shifts


def _products(codes: Integers, layer: IntegerLayer) -> Integers:
    if layer.bound < _EXACT:
        found = codes.astype(np.float64) @ layer.weights.T.astype(np.float64) + layer.biases
        return found.astype(np.int64)
    return codes.astype(np.int64) @ layer.weights.T.astype(np.int64) + layer.biases


def quantized_weights(
    weights: Array, biases: Array, most: int, by_node: bool
) -> tuple[Integers, Integers, Array]:
    """Return weights and biases in integers, and the scale of each node's sums [nodes].

    ``weights`` [nodes, values] are in units of the codes they are multiplied with.
    """
    largest = np.abs(weights).max(axis=1, initial=0.0)
    if not by_node:
        largest = np.full_like(largest, largest.max())
    scales = np.maximum(largest / most, largest.max() / most * _SMALLEST)
    scales = np.maximum(scales, np.abs(biases) / _MOST_BIAS)
    scales = np.where(scales < np.finfo(np.float64).tiny, 1.0, scales)
    # A bias may have made the scale larger, and a division more by a unit of the last place.
    whole = np.clip(rounded_up(weights / scales[:, None]), -most, most).astype(np.int64)
    return whole, rounded_up(biases / scales).astype(np.int64), scales


def largest_sums(weights: Integers, biases: Integers, codes: Sequence[int]) -> int:
    """Return the largest magnitude that a sum can have, ``codes`` being the largest of each value
    [values].  The terms may come in any order: no sum of some of them is larger.
    """
    # A product has 31 bits, and no layer 2^31 values.
    worst = np.abs(weights).astype(np.int64) @ np.array(codes, np.int64) + np.abs(biases)
    return int(worst.max())


def multipliers_of(ratios: Array, bound: int) -> tuple[Integers, Integers]:
    """Return a multiplier and a shift for each ratio [nodes], the multiplier as wide as fits with
    sums up to a bound into 64 bits.
    """
    bits = min(MULTIPLIER_BITS, 62 - bound.bit_length())
    # From there on every sum but 0 is beyond the codes anyway.
    ratios = np.minimum(ratios, 2.0**bits - 1)
    _, exponents = np.frexp(ratios)
    shifts = np.clip(bits - exponents, 0, MOST_SHIFT)
    found = rounded_up(np.ldexp(ratios, shifts)).astype(np.int64)
    # What is rounded up to a power of two has a bit too many.
    over = (found >> bits > 0) & (shifts > 0)
    shifts = shifts - over
    return np.where(over, rounded_up(np.ldexp(ratios, shifts)).astype(np.int64), found), shifts
