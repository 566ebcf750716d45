"""The back end for graphics devices of any vendor: graphs become programs in WGSL, run by wgpu.

It knows graphs and the seam, no language; wgpu itself is imported where a device is opened.
"""

from __future__ import annotations

from netsharp_engine.program import Backend, Job
from netsharp_engine.wgpu_backend.planning.facts import facts_of
from netsharp_engine.wgpu_backend.planning.plan import DevicePlan, PlanStyle, planned, shown
from netsharp_engine.wgpu_backend.program import DeviceDraft, DeviceProgram
from netsharp_engine.wgpu_backend.running import Adapter, adapters, chosen

__all__ = [
    "Adapter",
    "DeviceBackend",
    "DeviceDraft",
    "DevicePlan",
    "DeviceProgram",
    "PlanStyle",
    "adapters",
    "backend",
    "facts_of",
    "planned",
    "planner",
    "shown",
]


class DeviceBackend:
    """The back end on one device; ``name`` is how it is asked for, ``title`` what people read."""

    def __init__(self, adapter: Adapter) -> None:
        self.name = f"wgpu:{adapter.name}"
        self.title = f"{adapter}, {adapter.kind}"
        self._adapter = adapter.name

    def __call__(self, job: Job) -> DeviceDraft:
        """The draft of a job."""
        return DeviceDraft(job, self._adapter)


def backend(adapter: str | None = None) -> DeviceBackend:
    """The back end on the best device, or the best whose name or kind is asked for.

    GraphError, a sentence, where there is none, or no package that looks for it.
    """
    return DeviceBackend(chosen(adapter)[0])


def planner() -> Backend:
    """Return what drafts for any device, none of which has to be here."""
    return DeviceDraft
