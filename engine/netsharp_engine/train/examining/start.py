"""Looks at how a training would start, without training: loss, gradients, nodes, a batch, rates.

Everything is computed in float64 from the initial values of the run, with all nodes kept, and is
the same for the same seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from netsharp_engine.graph import Graph
from netsharp_engine.initial import diameters, initial_values
from netsharp_engine.ops import OPERATIONS
from netsharp_engine.program import (
    Backend,
    Batch,
    Figures,
    Job,
    Memory,
    Program,
    UpdateRule,
    drafted,
)
from netsharp_engine.room import require_room
from netsharp_engine.train.examining.layers import LayerFigures, layer_figures, some_rows
from netsharp_engine.train.feeding import Rows
from netsharp_engine.train.metrics import trivial_answer
from netsharp_engine.train.objective import choose_objective
from netsharp_engine.train.preparation import TrainingData
from netsharp_engine.train.rates import rule_of
from netsharp_engine.train.settings import TrainingSettings

#: The batch that training should be able to overfit: rows, steps of Adam, its rate, and the part
#: of the loss that may be left.
BATCH_ROWS, BATCH_STEPS, BATCH_RATE, BATCH_LEFT = 32, 300, 0.01, 0.1
#: The most multiply-adds for overfitting a batch, or for trying all rates.
MOST_WORK = 4e10
#: A rate is stable where this number of steps leaves the loss below this multiple of its beginning.
RATE_STEPS, STABLE = 30, 2.0
#: The most doublings or halvings of the run's rate that are tried.
DOUBLINGS = 14
#: From here on a finding is made: the loss beside that of a trivial answer, the part of a layer's
#: nodes, the gradient beside the largest one, the rate beside the largest stable one.
HIGH_LOSS, MANY_NODES, SMALL_GRADIENT, SMALL_RATE = 2.0, 0.5, 1e-3, 1 / 300


#: The possible observations, with the figures of each: the loss and that of a trivial answer; the
#: number of nodes and of all; a gradient and the largest one; rows, steps, the loss before and
#: after; a rate, the largest stable one, steps.
KINDS = (
    *("no number", "high loss", "dead", "saturated", "small gradient"),
    *("not learned", "large rate", "small rate"),
)


class Observation(NamedTuple):
    """One observation: one of ``KINDS``, a layer, and its figures."""

    kind: str
    layer: str
    figures: tuple[float, ...]


class LayerStart(NamedTuple):
    """A layer at the start: the norm of the gradient of its own parameters (NaN where it has none,
    or shares those of another layer), and what its nodes answer; None of the output.
    """

    name: str
    gradient: float
    answers: LayerFigures | None


@dataclass(slots=True)
class TrainingStart:
    """The observations of the start.

    ``trivial`` is the loss of always answering the shares of the classes or the mean; for K classes
    of one size ln K. ``memorised`` are the losses of some rows before and after learning them,
    ``stable`` the largest rate that was stable; each None where it was not examined. ``steep``:
    steps are proportional to gradients, so that a rate far below a stable one learns slowly.
    """

    rows: int
    loss: float
    trivial: float
    layers: list[LayerStart]
    memorised: tuple[int, float, float] | None = None
    rate: float | None = None
    stable: float | None = None
    steep: bool = False
    observations: list[Observation] = field(default_factory=list)


def examine_start(
    graph: Graph,
    data: TrainingData,
    settings: TrainingSettings,
    backend: Backend,
    should_stop: Callable[[], bool] = lambda: False,
) -> TrainingStart:
    """Return the observations on the start of training.

    Raises TrainingError where network, data and settings do not fit, GraphError where there is no
    memory for it.  Once ``should_stop`` is true the rest is skipped.
    """
    look = _Look(graph, data, settings, backend)
    start = look.begun()
    if not should_stop():
        start.memorised = look.memorise()
    if not should_stop() and settings.optimizer != "adadelta":
        start.rate = settings.learning_rate
        start.stable = look.stable_rate(start.loss, should_stop)
        start.steep = settings.optimizer == "sgd"
    start.observations = [*_observed(start, look.output)]
    return start


class _Look:
    """A network with some rows of its data."""

    def __init__(
        self, graph: Graph, data: TrainingData, settings: TrainingSettings, backend: Backend
    ) -> None:
        self.objective = choose_objective(
            graph, data.classes, settings.loss, data.outputs, data.scale
        )
        self._scored_graph = self.objective.with_criteria(graph)
        self._graph, self._data, self._settings, self._backend = graph, data, settings, backend
        assert graph.output is not None
        self.output = graph.output.name
        self._index = some_rows(data.train)
        self._features = data.train.matrix[self._index].astype(np.float64)
        self._targets = self.objective.scaled(data.train.targets[self._index])
        self._rows = Rows(self._scored_graph)
        diameter = diameters(graph, settings.init, settings.init_diameter)
        self._weights = initial_values(graph.parameters, settings.seed, diameter, "float64")
        costs = (OPERATIONS[node.op].cost(node) for node in graph.nodes if node.op != "input")
        # Backward takes about twice what forward takes.
        self._work = 3 * sum(cost.multiply_adds for cost in costs)

    def begun(self) -> TrainingStart:
        """Return the loss, the gradients and the answers of the first step."""
        count, rule = len(self._index), UpdateRule("sgd", 1.0)
        draft = drafted(self._backend, Job(self._scored_graph, count, "float64", rule))
        require_room(f"Looking at {count:,} rows", (draft.needs(),), "Make layers smaller.")
        program = draft.program()
        program.load(self._weights)
        program.feed(self._batch(slice(None)))
        finite = program.step()
        answers = {each.name: each for each in layer_figures(self._graph, program.read)}
        figures = program.figures()
        loss, norms = math.nan, {}
        if finite and program.update(rule):
            figures = program.figures()
            loss = figures.sums[0] / figures.weight
            norms = self._norms(program.store())
        assert self._graph.output is not None
        names = [*answers, self._graph.output.name]
        layers = [LayerStart(name, norms.get(name, math.nan), answers.get(name)) for name in names]
        return TrainingStart(count, loss, self._trivial(), layers)

    def _norms(self, moved: dict[str, npt.NDArray[np.floating]]) -> dict[str, float]:
        """Return the gradient's norm by layer: a step of rate 1 subtracted it from the weights."""
        squares: dict[str, float] = {}
        for name, before in self._weights.items():
            layer = name.partition("/")[0]
            square = float(np.square(before - moved[name]).sum())
            squares[layer] = squares.get(layer, 0.0) + square
        return {layer: math.sqrt(square) for layer, square in squares.items()}

    def _trivial(self) -> float:
        """Return the loss of the best answer that is the same for all rows."""
        targets = self._targets
        answer = trivial_answer(self.objective, [(targets, np.ones(len(targets)))])
        if self.objective.classes is None:
            spread = np.square(targets.astype(np.float64) - np.array(answer))
            return float(spread.reshape(len(targets), -1).sum(axis=1).mean())
        shares = np.array(answer)
        if self.objective.loss == "squared error":
            outputs = shares if self.objective.outputs > 1 else shares[1:]
            return float((outputs * (1 - outputs)).sum())
        if self.objective.loss == "cross entropy":
            return _entropy(shares)
        each = shares if self.objective.outputs > 1 else shares[1:]
        return sum(_entropy(np.array([share, 1 - share])) for share in each.tolist())

    def memorise(self) -> tuple[int, float, float] | None:
        """Return the number of some rows, and their loss before and after learning them; None where
        that is too much work.
        """
        count = min(BATCH_ROWS, len(self._index))
        if self._work * count * BATCH_STEPS > MOST_WORK:
            return None
        batch = self._batch(self._order()[:count])
        # Kingma and Ba (2015), algorithm 1.
        constants = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
        rule = UpdateRule("adam", BATCH_RATE, constants=constants)
        program = drafted(self._backend, Job(self._scored_graph, count, "float64", rule)).program()
        program.load(self._weights)
        losses: list[float] = []
        program.feed(batch)
        for _ in range(BATCH_STEPS):
            program.count(Figures())
            if not (program.step() and program.update(rule)):
                return count, losses[0] if losses else math.nan, math.nan
            figures = program.figures()
            losses.append(figures.sums[0] / figures.weight)
        return count, losses[0], losses[-1]

    def stable_rate(self, loss: float, should_stop: Callable[[], bool]) -> float | None:
        """Return the largest rate, by factors of two from that of the run, at which steps of the
        run's rule do not make the loss much larger; None where that is too much work, or there is
        none.
        """
        size = min(self._settings.batch_size, len(self._index))
        tries = RATE_STEPS * size + len(self._index)
        if self._work * tries * DOUBLINGS > MOST_WORK or not math.isfinite(loss):
            return None
        rule = rule_of(self._settings)
        draft = drafted(self._backend, Job(self._scored_graph, size, "float64", rule))
        full_draft = drafted(self._backend, Job(self._scored_graph, len(self._index), "float64"))
        program = draft.program()
        evaluation = full_draft.program(beside=program)
        nothing = program.store_memory()
        limit = STABLE * max(loss, self._trivial())

        def holds(rate: float) -> bool:
            return self._loss_after(program, evaluation, nothing, rule._replace(rate=rate)) <= limit

        rate = self._settings.learning_rate
        grows = holds(rate)
        for _ in range(DOUBLINGS):
            if should_stop():
                return None
            following = 2 * rate if grows else rate / 2
            if holds(following) != grows:
                return rate if grows else following
            rate = following
        return rate if grows else None

    def _loss_after(
        self, program: Program, evaluation: Program, nothing: Memory, rule: UpdateRule
    ) -> float:
        """Return the loss of all rows after some steps from the initial values; infinite after a
        fault.
        """
        program.load(self._weights)
        program.load_memory(nothing)
        program.count(Figures())
        count, size = len(self._index), min(self._settings.batch_size, len(self._index))
        order = self._order()
        for step in range(RATE_STEPS):
            rows = order[np.arange(step * size, (step + 1) * size) % count]
            program.feed(self._batch(rows))
            if not (program.step() and program.update(rule)):
                return math.inf
        if program.figures().fault is not None:
            return math.inf
        evaluation.count(Figures())
        evaluation.feed(self._batch(slice(None)))
        evaluation.step()
        figures = evaluation.figures()
        loss = figures.sums[0] / figures.weight
        return loss if math.isfinite(loss) else math.inf

    def _order(self) -> npt.NDArray[np.intp]:
        """Return all rows, in the order of the seed."""
        return np.random.default_rng(self._settings.seed).permutation(len(self._index))

    def _batch(self, rows: slice | npt.NDArray[np.intp]) -> Batch:
        return Batch(self._rows.named(self._features[rows], self._targets[rows]))


