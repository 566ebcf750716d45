"""A whole network's gradient against differences, and its update against a second formulation."""

from __future__ import annotations

import numpy as np
import pytest

from netsharp_engine.cntk.descent.reports import (
    FINISHED,
    EpochBegun,
    EpochEnded,
    RateChanged,
    RolledBack,
    Shown,
    State,
    Tried,
)
from netsharp_engine.cntk.descent.schedules import PER_MINIBATCH, PER_SAMPLE, Schedule
from netsharp_engine.cntk.descent.training import Descent, TrainingPlan
from netsharp_engine.cntk.samples.minibatches import Sweeps
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.graph import Graph
from netsharp_engine.program import Batch, Job, Memory, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft
from tests.conftest import SEED


def network() -> Graph:
    """Two layers that share their weights' scale, with a bias that is broadcast."""
    graph = Graph()
    x, y = graph.input("x", (3,)), graph.input("y", (2,))

    def held(name: str, *shape: int) -> object:
        parameter = graph.parameter(name, shape)
        return graph.apply("LearnableParameter", parameters=[parameter], name=name)

    scale = held("s", 1)
    first = graph.apply("Plus", graph.apply("Times", held("W", 3, 4), x), held("b", 1, 4))
    hidden = graph.apply("ElementTimes", graph.apply("Tanh", first), scale)
    last = graph.apply("Times", graph.apply("ElementTimes", held("V", 4, 2), scale), hidden)
    loss = graph.apply("CrossEntropyWithSoftmax", y, last, name="loss")
    graph.criteria = [loss, graph.apply("ClassificationError", y, last, name="errors")]
    return graph


def data(rows: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(SEED)
    classes = random.integers(2, size=rows)
    return {"x": random.normal(size=(rows, 3)), "y": np.eye(2)[classes]}


def values(graph: Graph) -> dict[str, np.ndarray]:
    random = np.random.default_rng(SEED + 1)
    return {one.name: random.normal(size=one.shape) for one in graph.parameters}


def gradient_of(graph: Graph, given: dict[str, np.ndarray], batch: dict[str, np.ndarray]):
    """The gradient of the first criterion, found by a step of plain descent with rate 1."""
    program = TensorDraft(Job(graph, 8, "float64", UpdateRule("sgd", 1.0))).program()
    program.load(given)
    program.feed(Batch(batch, expected=1.0))
    assert program.step()
    loss = program.figures().sums[0]
    assert program.update(UpdateRule("sgd", 1.0))
    after = program.store()
    return loss, {name: given[name] - after[name] for name in given}


def test_the_gradient_of_a_network() -> None:
    graph, batch = network(), data(7)
    given = values(graph)
    _, gradient = gradient_of(graph, given, batch)
    for name, array in given.items():
        for place in np.ndindex(array.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = {key: one.copy() for key, one in given.items()}
                moved[name][place] += step
                ends.append(gradient_of(graph, moved, batch)[0])
            slope = (ends[0] - ends[1]) / 2e-6
            assert gradient[name][place] == pytest.approx(slope, rel=1e-6, abs=1e-7), name


class Watcher:
    """Keeps the last state."""

    def begun(self, event: EpochBegun) -> None:
        pass

    def shown(self, event: Shown) -> None:
        pass

    def ended(self, event: EpochEnded) -> None:
        pass

    def kept(self, state: State) -> None:
        self.state = state

    def tried(self, event: Tried) -> None:
        pass

    def changed(self, event: RateChanged) -> None:
        pass

    def recalled(self, epoch: int) -> State:
        raise AssertionError(epoch)

    def rolled_back(self, event: RolledBack, state: State) -> None:
        pass

    def completed(self, state: State) -> None:
        pass

    def stops(self) -> bool:
        return False


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_the_update_with_unit_gain(momentum: float) -> None:
    """Minibatches of 4, 4 and 2: momentum is that of the samples which a minibatch has."""
    graph, rows = network(), data(10)
    given = values(graph)
    schedule = Schedule([0.125], PER_SAMPLE, [momentum], PER_MINIBATCH, [4])
    source = Sweeps(Sequences(rows, [10], []), randomize=False)
    plan = TrainingPlan(schedule, 2, dtype="float64")
    watcher = Watcher()
    ending = Descent(graph, source, plan, State(0, 0, given, Memory(0, {}))).run(watcher)
    assert ending.status == FINISHED
    known = {name: one.copy() for name, one in given.items()}
    steps = {name: np.zeros_like(one) for name, one in given.items()}
    per_sample = float(np.float32(momentum)) ** (1 / 4)
    for start, end in ((0, 4), (4, 8), (8, 10)) * 2:
        batch = {name: one[start:end] for name, one in rows.items()}
        kept = per_sample ** (end - start)
        for name, slope in gradient_of(graph, known, batch)[1].items():
            steps[name] = (1 - kept) * 0.125 * slope + kept * steps[name]
        known = {name: one - steps[name] for name, one in known.items()}
    for name, one in known.items():
        np.testing.assert_allclose(watcher.state.values[name], one, rtol=1e-12, atol=1e-14)
        smoothed = watcher.state.memory.arrays["smoothed"][name]
        np.testing.assert_allclose(smoothed, steps[name], rtol=1e-11, atol=1e-14)
