"""The back end for graphics devices of any vendor: graphs become programs in WGSL, run by wgpu.

It knows graphs and the seam, no language; wgpu itself is imported where a device is opened.
"""

from __future__ import annotations

from functools import partial

from netsharp_engine.program import Backend
from netsharp_engine.wgpu_backend.planning.plan import DevicePlan, PlanStyle, planned, shown
from netsharp_engine.wgpu_backend.program import DeviceDraft, DeviceProgram
from netsharp_engine.wgpu_backend.running import Adapter, adapters

__all__ = [
    "Adapter",
    "DeviceDraft",
    "DevicePlan",
    "DeviceProgram",
    "PlanStyle",
    "adapters",
    "backend",
    "planned",
    "shown",
]


def backend(adapter: str | None = None) -> Backend:
    """The back end on the best device, or the best whose name or kind is asked for."""
    return partial(DeviceDraft, adapter=adapter)
