"""Transfer tables for a training that has them in its loop: the same as those that a network of
these ranges is compiled to.

Knows no graph and no step of training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.operators import chain_of
from netsharp_compile.ranges import BOUNDED, Observed, SeenNumbers, sum_range, value_range
from netsharp_compile.schemes import QuantizationScheme
from netsharp_compile.tables import transfer_table
from netsharp_engine.train.settings.values import parted_operands

if TYPE_CHECKING:
    from netsharp_compile.operators import Array
    from netsharp_compile.schemes import Operand

_KINDS: dict[str, Operand] = {"uint": "unsigned", "int": "signed", "symmetric": "symmetric"}


def training_table(function: str, operands: str, sums: tuple[float, float]) -> Array:
    """Return the table of an operation ``transfer``: its step, its lowest code, counted in steps
    from 0, and the value of each code [2 + codes], float64.

    ``operands`` are kind and bits ("uint8"), ``sums`` the least and the largest number that goes
    in.  Raises ValueError where no scheme covers them.
    """
    kind, bits = parted_operands(operands)
    shared = function in BOUNDED
    seen = observed_from(function, sums).values
    target = _covering(value_range(function) if shared else seen[:2], _KINDS[kind], bits)
    result = target
    if function != "linear":
        found = sum_range(function, sums, target, shared=shared)
        result = _covering(found, _KINDS[kind], bits)
    values = target.dequantize(transfer_table(result, function, target).values)
    return np.concatenate([[result.scale, float(result.least - result.zero_point)], values])


def _covering(ends: tuple[float, float], operand: Operand, bits: int) -> QuantizationScheme:
    low, high = ends
    if operand == "symmetric":
        return QuantizationScheme.symmetric(max(abs(low), abs(high)), bits)
    return QuantizationScheme.asymmetric(low, high, bits, operand)


def observed_from(function: str, sums: tuple[float, float]) -> Observed:
    """Return what is seen of a layer whose sums go from one number to another.

    Every activation has its extremes at the ends, or at 0 between them.
    """
    (operator,) = chain_of(function)
    points = np.array([*sums, min(max(0.0, sums[0]), sums[1])])
    with np.errstate(all="ignore"):
        found = operator.values(points)
    return Observed(SeenNumbers(*sums), SeenNumbers(float(found.min()), float(found.max())))
