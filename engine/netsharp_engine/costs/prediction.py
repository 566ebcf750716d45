"""Seconds and bytes of a step and of an epoch, layer by layer: sums over work at given rates.

It reads no clock, and must not know where rates come from or how they are shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import (
    CallWork,
    Design,
    NodeWork,
    NumpyDraft,
    Rates,
    entering,
    node_work,
    seconds_of,
    updating,
)
from netsharp_engine.room import require_room
from netsharp_engine.train.drafting.drafts import RunDrafts, draft_run, expected_objective
from netsharp_engine.train.measure import BATCH
from netsharp_engine.train.settings import TrainingSettings
from netsharp_engine.train.steps.quantizing import quantized_graph

#: The kinds of what is done around the calls of a step, and of a block of rows that is measured.
STEP, BLOCK = "step", "measured block"
#: Bytes of a row's label.
LABEL_BYTES = 8
WIDTHS = {"float32": 4, "float64": 8}


class LayerCost(NamedTuple):
    """A layer's part of a step: seconds forward, backward and of the update, and its bytes."""

    name: str
    forward: float
    backward: float
    update: float
    memory: int

    @property
    def seconds(self) -> float:
        """Return the sum in seconds."""
        return self.forward + self.backward + self.update


class Prediction(NamedTuple):
    """The predicted cost of training with one thread.

    ``around`` are the seconds of a step that belong to no layer: rows are chosen, copied in, and
    numbers are checked. ``steps`` are those of an epoch over ``rows`` training rows, after which
    ``held`` rows are measured in ``measuring`` seconds; None where the number of rows is unknown.
    ``memory`` are the bytes of the run without its rows, ``table`` those of the rows.
    """

    batch: int
    layers: tuple[LayerCost, ...]
    around: float
    memory: int
    rows: int | None = None
    held: int = 0
    steps: int | None = None
    measuring: float = 0.0
    table: int | None = None

    @property
    def step(self) -> float:
        """Return the seconds of one step."""
        return math.fsum((self.around, *(layer.seconds for layer in self.layers)))

    @property
    def epoch(self) -> float | None:
        """Return the seconds of one epoch."""
        return None if self.steps is None else self.steps * self.step + self.measuring


class RunWork(NamedTuple):
    """The work of a run: each layer forward, backward, the update of ``trained`` numbers, and the
    rest.
    """

    layers: Mapping[str, NodeWork]
    trained: Mapping[str, int]
    update: CallWork
    around: tuple[CallWork, ...]
    block: tuple[CallWork, ...]


def predict(
    graph: Graph, settings: TrainingSettings, rates: Rates, rows: int | None = None
) -> Prediction:
    """Predict a run over ``rows`` rows, of which the settings may hold some for validation.

    Raises TrainingError where settings and network do not fit, GraphError where it cannot be
    computed or there is no memory for it, KeyError for work that has no rate.
    """
    held = 0
    if rows is not None and isinstance(settings.validation, float):
        held = round(rows * settings.validation)
    trained = None if rows is None else max(rows - held, 1)
    batch = settings.batch_size if trained is None else min(settings.batch_size, trained)
    drafts = drafted_run(graph, settings, batch)
    needs: Counter[str] = Counter()
    for part in drafts.needs():
        needs.update(part)
    work = work_of_run(graph, settings, drafts)
    update = rates[work.update.kind].seconds(work.update)
    numbers = max(sum(work.trained.values()), 1)
    layers = tuple(
        LayerCost(
            name,
            seconds_of(rates, one.forward),
            seconds_of(rates, one.backward),
            update * work.trained.get(name, 0) / numbers,
            needs[f"layer '{name}'"],
        )
        for name, one in work.layers.items()
    )
    around = seconds_of(rates, work.around)
    memory = needs.total()
    if trained is None or rows is None:
        return Prediction(batch, layers, around, memory)
    blocks = -(-held // BATCH)
    table = rows * (graph.features * WIDTHS[settings.dtype] + LABEL_BYTES)
    return Prediction(
        batch,
        layers,
        around,
        memory,
        trained,
        held,
        -(-trained // batch),
        blocks * seconds_of(rates, work.block) if blocks else 0.0,
        table,
    )


def drafted_run(graph: Graph, settings: TrainingSettings, batch: int) -> RunDrafts:
    """Return the drafts of a run whose data is known only from the network and the settings. Raises
    TrainingError where memory is too small. Raises GraphError where memory is too small.
    """
    graph = quantized_graph(graph, settings.quantize)
    objective = expected_objective(graph, settings)
    drafts = draft_run(graph, objective, settings, batch, NumpyDraft)
    require_room("Such a training", drafts.needs(), "Set a smaller batch_size.")
    return drafts


def work_of_run(graph: Graph, settings: TrainingSettings, drafts: RunDrafts) -> RunWork:
    """Return the work of a step, and of a block of rows that is measured. Raises GraphError where
    memory is too small.
    """
    trainer, meter = drafts.trainer, drafts.meter
    assert isinstance(trainer, NumpyDraft)
    assert isinstance(meter, NumpyDraft)
    design = trainer.design
    names = design.facts.layers()
    forward: dict[str, list[CallWork]] = {}
    backward: dict[str, list[CallWork]] = {}
    found = node_work(design)
    for node in design.nodes:
        forward.setdefault(names[node], []).extend(found[node].forward if node in found else ())
        backward.setdefault(names[node], []).extend(found[node].backward if node in found else ())
    layers = {
        name: NodeWork(tuple(forward[name]), tuple(backward[name]))
        for name in forward
        if forward[name] or backward[name]
    }
    trained: Counter[str] = Counter()
    seen = set()
    for node in design.nodes:
        for parameter in node.parameters:
            if parameter.trained and parameter not in seen:
                seen.add(parameter)
                trained[names[node]] += parameter.size
    assert drafts.training.rule is not None
    size = sum(trained.values())
    around = (*_around(settings, size), *_fed(design, graph.features), CallWork(STEP, (), 0))
    measured = node_work(meter.design).values()
    block = (
        *(work for one in measured for work in one.forward),
        *_fed(meter.design, graph.features),
        CallWork(BLOCK, (), 0),
    )
    return RunWork(layers, trained, updating(drafts.training.rule.kind, size), around, block)


def _around(settings: TrainingSettings, size: int) -> Iterator[CallWork]:
    """Yield the work on the weights and their gradient beside the update itself."""
    once = CallWork("dot", (size,), size)
    passed = CallWork("sum", (size, size), size)
    yield from (once, once)
    if settings.clip_norm:
        yield once
    for option in (settings.clip_value, settings.weight_decay, settings.max_norm):
        if option:
            yield passed


def _fed(design: Design, features: int) -> Iterable[CallWork]:
    """Yield the work of choosing rows and copying them into the inputs."""
    numbers = features * design.batch
    yield CallWork("gathered rows", (features, numbers), numbers)
    yield from entering(design)
