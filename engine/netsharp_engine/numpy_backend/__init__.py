"""The reference back end: plans of bound numpy calls on buffers made beforehand.

It knows graphs and the seam, no language and nothing of training beyond update rules.
"""

from netsharp_engine.numpy_backend.build import build_plan, compile_plan, design_plan
from netsharp_engine.numpy_backend.design import Design
from netsharp_engine.numpy_backend.kernels.threads import thread_limit
from netsharp_engine.numpy_backend.program import NumpyDraft
from netsharp_engine.numpy_backend.running import Plan

__all__ = [
    "Design",
    "NumpyDraft",
    "Plan",
    "build_plan",
    "compile_plan",
    "design_plan",
    "thread_limit",
]
