"""From a graph to buffers and bound calls; it knows graphs and back ends, no language."""

from netsharp_engine.kernels.threads import thread_limit
from netsharp_engine.plan.build import build_plan, compile_plan
from netsharp_engine.plan.design import Design
from netsharp_engine.plan.room import require_room
from netsharp_engine.plan.running import Plan

__all__ = ["Design", "Plan", "build_plan", "compile_plan", "require_room", "thread_limit"]
