"""Transfer tables for a training that has them in its loop: the same as those that a network of
these ranges is compiled to.

Knows no graph and no step of training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.calibrating.ranges import RANGES, Observed, RangeMethod, SeenNumbers
from netsharp_compile.operators import chain_of
from netsharp_compile.planning import hidden_schemes
from netsharp_compile.tables import transfer_table
from netsharp_compile.widths import OperandWidth

if TYPE_CHECKING:
    from netsharp_compile.operators import Array


def training_table(function: str, operands: str, sums: tuple[float, float]) -> Array:
    """Return the table of an operation ``transfer``: its step, its lowest code, counted in steps
    from 0, and the value of each code [2 + codes], float64.

    ``operands`` are kind and bits ("uint8"), ``sums`` the least and the largest number that goes
    in.  Raises ValueError where no scheme covers them.
    """
    width, method = OperandWidth.of(operands), RangeMethod.of(RANGES[0])
    seen = observed_from(function, sums)
    result, target = hidden_schemes(function, seen, width, method, share_tables=True)
    values = target.dequantize(transfer_table(result, function, target).values)
    return np.concatenate([[result.scale, float(result.least - result.zero_point)], values])


def observed_from(function: str, sums: tuple[float, float]) -> Observed:
    """Return the observation for a layer whose sums are in an interval.

    Every activation has its extremes at the ends, or at 0 between them. Raises ValueError for an
    activation without an operator.
    """
    (operator,) = chain_of(function)
    points = np.array([*sums, min(max(0.0, sums[0]), sums[1])])
    with np.errstate(all="ignore"):
        found = operator.values(points)
    return Observed(SeenNumbers(*sums), SeenNumbers(float(found.min()), float(found.max())))
