"""From a graph to buffers and bound calls; it knows graphs and back ends, no language."""

from netsharp_engine.numpy_backend.build import build_plan, compile_plan
from netsharp_engine.numpy_backend.design import Design
from netsharp_engine.numpy_backend.kernels.threads import thread_limit
from netsharp_engine.numpy_backend.running import Plan

__all__ = ["Design", "Plan", "build_plan", "compile_plan", "thread_limit"]
