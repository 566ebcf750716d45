"""Sequences of unequal length in the walk: gradients, gaps, loops, sparse samples, packing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from netsharp_engine.graph import Graph, GraphError, Node
from netsharp_engine.packing import Packing, packed
from netsharp_engine.program import Batch, Job, Packed, Sparse, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram
from tests.conftest import SEED
from tests.costs import assert_measured, spent

Array = Any
LENGTHS = (5, 3, 2, 4)


def held(graph: Graph, name: str, *shape: int) -> Node:
    parameter = graph.parameter(name, shape)
    return graph.apply("LearnableParameter", parameters=[parameter], name=name)


def closed(graph: Graph, end: Node) -> Graph:
    """The graph with the squared distance of a node's values to a target of its shape."""
    axis = "ends" if end.name == "last" else ""  # what is left of a sequence there
    target = graph.input("target", end.shape, axis=axis)
    graph.criteria = [graph.apply("SquareError", end, target, name="loss")]
    return graph


def recurrent(graph: Graph, x: Node, op: str, steps: int, start: bool) -> Node:
    """h = tanh(W x + R h' + b), with a constant or a learnt beginning."""
    suffix = f"{op}{steps}{x.name}"
    initial = [held(graph, f"h0{suffix}", 3)] if start else []
    before = graph.delay(op, (3,), *initial, name=f"d{suffix}", timeStep=steps, initial=0.1)
    size = x.shape[-1]
    sum_ = graph.apply("Plus", graph.apply("Times", held(graph, f"W{suffix}", size, 3), x), before)
    mixed = graph.apply("Times", held(graph, f"R{suffix}", 3, 3), before)
    h = graph.apply("Tanh", graph.apply("Plus", sum_, mixed), name=f"h{suffix}")
    graph.connect(before, h)
    return h


def forward(graph: Graph, x: Node) -> Node:
    return recurrent(graph, x, "PastValue", 1, start=False)


def backward_learnt(graph: Graph, x: Node) -> Node:
    return recurrent(graph, x, "FutureValue", 1, start=True)


def two_steps(graph: Graph, x: Node) -> Node:
    return recurrent(graph, x, "PastValue", 2, start=True)


def both_ways(graph: Graph, x: Node) -> Node:
    parts = [recurrent(graph, x, op, 1, start=True) for op in ("PastValue", "FutureValue")]
    stacked = graph.apply("RowStack", *parts, axis=1, name="both")
    return recurrent(graph, stacked, "PastValue", 1, start=False)


def two_delays(graph: Graph, x: Node) -> Node:
    """A loop with two states, one of them two steps long."""
    a = graph.delay("PastValue", (2,), name="a'", timeStep=1, initial=0.0)
    b = graph.delay("PastValue", (2,), held(graph, "b0", 2), name="b'", timeStep=2)
    mixed = graph.apply("Plus", graph.apply("ElementTimes", a, b), x)
    first = graph.apply("Sigmoid", graph.apply("Times", held(graph, "A", 2, 2), mixed))
    second = graph.apply("Tanh", graph.apply("Minus", first, graph.apply("ElementTimes", b, x)))
    graph.connect(a, first)
    graph.connect(b, second)
    return graph.apply("Plus", first, second)


def window(graph: Graph, x: Node) -> Node:
    """Delays outside of loops, of a learnt value."""
    w = graph.apply("Times", held(graph, "W", 2, 2), x)
    parts = []
    for op, steps in (("PastValue", 2), ("FutureValue", 1)):
        delay = graph.delay(op, (2,), held(graph, f"{op}0", 2), name=op, timeStep=steps)
        graph.connect(delay, w)
        parts.append(delay)
    return graph.apply("RowStack", w, *parts, axis=1)


def is_first(graph: Graph, x: Node, op: str = "PastValue") -> Node:
    zero = graph.apply("Minus", *[graph.apply("SumColumnElements", x)] * 2)
    flag = graph.delay(op, (1,), name=f"first{op}", timeStep=1, initial=1.0)
    graph.connect(flag, zero)
    return flag


def last(graph: Graph, x: Node) -> Node:
    h = forward(graph, x)
    where = graph.apply("Where", is_first(graph, x, "FutureValue"), name="where")
    return graph.apply("GatherPacked", graph.apply("PackedIndex", h, where), h, name="last")


