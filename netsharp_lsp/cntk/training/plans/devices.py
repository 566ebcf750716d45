"""The jobs that a training gives to a device, and the facts about that for a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.backends import CPU
from netsharp_engine.backends.families import SOFTWARE
from netsharp_engine.program import Job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_engine.cntk.computing import Computing
    from netsharp_engine.cntk.descent.training import TrainingPlan
    from netsharp_engine.graph import Graph
    from netsharp_lsp.cntk.training.plans.sharing import TrainedTogether


def training_job(graph: Graph, plan: TrainingPlan, together: TrainedTogether) -> Job:
    """Return the job of a back end in training, for minibatches of the largest size."""
    rule = plan.updates.rule(0.0, 0.0, 1)
    return Job(graph, _widest(plan), plan.dtype, rule, together.adds_gradients)


def forward_job(graph: Graph, plan: TrainingPlan) -> Job:
    """Return the job of what a training computes without learning from it."""
    return Job(graph, _widest(plan), plan.dtype)


def _widest(plan: TrainingPlan) -> int:
    return max(plan.schedule.sizes)


def facts_of(whole: Computing, **parts: Computing | None) -> dict[str, str]:
    """Return the facts about what computes an action, for a log: of its parts those that are
    computed elsewhere, each as a sentence. None where no device was requested.
    """
    elsewhere = {
        name: f"{part.facts['name']} ({part.facts['title']}): {part.facts['why']}"
        for name, part in parts.items()
        if part is not None and part.backend is not whole.backend
    }
    found: Mapping[str, str] = whole.facts
    return {**found, **elsewhere}


def unit_of(facts: Mapping[str, str]) -> str:
    """Return CNTK's name of what computes, from the facts about it: one device is used, the first.

    The names are those of the lines that CNTK's guide to its set-up quotes ("Using GPU 0.").
    """
    name, title = facts.get("name", CPU), facts.get("title", "")
    is_processor = name == CPU or name.endswith(f":{CPU}") or title.endswith(f", {SOFTWARE}")
    return "CPU" if is_processor else "GPU 0"
