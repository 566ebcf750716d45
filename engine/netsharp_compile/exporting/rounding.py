"""Adjustments by which ONNX's rounding, of halves to even, gives the codes of a device, which
rounds halves up.

QuantizeLinear divides in float32.  Halves occur where multipliers are powers of two, as those of
shifts, and where an operator gives round values, as sigmoid of 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.operators import chain_of
from netsharp_compile.rescaling import requantized

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerLayer, Integers
    from netsharp_compile.operators import Array
    from netsharp_compile.schemes import QuantizationScheme

#: The most bits of a sum's fraction with which sums are moved: with more, ties are rarer than one
#: in 4,096.  Float32 holds 24 bits: with 22 of code and fraction the half that is added is exact.
_FRACTION_BITS, _ALL_BITS = 12, 22
#: The float32 numbers on each side of a scale that are tried, and the sums and channels on which:
#: one neighbour suffices for a division, two for a product and a division; more sums cost time.
_NEIGHBOURS, _SUMS, _CHANNELS = 1, 4097, 16


def single(values: Array) -> np.ndarray:
    """Return scales as float32, of the same shape; ValueError for one that it does not hold."""
    with np.errstate(over="ignore", under="ignore"):
        found = np.asarray(values, np.float64).astype(np.float32)
    kind = np.finfo(np.float32)
    wrong = ~(np.isfinite(found) & (found >= kind.tiny))
    if wrong.any():
        raise ValueError(
            f"a scale is {np.asarray(values)[wrong].flat[0]:g}, and those of ONNX are float32, "
            f"from {kind.tiny:.2g} on"
        )
    return found


def scale_of_table(layer: IntegerLayer, table: Integers) -> float:
    """Return the float32 next to the scale of a layer's values, or the nearest, with which most
    codes become those of its table. Raises ValueError for a scale that float32 does not hold.
    ``table`` has a code for each code of the sums, [codes].
    """
    (operator,) = chain_of(layer.function)
    result = layer.result
    given = (result.codes() - result.zero_point).astype(np.float32) * single(np.array(result.scale))
    with np.errstate(all="ignore"):
        values = operator.values(given.astype(np.float64)).astype(np.float32)
    return _best(values, layer.target, table, _NEIGHBOURS)


def scale_of_sums(layer: IntegerLayer) -> float:
    """Return the float32 near to the scale of a layer's sums with which most sums become the codes
    that multipliers give: where weights have a common divisor, as of means, many are near halves,
    and the last bit of a multiplier says which way these go. Raises ValueError for a scale that
    float32 does not hold.
    """
    result, step = layer.result, _step(layer)
    if not step or rounding_offset(layer):
        return float(single(np.array(result.scale)))
    _, firsts = np.unique(layer.channels, return_index=True)
    firsts = firsts[layer.multipliers[layer.channels[firsts]] > 0][:_CHANNELS]
    channels = layer.channels[firsts]
    multipliers, shifts = layer.multipliers[channels], layer.shifts[channels]
    ratios = np.ldexp(multipliers.astype(np.float64), -shifts)
    spread = np.linspace(-result.size, result.size, _SUMS) / ratios[:, None] / step
    sums = np.unique(np.clip(spread, -layer.bound, layer.bound).astype(np.int64), axis=1) * step
    ours = requantized(sums, multipliers[:, None], shifts[:, None]) + result.zero_point
    values = (sums * (ratios * result.scale)[:, None]).astype(np.float32)
    return _best(values, result, np.clip(ours, result.least, result.most), 2 * _NEIGHBOURS)


def _step(layer: IntegerLayer) -> int:
    """Return the common divisor of all sums without their bias; 0 where that is 1, or has no
    effect.
    """
    if layer.pool is not None:
        return 0 if layer.pool.largest else 1
    found = np.gcd.reduce(np.concatenate([part.weights.reshape(-1) for part in layer.parts]))
    return int(found) if found > 1 else 0


def _best(values: np.ndarray, scheme: QuantizationScheme, wanted: Integers, reach: int) -> float:
    """Return the float32 near the scale of a scheme with which most values become the codes
    wanted.
    """
    nearest = single(np.array(scheme.scale))[()]
    best, fewest = nearest, wanted.size + 1
    for place in sorted(range(-reach, reach + 1), key=abs):
        scale = nearest + np.float32(place) * np.spacing(nearest)
        with np.errstate(over="ignore"):
            steps = np.rint(values / scale).astype(np.float64) + scheme.zero_point
        differing = int((np.clip(steps, scheme.least, scheme.most) != wanted).sum())
        if differing < fewest:
            best, fewest = scale, differing
    return float(best)


def rounding_offset(layer: IntegerLayer) -> float:
    """Return the value added to sums so that halves round up: half of their smallest step, 0 where
    steps are too small for a half to occur.
    """
    live = layer.multipliers > 0
    multipliers, shifts = layer.multipliers[live], layer.shifts[live]
    if not len(multipliers):
        return 0.0
    # Trailing zeros of a multiplier shorten the fraction.
    _, exponents = np.frexp((multipliers & -multipliers).astype(np.float64))
    fraction = int((shifts - (exponents - 1)).max())
    if not 0 < fraction <= min(_FRACTION_BITS, _ALL_BITS - layer.result.bits):
        return 0.0
    return float(np.ldexp(layer.result.scale, -fraction - 1))
