"""Sequences cut into pieces: which steps stand where, what is carried on, and how it is learnt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.descent.reports import State
from netsharp_engine.cntk.descent.schedules import PER_SAMPLE, Schedule
from netsharp_engine.cntk.descent.training import Descent, TrainingPlan
from netsharp_engine.cntk.samples.minibatches import Minibatch, Parts
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.cntk.samples.truncated import Cut, Truncated
from netsharp_engine.data.errors import DataError
from netsharp_engine.graph import Graph, GraphError, Node
from netsharp_engine.packing import Packing, packed
from netsharp_engine.phases import Phase
from netsharp_engine.program import Batch, Job, Memory, Packed, Sparse, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram
from tests.cntk.training import test_fused
from tests.cntk.training.test_sequences import (
    forward,
    gradients_of,
    held,
    is_first,
    network,
    placed,
    two_delays,
    two_steps,
)
from tests.conftest import SEED

Array = Any
SIZES = {"x": 2, "y": 3}


def sequences(lengths: list[int], lines: bool = True) -> Sequences:
    random = np.random.default_rng(SEED)
    total = sum(lengths)
    values = {name: random.normal(size=(total, size)) for name, size in SIZES.items()}
    counted = np.array(lengths) if lines else None
    return Sequences(values, [len(lengths)], [], counted)


def source(given: Sequences, randomize: bool = False, **cut: int) -> Truncated:
    return Truncated(given, randomize, None, Cut(**cut), SIZES)


def pieces(batch: Minibatch) -> list[tuple[int, ...]]:
    given = batch.inputs["x"]
    assert isinstance(given, Packed)
    packing = given.packing
    assert packing.before is not None
    columns = (packing.row, packing.begin, packing.before, packing.length)
    return list(zip(batch.sequences.tolist(), *(one.tolist() for one in columns), strict=True))


def test_the_pieces_worked_by_hand() -> None:
    """Lengths 7, 2, 3 and 5 in two rows of three steps: sequence, row, begin, before, length."""
    given = list(source(sequences([7, 2, 3, 5]), rows=2).epoch(0, 0, 3))
    assert [pieces(one) for one in given] == [
        [(0, 0, 0, 0, 3), (1, 1, 0, 0, 2), (2, 1, 2, 0, 1)],
        [(0, 0, 0, 3, 3), (2, 1, 0, 1, 2), (3, 1, 2, 0, 1)],
        [(0, 0, 0, 6, 1), (3, 1, 0, 1, 3)],
        [(3, 1, 0, 4, 1)],
    ]
    assert [one.samples for one in given] == [6, 6, 4, 1]
    assert [one.columns for one in given] == [6, 6, 6, 6]


def test_parts_of_pieces_worked_by_hand() -> None:
    """The minibatches above in two parts: a row each, and the second of the last three has none."""
    given = source(sequences([7, 2, 3, 5]), rows=2)
    parts = [list(Parts(2).of(one, given, 3)) for one in given.epoch(0, 0, 3)]
    assert [[pieces(one) for one in found] for found in parts] == [
        [[(0, 0, 0, 0, 3)], [(1, 0, 0, 0, 2), (2, 0, 2, 0, 1)]],
        [[(0, 0, 0, 3, 3)], [(2, 0, 0, 1, 2), (3, 0, 2, 0, 1)]],
        [[(0, 0, 0, 6, 1)], [(3, 0, 0, 1, 3)]],
        [[], [(3, 0, 0, 4, 1)]],
    ]
    assert [[one.samples for one in found] for found in parts] == [[3, 3], [3, 3], [1, 3], [0, 1]]
    assert Parts(2).widest(given, 3) == max(one.columns for found in parts for one in found) == 3
    values = parts[1][1].inputs["x"]
    assert isinstance(values, Packed)
    whole = given.sequences.values["x"]
    np.testing.assert_array_equal(values.values, whole[[10, 11, 12]])  # two of 2, one of 3


def test_rows_follow_from_the_length_of_a_piece() -> None:
    """floor(minibatchSize / truncationLength), and 1 where that is none."""
    given = sequences([9, 9, 9])
    for samples, rows in ((9, 3), (8, 2), (2, 1)):
        first = next(source(given, length=3).epoch(0, 0, samples))
        assert first.columns == 3 * rows


@pytest.mark.parametrize("randomize", [False, True])
def test_every_step_comes_once_and_in_order(randomize: bool) -> None:
    random = np.random.default_rng(SEED)
    for _ in range(20):
        lengths = random.integers(1, 12, size=random.integers(1, 15)).tolist()
        given = sequences(lengths)
        reader = source(given, randomize, rows=int(random.integers(1, 5)))
        steps = int(random.integers(1, 8))
        begins = np.cumsum(lengths) - lengths
        seen: dict[int, int] = {}
        for batch in reader.epoch(0, 0, steps):
            whole = batch.inputs["x"]
            assert isinstance(whole, Packed)
            starts = np.cumsum(whole.packing.length) - whole.packing.length
            for start, (number, row, begin, before, length) in zip(
                starts.tolist(), pieces(batch), strict=True
            ):
                assert before == seen.get(number, 0)
                assert begin == 0 or before == 0, "only what begins a row goes on"
                rows = given.values["x"][begins[number] + before :][:length]
                here = whole.packing.places[start : start + length]
                assert here.tolist() == [
                    (begin + step) * whole.packing.rows + row for step in range(length)
                ]
                np.testing.assert_array_equal(whole.values[here], rows)
                seen[number] = before + length
        assert seen == dict(enumerate(lengths))


def test_an_epoch_ends_with_the_sequences_that_began_in_it() -> None:
    """Epochs of 6 samples: the second sequence begins in the first, the third in the second."""
    reader = source(sequences([4, 5, 3]), rows=2)
    epochs = [
        sorted({number for batch in reader.epoch(epoch, 6, 4) for number in batch.sequences})
        for epoch in range(3)
    ]
    assert epochs == [[0, 1], [2], [0, 1]]


def test_sparse_samples_become_dense_ones() -> None:
    given = sequences([3, 4])
    dense = np.zeros((7, 2))
    dense[[0, 2, 5], [1, 0, 1]] = 1.0, -2.0, 3.0
    starts = np.array([0, 1, 1, 2, 2, 2, 3, 3])
    sparse = Sparse(np.array([1.0, -2.0, 3.0]), np.array([1, 0, 1]), starts)
    found = [
        next(source(given._replace(values={"x": values}), rows=2).epoch(0, 0, 4)).inputs["x"].values
        for values in (sparse, dense)
    ]
    np.testing.assert_array_equal(*found)


def test_streams_of_other_lengths_are_named() -> None:
    given = sequences([3, 4])._replace(lengths={"y": np.array([3, 2])})
    with pytest.raises(DataError, match="sequence 2 has 2 samples of 'y' in 4 lines"):
        source(given, rows=1)


def cell(graph: Graph, x: Node) -> Node:
    """Long short-term memory with peepholes, a projection and a learnt beginning."""
    size, out = 4, 3
    gates = graph.apply("Times", held(graph, "W", 2, 4 * size), x)
    h, c = (
        graph.delay("PastValue", (n,), held(graph, f"{name}0", n), name=f"{name}'", timeStep=1)
        for name, n in (("h", out), ("c", size))
    )
    sums = graph.apply("Plus", gates, graph.apply("Times", held(graph, "H", out, 4 * size), h))
    parts = [
        graph.apply("Slice", sums, beginIndex=at * size, endIndex=(at + 1) * size, axis=1)
        for at in range(4)
    ]
    peeps = [graph.apply("ElementTimes", held(graph, f"p{at}", size), c) for at in range(2)]
    let_in = graph.apply("Sigmoid", graph.apply("Plus", parts[0], peeps[0]))
    keep = graph.apply("Sigmoid", graph.apply("Plus", parts[2], peeps[1]))
    new = graph.apply("ElementTimes", let_in, graph.apply("Tanh", parts[1]))
    state = graph.apply("Plus", graph.apply("ElementTimes", keep, c), new, name="c")
    peep = graph.apply("ElementTimes", held(graph, "p2", size), state)
    show = graph.apply("Sigmoid", graph.apply("Plus", parts[3], peep))
    shown = graph.apply("ElementTimes", show, graph.apply("Tanh", state))
    outputs = graph.apply("Times", held(graph, "P", size, out), shown, name="h")
    graph.connect(h, outputs)
    graph.connect(c, state)
    return outputs


def before(graph: Graph, x: Node) -> Node:
    """A delay of two steps outside of loops."""
    w = graph.apply("Times", held(graph, "W", 2, 2), x)
    delay = graph.delay("PastValue", (2,), held(graph, "w0", 2), name="w'", timeStep=2)
    graph.connect(delay, w)
    return graph.apply("RowStack", w, delay, axis=1)


BUILDS: list[Callable[[Graph, Node], Node]] = [forward, two_steps, two_delays, cell, before]


def test_the_cell_is_computed_as_one() -> None:
    graph = network(cell)
    (loop,) = test_fused.loops_of(graph)
    assert test_fused.recognised(loop, test_fused.read_outside(graph, loop)) is not None


def program_of(graph: Graph) -> TensorProgram:
    program = TensorDraft(Job(graph, 20, "float64", UpdateRule("sgd", 1.0))).program()
    random = np.random.default_rng(SEED + 1)
    program.load({one.name: random.normal(size=one.shape) for one in graph.parameters})
    return program


def whole_and_pieces(graph: Graph, lengths: list[int]) -> tuple[Batch, list[Batch]]:
    """Sequences in one batch, and the same in pieces of three steps in two rows."""
    random = np.random.default_rng(SEED)
    total, sizes = sum(lengths), {node.name: node.size for node in graph.inputs}
    values = {name: random.normal(size=(total, size)) for name, size in sizes.items()}
    given = Sequences(values, [len(lengths)], [], np.array(lengths))
    reader = Truncated(given, False, None, Cut(rows=2), sizes)
    packing = packed(np.array(lengths))
    inputs = {name: placed(packing, one) for name, one in values.items()}
    parts = [Batch(one.inputs, expected=1.0) for one in reader.epoch(0, 0, 3)]
    return Batch(inputs, expected=1.0), parts


LENGTHS = [7, 2, 3, 5, 1, 8]


@pytest.mark.parametrize("build", BUILDS)
def test_pieces_give_what_whole_sequences_give(build: Callable[[Graph, Node], Node]) -> None:
    graph = network(build)
    whole, parts = whole_and_pieces(graph, LENGTHS)
    program = program_of(graph)
    program.feed(whole)
    assert program.step()
    expected = program.figures()
    program = program_of(graph)
    for batch in parts:
        program.feed(batch)
        assert program.step()
    found = program.figures()
    assert found.rows == expected.rows == sum(LENGTHS)
    assert found.sums[0] == pytest.approx(expected.sums[0], rel=1e-12)


@pytest.mark.parametrize("build", BUILDS)
def test_gradients_of_a_piece_against_differences(build: Callable[[Graph, Node], Node]) -> None:
    """What was carried is a constant: parameters change for the second piece alone."""
    graph = network(build)
    _, (first, second, *_) = whole_and_pieces(graph, LENGTHS)

    def fresh() -> TensorProgram:
        program = program_of(graph)
        program.feed(first)
        program.forward()
        return program

    given = fresh().store()
    found = gradients_of(fresh(), second)
    for name, array in given.items():
        for place in np.ndindex(array.shape):
            ends = []
            for step in (1e-6, -1e-6):
                program = fresh()
                moved = {key: one.copy() for key, one in given.items()}
                moved[name][place] += step
                program.load(moved)
                program.feed(second)
                assert program.step()
                ends.append(program.figures().sums[0])
            slope = (ends[0] - ends[1]) / 2e-6
            assert found[name][place] == pytest.approx(slope, rel=1e-6, abs=1e-6), (name, place)


def test_an_epoch_takes_nothing_over() -> None:
    graph = network(forward)
    _, parts = whole_and_pieces(graph, LENGTHS)
    program = program_of(graph)
    sums = []
    for _ in range(2):
        program.begin(Phase())
        program.feed(parts[0])
        assert program.step()
        sums.append(program.figures().sums[0] - sum(sums))
    assert sums[0] == pytest.approx(sums[1], rel=1e-12)
    program.begin(Phase())
    program.feed(parts[1])
    with pytest.raises(GraphError, match="continues sequences whose beginning is not known"):
        program.forward()


def test_what_needs_whole_sequences_is_named() -> None:
    graph = Graph()
    x = graph.input("x", (2,))
    flag = is_first(graph, x)
    graph.set_output(graph.apply("Where", flag, name="chosen"))
    program = program_of(graph)
    packing = Packing(1, 3, *(np.array([n]) for n in (0, 0, 3, 0)))
    program.feed(Batch({"x": placed(packing, np.ones((3, 2)))}))
    with pytest.raises(GraphError, match="'chosen' asks for whole sequences"):
        program.forward()


class Silent:
    """Hears nothing, keeps the last state."""

    state: State

    def kept(self, state: State) -> None:
        self.state = state

    def stops(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


def rows_of(lengths: list[int], rows: int, steps: int) -> Iterator[list[tuple[int, int, int]]]:
    """For every minibatch, row after row: sequence, first step and last of what it trains."""
    waiting = list(range(len(lengths)))
    open_: list[list[list[int]]] = [[] for _ in range(rows)]
    while True:
        for row in open_:
            while waiting and sum(lengths[one] - at for one, at in row) <= steps:
                row.append([waiting.pop(0), 0])
        minibatch = []
        for row in open_:
            room = steps
            while row and room:
                number, at = row[0]
                took = min(room, lengths[number] - at)
                minibatch.append((number, at, at + took))
                room -= took
                row[0][1] += took
                if row[0][1] == lengths[number]:
                    row.pop(0)
        if not minibatch:
            return
        yield minibatch


@pytest.mark.parametrize(
    ("rows", "parts"), [(2, Parts()), (2, Parts(2)), (3, Parts(2)), (3, Parts(7)), (3, Parts(0, 4))]
)
def test_training_against_a_formulation_of_its_own(rows: int, parts: Parts) -> None:
    """tanh(Wx + h' + Rh' + b) with momentum, by loops over steps and the chain rule by hand.

    Parts of a minibatch change nothing: gradients add up, and each row continues with its own
    state.
    """
    steps, rate, momentum, epochs = 3, 0.02, 0.9, 2
    graph = Graph()
    x = graph.input("x", (2,))
    h = forward(graph, x)
    bias = graph.apply("Plus", h, held(graph, "b", 3))
    target = graph.input("y", (3,))
    graph.criteria = [graph.apply("SquareError", bias, target, name="loss")]
    random = np.random.default_rng(SEED + 2)
    start = {one.name: random.normal(size=one.shape) / 2 for one in graph.parameters}
    given = sequences(LENGTHS)
    plan = TrainingPlan(
        Schedule([rate], PER_SAMPLE, [momentum], PER_SAMPLE, [steps], rows), epochs, dtype="float64"
    )._replace(parts=parts)
    silent = Silent()
    state = State(0, 0, start, Memory(0, {}))
    Descent(graph, source(given, rows=rows), plan, state).run(silent)

    weights = {name: one.copy() for name, one in start.items()}
    smoothed = {name: np.zeros_like(one) for name, one in start.items()}
    begins = np.cumsum(LENGTHS) - LENGTHS
    w, r = (next(name for name in start if name.startswith(letter)) for letter in "WR")
    for _ in range(epochs):
        last: dict[int, Array] = {}
        for minibatch in rows_of(LENGTHS, rows, steps):
            slopes = {name: np.zeros_like(one) for name, one in start.items()}
            for number, first, end in minibatch:
                places = begins[number] + np.arange(first, end)
                inputs, wanted = given.values["x"][places], given.values["y"][places]
                state_, shown, read = last.get(number, np.full(3, 0.1)), [], []
                for one in inputs:
                    read.append(state_)
                    state_ = np.tanh(one @ weights[w] + state_ + state_ @ weights[r])
                    shown.append(state_)
                last[number] = state_
                back = np.zeros(3)
                for at in reversed(range(len(inputs))):
                    error = 2 * (shown[at] + weights["b"] - wanted[at])
                    slopes["b"] += error
                    inner = (error + back) * (1 - shown[at] ** 2)
                    slopes[w] += np.outer(inputs[at], inner)
                    slopes[r] += np.outer(read[at], inner)
                    back = inner + weights[r] @ inner
            share = float(np.float32(momentum)) ** (rows * steps)
            for name, slope in slopes.items():
                step = (1 - share) * float(np.float32(rate)) * slope
                smoothed[name] = step + share * smoothed[name]
                weights[name] -= smoothed[name]
    for name, one in weights.items():
        np.testing.assert_allclose(silent.state.values[name], one, rtol=1e-11, err_msg=name)