def spread(graph: Graph, x: Node) -> Node:
    """The last value of a sequence at each of its steps, by a loop as the library's."""
    h = forward(graph, x)
    ends = graph.apply("Where", is_first(graph, x, "FutureValue"))
    value = graph.apply("GatherPacked", graph.apply("PackedIndex", h, ends), h)
    flag = is_first(graph, x)
    index = graph.apply("PackedIndex", flag, graph.apply("Where", flag))
    padded = graph.apply("ScatterPacked", flag, index, value)
    before = graph.delay("PastValue", value.shape, name="out'", timeStep=1, initial=0.0)
    out = graph.apply("If", flag, padded, before)
    graph.connect(before, out)
    return graph.apply("Plus", out, graph.apply("ReconcileDynamicAxis", h, x))


def framewise(graph: Graph, x: Node) -> Node:
    """What mixes a parameter with every step, broadcast both ways."""
    scaled = graph.apply("ElementTimes", held(graph, "s", 1), x)
    return graph.apply("Plus", scaled, held(graph, "b", 3, 2))


BUILDS: list[Callable[[Graph, Node], Node]] = [
    *(forward, backward_learnt, two_steps, both_ways, two_delays, window, last, spread, framewise),
]


def placed(packing: Packing, samples: Array) -> Packed:
    """Samples in their columns; gaps contain NaN."""
    values = np.full((packing.columns, samples.shape[1]), np.nan)
    values[packing.places] = samples
    return Packed(values, packing)


def batch_of(graph: Graph, lengths: tuple[int, ...], order: list[int] | None = None) -> Batch:
    """The same sequences in any order."""
    random = np.random.default_rng(SEED)
    order = order or list(range(len(lengths)))
    inputs = {}
    for node in graph.inputs:
        counts = [1 if node.attributes.get("axis") else one for one in lengths]
        whole = [random.normal(size=(count, node.size)) for count in counts]
        packing = packed(np.array([counts[place] for place in order]))
        inputs[node.name] = placed(packing, np.concatenate([whole[place] for place in order]))
    return Batch(inputs, expected=1.0)


def program_of(graph: Graph) -> TensorProgram:
    program = TensorDraft(Job(graph, 20, "float64", UpdateRule("sgd", 1.0))).program()
    random = np.random.default_rng(SEED + 1)
    program.load({one.name: random.normal(size=one.shape) for one in graph.parameters})
    return program


def loss_of(program: TensorProgram, batch: Batch, values: dict[str, Array]) -> float:
    program.load(values)
    program.feed(batch)
    assert program.step()
    before = program.figures()
    return before.sums[0]


def gradients_of(program: TensorProgram, batch: Batch) -> dict[str, Array]:
    program.feed(batch)
    assert program.step()
    given = program.store()
    assert program.update(UpdateRule("sgd", 1.0))
    after = program.store()
    program.load(given)
    return {name: given[name] - after[name] for name in given}


