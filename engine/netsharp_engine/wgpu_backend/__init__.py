"""The back end for graphics devices of any vendor: graphs become programs in WGSL, run by wgpu.

It knows graphs and the seam, no language; wgpu itself is imported where a device is opened.
"""

from __future__ import annotations

from netsharp_engine.program import Backend, Job
from netsharp_engine.wgpu_backend.draft import DeviceDraft
from netsharp_engine.wgpu_backend.planning.facts import facts_of
from netsharp_engine.wgpu_backend.planning.plan import DevicePlan, PlanStyle, planned, shown
from netsharp_engine.wgpu_backend.program import DeviceProgram
from netsharp_engine.wgpu_backend.running import Adapter, adapters, chosen
from netsharp_engine.wgpu_backend.tuning.keeping import DeviceIdentity, DeviceSpeed, kept_speed
from netsharp_engine.wgpu_backend.tuning.policy import DeviceTuning

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
        self.adapter = adapter

    def speed(self) -> DeviceSpeed | None:
        """Return the speed that was measured of the device and kept; None where none was."""
        return kept_speed(DeviceIdentity.here(self.adapter.name, self.adapter.driver))

    def __call__(self, job: Job) -> DeviceDraft:
        """Return the draft of a job."""
        return DeviceDraft(job, self.adapter.name, tuning=DeviceTuning(self.adapter))


def backend(adapter: str | None = None) -> DeviceBackend:
    """Return the back end on the best device, or the best whose name or kind is asked for.

    GraphError, a sentence, where there is none, or no package that looks for it.
    """
    return DeviceBackend(chosen(adapter)[0])


def planner(wanted: str = "") -> Backend:
    """Return the planner for any device of that name; none need be present."""
    return lambda job: DeviceDraft(job, tuning=DeviceTuning(None, wanted))