def _entropy(shares: npt.NDArray[np.float64]) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log(some)).sum())


def _observed(start: TrainingStart, output: str) -> list[Observation]:
    """Return the observations that deserve a finding."""
    found = []
    if not math.isfinite(start.loss):
        found.append(Observation("no number", output, ()))
    elif start.trivial > 0 and start.loss > HIGH_LOSS * start.trivial:
        found.append(Observation("high loss", output, (start.loss, start.trivial)))
    known = [one.gradient for one in start.layers if math.isfinite(one.gradient)]
    largest = max(known, default=0.0)
    for one in start.layers:
        seen = one.answers
        if seen is None:
            continue
        if seen.dead >= MANY_NODES * seen.nodes:
            found.append(Observation("dead", one.name, (seen.dead, seen.nodes)))
        if seen.saturated >= MANY_NODES * seen.nodes:
            found.append(Observation("saturated", one.name, (seen.saturated, seen.nodes)))
        if one.gradient < SMALL_GRADIENT * largest:
            found.append(Observation("small gradient", one.name, (one.gradient, largest)))
    if start.memorised is not None:
        count, before, after = start.memorised
        if not after <= BATCH_LEFT * before:
            found.append(Observation("not learned", output, (count, BATCH_STEPS, before, after)))
    if start.rate is not None and start.stable is not None:
        if start.rate > start.stable:
            found.append(Observation("large rate", output, (start.rate, start.stable, RATE_STEPS)))
        elif start.rate < SMALL_RATE * start.stable and start.steep:
            found.append(Observation("small rate", output, (start.rate, start.stable, RATE_STEPS)))
    return found