def network(build: Callable[[Graph, Node], Node]) -> Graph:
    graph = Graph()
    x = graph.input("x", (2,))
    return closed(graph, build(graph, x))


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("lengths", [LENGTHS, (3, 3), (1, 1, 1), (4,)])
def test_gradients_against_differences(
    build: Callable[[Graph, Node], Node], lengths: tuple[int, ...]
) -> None:
    graph = network(build)
    batch = batch_of(graph, lengths)
    program = program_of(graph)
    given = program.store()
    found = gradients_of(program, batch)
    for name, array in given.items():
        for place in np.ndindex(array.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = {key: one.copy() for key, one in given.items()}
                moved[name][place] += step
                fresh = program_of(graph)
                ends.append(loss_of(fresh, batch, moved))
            slope = (ends[0] - ends[1]) / 2e-6
            assert found[name][place] == pytest.approx(slope, rel=1e-6, abs=1e-6), (name, place)


@pytest.mark.parametrize("build", BUILDS)
def test_the_order_of_packing_changes_nothing(build: Callable[[Graph, Node], Node]) -> None:
    graph = network(build)
    program = program_of(graph)
    first = gradients_of(program, batch_of(graph, LENGTHS))
    second = gradients_of(program, batch_of(graph, LENGTHS, [2, 0, 3, 1]))
    for name, one in first.items():
        np.testing.assert_allclose(one, second[name], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("build", BUILDS)
def test_sequences_alone_add_up_to_those_together(build: Callable[[Graph, Node], Node]) -> None:
    graph = network(build)
    program = program_of(graph)
    whole = batch_of(graph, LENGTHS)
    together = gradients_of(program, whole)
    alone = {name: np.zeros_like(one) for name, one in together.items()}
    for number in range(len(LENGTHS)):
        inputs = {}
        for name, given in whole.inputs.items():
            assert isinstance(given, Packed)
            ends = np.cumsum(given.packing.length)
            places = given.packing.places[
                ends[number] - given.packing.length[number] : ends[number]
            ]
            inputs[name] = placed(packed(np.array([len(places)])), given.values[places])
        for name, one in gradients_of(program, Batch(inputs, expected=1.0)).items():
            alone[name] += one
    for name, one in together.items():
        np.testing.assert_allclose(one, alone[name], rtol=1e-11, atol=1e-12)


def test_the_packing_of_the_original() -> None:
    found = packed(np.array([5, 3, 2, 4]))
    assert (found.steps, found.rows, found.samples) == (5, 3, 14)
    assert found.row.tolist() == [0, 1, 1, 2]
    assert found.begin.tolist() == [0, 0, 3, 0]
    assert found.gaps.tolist() == [14]


def test_first_fit_is_that_of_the_plain_words() -> None:
    random = np.random.default_rng(SEED)
    for _ in range(50):
        lengths = random.integers(0, 9, size=random.integers(1, 30))
        width, filled, places = int(lengths.max()), [], []
        for one in lengths.tolist():
            row = next((r for r, used in enumerate(filled) if used + one <= width), len(filled))
            filled += [0] * (row == len(filled))
            places.append((row, filled[row]))
            filled[row] += one
        found = packed(lengths)
        if (lengths != width).any():
            assert list(zip(found.row.tolist(), found.begin.tolist(), strict=True)) == places
        assert found.samples == lengths.sum()
        assert len(set(found.places.tolist()) | set(found.gaps.tolist())) == found.columns


def sparse_network(sparse: bool) -> tuple[Graph, Batch]:
    """An embedding of sequences of sparse samples, two of them empty, and one with a pair."""
    graph = Graph()
    x = graph.input("x", (6,))
    e = graph.apply("Times", held(graph, "E", 6, 2), x)
    closed(graph, forward(graph, e))
    random = np.random.default_rng(SEED)
    packing = packed(np.array(LENGTHS))
    rows: list[list[tuple[int, float]]] = [[] for _ in range(packing.columns)]
    for column in packing.places.tolist():
        rows[column] = [(int(random.integers(5)), float(random.normal()))]
    rows[packing.places[1]] = []
    rows[packing.places[7]] = [(1, 0.5), (4, -2.0), (1, 1.5)]
    starts = np.cumsum([0, *map(len, rows)])
    flat = [pair for row in rows for pair in row]
    given = Sparse(np.array([v for _, v in flat]), np.array([p for p, _ in flat]), np.array(starts))
    full = np.zeros((packing.columns, 6))
    for column, row in enumerate(rows):
        for place, value in row:
            full[column, place] += value
    target = placed(packing, random.normal(size=(packing.samples, 3)))
    chosen = Packed(given if sparse else full, packing)
    return graph, Batch({"x": chosen, "target": target}, expected=1.0)


def test_sparse_samples_are_as_dense_ones() -> None:
    found = [gradients_of(program_of(graph), batch) for graph, batch in map(sparse_network, (0, 1))]
    for name, one in found[0].items():
        np.testing.assert_allclose(one, found[1][name], rtol=1e-12, atol=1e-13)
    assert (found[1]["E"][5] == 0).all()


def test_sequences_of_other_lengths_along_one_axis_are_named() -> None:
    graph = network(forward)
    batch = batch_of(graph, LENGTHS)
    other = placed(packed(np.array([5, 3, 4, 2])), np.zeros((14, 3)))
    with pytest.raises(GraphError, match="'x' and 'target' run along the same dynamic axis"):
        program_of(graph).feed(Batch({**batch.inputs, "target": other}))


def test_loops_that_cannot_be_run_are_named() -> None:
    graph = Graph()
    x = graph.input("x", (3,))
    delay = graph.delay("PastValue", (3,), name="past")
    other = graph.delay("FutureValue", (3,), name="future")
    both = graph.apply("Plus", graph.apply("Plus", delay, other), x)
    for one in (delay, other):
        graph.connect(one, both)
    closed(graph, both)
    with pytest.raises(GraphError, match=r"both ways along the sequence: 'past', 'future'"):
        program_of(graph)


@pytest.mark.costly
def test_time_and_memory_of_a_loop_grow_as_its_steps() -> None:
    """Ten times the steps: no more than fifteen times the processor's time, and values."""
    graph = network(forward)
    program = program_of(graph)
    batches = [batch_of(graph, (steps,)) for steps in (1_000, 10_000)]
    for batch in batches:
        gradients_of(program, batch)
    assert_measured(
        lambda: [spent(gradients_of, program, batch) for batch in batches],
        lambda costs: costs[1] < 15 * costs[0],
    )
