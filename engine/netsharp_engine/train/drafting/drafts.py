"""The programs of a run before any memory is taken for them: one that trains, one that measures.

It must not know back ends, or rows of the data.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from netsharp_engine.graph import Graph
from netsharp_engine.program import Backend, Draft, Job, Program, drafted
from netsharp_engine.train.measure import BATCH, measuring_job
from netsharp_engine.train.metrics import tally_bytes
from netsharp_engine.train.objective import Objective, choose_objective, output_activation
from netsharp_engine.train.rates import rule_of
from netsharp_engine.train.settings import TrainingSettings
from netsharp_engine.train.steps.dropping import dropping_graph, layer_shares


class RunDrafts(NamedTuple):
    """The jobs of training and of measuring, and the drafts of both."""

    training: Job
    trainer: Draft
    measuring: Job
    meter: Draft
    objective: Objective
    threads: int

    def needs(self) -> tuple[Counter[str], ...]:
        """Return the bytes that a run takes beside its rows, by their use."""
        return (
            self.trainer.needs(threads=self.threads),
            self.meter.needs(shares=True),
            tally_bytes(self.objective, BATCH),
        )


def run_jobs(
    graph: Graph,
    objective: Objective,
    settings: TrainingSettings,
    batch: int,
    *,
    shared: bool = False,
) -> tuple[Job, Job]:
    """Return a run's jobs for a back end: training in steps of ``batch`` rows, and measuring.

    ``shared``: several processes train.  Raises TrainingError for layers that cannot drop.
    """
    shares = layer_shares(graph, settings.dropout)
    trained = objective.with_criteria(dropping_graph(graph, shares), counting=True)
    training = Job(trained, batch, settings.dtype, rule_of(settings), shared)
    return training, measuring_job(graph, objective, settings.dtype)


def expected_objective(graph: Graph, settings: TrainingSettings) -> Objective:
    """Return the objective of a run whose data is known only from the network and the settings.
    Raises TrainingError for a loss that does not go with the output.
    """
    assert graph.output is not None
    outputs = graph.output.size
    numbers = settings.regression or (
        settings.origins["task"] == "default" and output_activation(graph) == "linear"
    )
    classes = None if numbers else tuple(map(str, range(max(outputs, 2))))
    return choose_objective(graph, classes, settings.loss, outputs)


def run_facts(facts: dict[str, str], program: Program) -> dict[str, str]:
    """Return facts of a device with what a program says of how it computes there, if anything."""
    variants: str = getattr(program, "variants", "")
    return {**facts, "variants": variants} if facts and variants else facts


def draft_run(
    graph: Graph, objective: Objective, settings: TrainingSettings, batch: int, backend: Backend
) -> RunDrafts:
    """Draft both programs for steps of ``batch`` rows.

    Raises TrainingError for layers that cannot drop, GraphError where the back end cannot compute a
    node.
    """
    training, measuring = run_jobs(graph, objective, settings, batch)
    trainer, meter = drafted(backend, training), drafted(backend, measuring)
    return RunDrafts(training, trainer, measuring, meter, objective, settings.shards)
