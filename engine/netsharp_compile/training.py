"""Transfer tables for a training that has them in its loop: the same as those that a network of
these ranges is compiled to.

Knows no graph and no step of training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.operators import chain_of
from netsharp_compile.planning import hidden_schemes
from netsharp_compile.ranges import Observed
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
    seen = observed_from(function, sums)
    result, target = hidden_schemes(function, seen, _KINDS[kind], bits, shared=True)
    values = target.dequantize(transfer_table(result, function, target).values)
    return np.concatenate([[result.scale, float(result.least - result.zero_point)], values])


def observed_from(function: str, sums: tuple[float, float]) -> Observed:
    """Return what is seen of a layer whose sums go from one number to another.

    Every activation has its extremes at the ends, or at 0 between them.
    """
    (operator,) = chain_of(function)
    points = np.array([*sums, min(max(0.0, sums[0]), sums[1])])
    with np.errstate(all="ignore"):
        found = operator.values(points)
    return Observed(sums, (float(found.min()), float(found.max())))
