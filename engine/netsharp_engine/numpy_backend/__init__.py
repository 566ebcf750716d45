"""The reference back end: plans of bound numpy calls on buffers made beforehand.

It knows graphs and the seam, no language and nothing of training beyond update rules.
"""

from netsharp_engine.numpy_backend.build import build_plan, compile_plan, design_plan
from netsharp_engine.numpy_backend.costing.probes import measured_rates
from netsharp_engine.numpy_backend.costing.rates import (
    CallWork,
    Rate,
    Rates,
    rates_in,
    rates_out,
    seconds_of,
)
from netsharp_engine.numpy_backend.costing.working import NodeWork, entering, node_work, updating
from netsharp_engine.numpy_backend.design import Design
from netsharp_engine.numpy_backend.kernels.threads import thread_limit
from netsharp_engine.numpy_backend.program import NumpyDraft
from netsharp_engine.numpy_backend.running import Plan

__all__ = [
    "CallWork",
    "Design",
    "NodeWork",
    "NumpyDraft",
    "Plan",
    "Rate",
    "Rates",
    "build_plan",
    "compile_plan",
    "design_plan",
    "entering",
    "measured_rates",
    "node_work",
    "rates_in",
    "rates_out",
    "seconds_of",
    "thread_limit",
    "updating",
]
