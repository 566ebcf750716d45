"""The device that computes a run: the one of its settings, checked against the run's needs.

It knows the registry of devices and must not know back ends.
"""

from __future__ import annotations

from collections.abc import Mapping

from netsharp_engine.backends import CPU, Device, choose
from netsharp_engine.graph import Graph
from netsharp_engine.program import Unusable
from netsharp_engine.train.drafting.drafts import run_jobs
from netsharp_engine.train.failures import TrainingError
from netsharp_engine.train.objective import choose_objective
from netsharp_engine.train.preparation import TrainingData
from netsharp_engine.train.settings import TrainingSettings


def device_of(
    graph: Graph, data: TrainingData, settings: TrainingSettings, *, shared: bool = False
) -> Device:
    """Return the device of a run, which several processes share if ``shared``.

    Raises TrainingError where it cannot be used.
    """
    objective = choose_objective(graph, data.classes, settings.loss, data.outputs, data.scale)
    batch = min(settings.batch_size, data.train.rows)
    jobs = (
        () if settings.device == CPU else run_jobs(graph, objective, settings, batch, shared=shared)
    )
    found = choose(settings.device, jobs, settings.precision or "")
    if isinstance(found, Unusable):
        raise TrainingError(f"device = {settings.device}: {found}")
    return found


def device_facts(device: Device, settings: TrainingSettings) -> dict[str, str]:
    """Return the entry on the device in a run's log; empty for the default device."""
    return (
        {}
        if settings.device == CPU
        else {
            "name": device.name,
            "title": device.title,
            "why": device.why,
        }
    )


def device_text(facts: Mapping[str, str]) -> str:
    """Return the name and the title of `device_facts` as a model keeps them; empty without any."""
    return f"{facts['name']}: {facts['title']}" if facts else ""
