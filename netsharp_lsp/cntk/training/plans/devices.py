"""The device that trains a network of CNTK, where one is asked for; it knows no device itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.backends import CPU, choose
from netsharp_engine.cntk.computing import BACKEND
from netsharp_engine.graph import GraphError
from netsharp_engine.program import Job, Unusable

if TYPE_CHECKING:
    from netsharp_engine.backends import Device
    from netsharp_engine.cntk.descent.training import TrainingPlan
    from netsharp_engine.graph import Graph


def training_job(graph: Graph, plan: TrainingPlan) -> Job:
    """Return the job of a back end in training, for minibatches of the largest size."""
    rule = plan.updates.rule(0.0, 0.0, 1)
    return Job(graph, max(plan.schedule.sizes), plan.dtype, rule)


def trained_by(name: str, precision: str, job: Job) -> Device | None:
    """Return the device that computes a training, None for the usual one where none is asked for.

    GraphError, a sentence, where there is no such device, or it cannot compute the network.
    """
    if not name and not precision:
        return None
    found = choose(name or CPU, [job], precision, BACKEND)
    if isinstance(found, Unusable):
        raise GraphError(f"--device {name or CPU}: {found}")
    return found


def facts_of(device: Device | None) -> dict[str, str]:
    """Return the facts about a device for a run's log; none where no device was asked for."""
    if device is None:
        return {}
    return {"name": device.name, "title": device.title, "why": device.why}
