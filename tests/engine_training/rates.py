"""Rates that are not measured: each call takes as long as any other, and so does each unit."""

from __future__ import annotations

from netsharp_engine.costs.prediction import BLOCK, STEP
from netsharp_engine.numpy_backend.costing.probes import made_probes, rates_of
from netsharp_engine.numpy_backend.costing.rates import Rate

#: Seconds; powers of two, so that their sums are exact in binary.
CALL, UNIT = 2.0**-20, 2.0**-30
#: What surrounds the calls of a step, and of a block of rows that is measured.
AROUND, MEASURED = 2.0**-10, 2.0**-9


def even_rates(dtype: str = "float32") -> dict[str, Rate]:
    """Rates of every kind that is measured, on its own grid."""
    probes = made_probes(dtype)
    measured = rates_of(probes, [1.0] * len(probes))
    even = {
        kind: Rate(CALL, rate.axes, (UNIT,) * len(rate.units)) for kind, rate in measured.items()
    }
    return {**even, STEP: Rate(AROUND, (), (0.0,)), BLOCK: Rate(MEASURED, (), (0.0,))}
