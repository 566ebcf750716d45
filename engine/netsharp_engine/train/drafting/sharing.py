"""The number of threads that share the rows of a step, where a run leaves that to a measurement.

It times steps of the run itself, and must not know back ends.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.initial import diameters, initial_values
from netsharp_engine.program import Backend, Program
from netsharp_engine.room import require_room
from netsharp_engine.train.drafting.drafts import draft_run
from netsharp_engine.train.feeding import Feeder
from netsharp_engine.train.objective import choose_objective
from netsharp_engine.train.preparation import TrainingData
from netsharp_engine.train.settings import TrainingSettings
from netsharp_engine.train.settings.keys import AUTO

#: Numbers that are tried, as far as there are processors.
TRIED = (2, 4, 8, 16, 32)
#: The seconds for which steps are tried in turns, and the least and the most steps of each number.
SECONDS, LEAST, MOST = 0.3, 3, 40
#: More threads have to take at most this part of the time of one: less is within the noise.
WORTH = 0.9


def with_threads(
    graph: Graph, data: TrainingData, settings: TrainingSettings, backend: Backend
) -> TrainingSettings:
    """Return the settings with a number of threads; those that have one are unchanged. Raises
    GraphError where a node cannot be computed, and TrainingError for a loss that does not go with
    the output.
    """
    if settings.threads != AUTO:
        return settings
    processors = _processors()
    tried = [count for count in TRIED if count <= min(processors, settings.batch_size)]
    return replace(settings, threads=fastest(graph, data, settings, backend, tried))


def fastest(
    graph: Graph,
    data: TrainingData,
    settings: TrainingSettings,
    backend: Backend,
    tried: Sequence[int],
) -> int:
    """Return the number of threads with the shortest step; 1 where no other is faster by a margin.

    Numbers for which memory is too small, or that cannot compute the network, are skipped. Raises
    TrainingError where network, data and settings do not fit. Raises GraphError where a node cannot
    be computed, and TrainingError for a loss that does not go with the output.
    """
    objective = choose_objective(graph, data.classes, settings.loss, data.outputs, data.scale)
    batch = min(settings.batch_size, data.train.rows)
    drafts = draft_run(graph, objective, settings, batch, backend)
    programs: dict[int, Program] = {}
    for count in (1, *tried):
        try:
            needs = drafts.trainer.needs(shares=bool(programs), threads=count)
            require_room("Trying threads", [needs], "")
            programs[count] = drafts.trainer.program(count, programs.get(1))
        except GraphError:
            if count == 1:
                return 1  # the run reports why
    if len(programs) == 1:
        return 1
    diameter = diameters(graph, settings.init, settings.init_diameter)
    programs[1].load(initial_values(graph.parameters, settings.seed, diameter, settings.dtype))
    feeder = Feeder(
        drafts.training.graph,
        data.train,
        batch,
        objective.scale,
        shuffle=settings.shuffle,
        seed=settings.seed,
    )
    feeder.start_epoch(0)
    return chosen(_timed(programs, feeder))


def chosen(seconds: dict[int, list[float]]) -> int:
    """Return the number of threads, from the seconds of steps with each."""
    medians = {count: statistics.median(each) for count, each in seconds.items()}
    best = min(medians, key=lambda count: (medians[count], count))
    return best if medians[best] <= WORTH * medians[1] else 1


def _timed(programs: dict[int, Program], feeder: Feeder) -> dict[int, list[float]]:
    """Return the seconds of steps with each number of threads, measured in turns; the first of each
    is a warm-up.
    """
    seen: dict[int, list[float]] = {count: [] for count in programs}
    end = time.perf_counter() + SECONDS
    for number in range(MOST + 1):
        batch = feeder.batch(number % feeder.steps)
        for count, program in programs.items():
            started = time.perf_counter()
            program.feed(batch)
            program.step()
            if number:
                seen[count].append(time.perf_counter() - started)
        if number >= LEAST and time.perf_counter() > end:
            break
    return seen


def _processors() -> int:
    """Return the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        return os.cpu_count() or 1
