"""From a graph to buffers and bound calls; it knows graphs and back ends, no language."""

from netsharp_engine.kernels.threads import thread_limit
from netsharp_engine.plan.build import compile_plan
from netsharp_engine.plan.running import Plan

__all__ = ["Plan", "compile_plan", "thread_limit"]
