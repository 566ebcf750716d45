"""Dropout inside a loop over time: what it draws at which step, gradients, and a run that stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.descent.schedules import Noise
from netsharp_engine.cntk.generators import MinimalStandard
from netsharp_engine.graph import Graph
from netsharp_engine.packing import packed
from netsharp_engine.program import Batch, Job, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram
from tests.cntk.training import test_truncated_runs
from tests.cntk.training.experiments import Follower, run
from tests.cntk.training.test_restart import figures
from tests.cntk.training.test_sequences import held, placed
from tests.conftest import SEED

Array = Any
LENGTHS, RATE = (4, 2, 3), 0.3


def dropping(op: str) -> Graph:
    """h = tanh(Wx + R drop(h')), whose dropped state is compared with a target, too."""
    graph = Graph()
    x = graph.input("x", (2,))
    before = graph.delay(op, (3,), held(graph, "h0", 3), name="h'", timeStep=1)
    dropped = graph.apply("Dropout", before, name="dropped")
    mixed = graph.apply("Times", held(graph, "R", 3, 3), dropped)
    sums = graph.apply("Plus", graph.apply("Times", held(graph, "W", 2, 3), x), mixed)
    h = graph.apply("Tanh", sums, name="h")
    graph.connect(before, h)
    both = graph.apply("RowStack", h, dropped, axis=1)
    graph.criteria = [graph.apply("SquareError", both, graph.input("y", (6,)), name="loss")]
    graph.set_output(dropped)
    return graph


def fed(graph: Graph, program: TensorProgram) -> Batch:
    """An epoch begins, and with it the generator."""
    random = np.random.default_rng(SEED)
    packing = packed(np.array(LENGTHS))
    samples = {node.name: random.normal(size=(sum(LENGTHS), node.size)) for node in graph.inputs}
    batch = Batch({name: placed(packing, one) for name, one in samples.items()}, expected=1.0)
    program.begin(Noise((RATE,)).phase(3, "float64"))
    program.feed(batch)
    return batch


def program_of(graph: Graph) -> TensorProgram:
    program = TensorDraft(Job(graph, 20, "float64", UpdateRule("sgd", 1.0))).program()
    random = np.random.default_rng(SEED + 1)
    program.load({one.name: random.normal(size=one.shape) for one in graph.parameters})
    return program


@pytest.mark.parametrize("op", ["PastValue", "FutureValue"])
def test_each_step_draws_for_all_rows_as_the_loop_goes(op: str) -> None:
    """By loops over steps and rows: gaps draw, too, and seeds are those of the epoch."""
    graph = dropping(op)
    program = program_of(graph)
    fed(graph, program)
    program.forward()
    values = program.store()
    packing = packed(np.array(LENGTHS))
    x = placed(packing, np.random.default_rng(SEED).normal(size=(sum(LENGTHS), 2))).values
    generator = MinimalStandard(3 * 1 + 0)
    found, state = {}, {}
    order = range(packing.steps)
    for step in order if op == "PastValue" else reversed(order):
        drawn = generator.units(packing.rows * 3, "float64").reshape(packing.rows, 3)
        for row in range(packing.rows):
            column = step * packing.rows + row
            if column in packing.gaps:
                continue
            before = state.get(column + (-1 if op == "PastValue" else 1) * packing.rows)
            inside = packing.earlier(1 if op == "PastValue" else -1)[column] >= 0
            kept = np.where(drawn[row] <= RATE, 0.0, 1 / (1 - RATE))
            found[column] = (before if inside else values["h0"]) * kept
            state[column] = np.tanh(x[column] @ values["W"] + found[column] @ values["R"])
    expected = np.array([found[column] for column in packing.places.tolist()])
    assert (expected == 0).any()
    np.testing.assert_allclose(program.read(graph.output), expected, rtol=1e-12)


@pytest.mark.parametrize("op", ["PastValue", "FutureValue"])
def test_gradients_against_differences(op: str) -> None:
    graph = dropping(op)

    def loss(values: dict[str, Array]) -> float:
        program = program_of(graph)
        program.load(values)
        fed(graph, program)
        assert program.step()
        return program.figures().sums[0]

    program = program_of(graph)
    given = program.store()
    fed(graph, program)
    assert program.step()
    assert program.update(UpdateRule("sgd", 1.0))
    after = program.store()
    for name, array in given.items():
        for place in np.ndindex(array.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = {key: one.copy() for key, one in given.items()}
                moved[name][place] += step
                ends.append(loss(moved))
            slope = (ends[0] - ends[1]) / 2e-6
            found = array[place] - after[name][place]
            assert found == pytest.approx(slope, rel=1e-6, abs=1e-6), (name, place)


def test_nothing_is_dropped_where_nothing_is_trained() -> None:
    graph = dropping("PastValue")
    trained = program_of(graph)
    program = TensorDraft(Job(graph, 20, "float64")).program()
    program.load(trained.store())
    fed(graph, program)
    program.forward()
    assert (program.read(graph.output) != 0).all()


@pytest.mark.parametrize("cut", ["truncated=true", "truncated=false"])
def test_an_experiment_stopped_and_resumed_is_run_through(cut: str, tmp_path: Path) -> None:
    loop = "{ r = Tanh (LinearLayer {6} (x) + ParameterTensor {(6:6)} * d) ;"
    loop += " d = Dropout (PastValue (6, r)) }.r"
    for name in ("whole", "stopped"):
        path = test_truncated_runs.made(tmp_path / name) / "net.cntk"
        layer = "RecurrentLSTMLayer {6} (Dropout (x))"
        assert layer in path.read_text()
        path.write_text(path.read_text().replace(layer, loop))
    items = ("command=learn", cut, "learn=[SGD=[maxEpochs=3 ; dropoutRate=0.3]]")
    whole, follower = run(tmp_path / "whole", *items)
    assert (whole.code, whole.complaints) == (0, ())
    folder = tmp_path / "stopped"
    first = run(folder, *items, follower=Follower(ends=1))[1]
    second = run(folder, *items)[1]
    assert figures(first) + figures(second) == figures(follower)
    ours = (folder / "out" / "net.dnn").read_bytes()
    assert ours == (tmp_path / "whole" / "out" / "net.dnn").read_bytes()
    other = run(folder, *items, "makeMode=false", "learn=[SGD=[dropoutRate=0]]")[1]
    assert figures(other) != figures(follower)
