"""Laws of random networks with loops over time: each sequence alone and step by step, backwards
through whatever each value asks for, comes to what the walk finds in bulk; packing and sparseness
change nothing beyond rounding.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from netsharp_engine.graph import Graph, Node
from netsharp_engine.ops.tensors import HELD
from netsharp_engine.ops.tensors.shaping import DELAYS
from netsharp_engine.packing import Packing, packed
from netsharp_engine.program import Batch, Job, Packed, Sparse, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram
from netsharp_engine.tensor_backend.kernels.table import TABLE
from netsharp_engine.tensor_backend.loops import Loop, scheduled
from tests.cntk.training.test_sequences import gradients_of, held
from tests.conftest import SEED

Array = Any
NETWORKS = 60
FEATURES = 5
UNARY = ("Sigmoid", "Tanh", "RectifiedLinear", "Negate", "Abs", "Softmax", "Sin", "Pass")
BINARY = ("Plus", "Minus", "ElementTimes")
CLOSE = {"rtol": 1e-9, "atol": 1e-11}


class Growth:
    """A graph of sequences that grows by random operations."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.graph = Graph()
        x = self.graph.input("x", (FEATURES,))
        self.nodes = [x, self.times(x)]
        for _ in range(int(self.random.integers(3, 9))):
            grow = (self.plain, self.plain, self.delay, self.loop)[self.random.integers(4)]
            self.nodes.append(grow(self.nodes))
        self.close()

    def close(self) -> None:
        """Sum up what is left of the last nodes, or of some of their steps."""
        end = self.graph.apply("RowStack", *self.nodes[-3:], axis=1)
        if self.random.integers(3) == 0:
            zero = self.graph.apply("ElementTimes", held(self.graph, "half", 1), self.nodes[0])
            flag = self.graph.apply(
                "Greater",
                self.graph.apply("SumColumnElements", zero),
                self.graph.apply("Minus", *[held(self.graph, "none", 1)] * 2),
            )
            where = self.graph.apply("Where", flag)
            index = self.graph.apply("PackedIndex", end, where)
            end = self.graph.apply("GatherPacked", index, end)
        weighed = self.graph.apply("ElementTimes", end, held(self.graph, "weights", end.size))
        squared = self.graph.apply("ElementTimes", weighed, end, name="end")
        self.graph.criteria = [self.graph.apply("SumElements", squared, name="loss")]

    def one(self, nodes: list[Node]) -> Node:
        return nodes[self.random.integers(len(nodes))]

    def parameter(self, *shape: int) -> Node:
        return held(self.graph, f"P{len(self.graph.parameters)}", *shape)

    def times(self, source: Node, size: int = 0) -> Node:
        size = size or int(self.random.integers(1, 5))
        return self.graph.apply("Times", self.parameter(source.size, size), source)

    def plain(self, nodes: list[Node]) -> Node:
        """An operation of one step, of these nodes."""
        source, graph = self.one(nodes), self.graph
        kind = self.random.integers(6)
        if kind == 0:
            return self.times(source)
        if kind == 1:
            return graph.apply("RowStack", source, self.one(nodes), axis=1)
        if kind == 2:
            begin = int(self.random.integers(source.size))
            end = int(self.random.integers(begin, source.size)) + 1
            return graph.apply("Slice", source, axis=1, beginIndex=begin, endIndex=end)
        if kind == 3:
            return graph.apply(UNARY[self.random.integers(len(UNARY))], source)
        fit = [one for one in nodes if one.size in (1, source.size)]
        other = self.one([*fit, self.parameter(source.size), self.parameter(1)])
        pair = (source, other) if self.random.integers(2) else (other, source)
        return graph.apply(BINARY[self.random.integers(3)], *pair)

    def past(self, op: str, size: int) -> Node:
        """A delay without a source."""
        initial = [self.parameter(size)] if self.random.integers(2) else []
        steps, number = int(self.random.integers(1, 4)), float(self.random.normal())
        return self.graph.delay(op, (size,), *initial, timeStep=steps, initial=number)

    def delay(self, nodes: list[Node]) -> Node:
        source = self.one(nodes)
        made = self.past(DELAYS[self.random.integers(2)], source.size)
        self.graph.connect(made, source)
        return made

    def loop(self, nodes: list[Node]) -> Node:
        """One or two states, some operations between, and further delays in one direction."""
        op = DELAYS[self.random.integers(2)]
        count = 1 + int(self.random.integers(2))
        states = [self.past(op, int(self.random.integers(1, 5))) for _ in range(count)]
        inside = [self.one(nodes), *states]
        for _ in range(int(self.random.integers(2, 7))):
            if self.random.integers(6) == 0:
                source = self.one(inside)
                inside.append(self.past(op, source.size))
                self.graph.connect(inside[-1], source)
            else:
                inside.append(self.plain(inside))
        for state in states:
            both = self.graph.apply("RowStack", inside[-1], self.one(nodes), axis=1)
            inside.append(self.graph.apply("Tanh", self.times(both, state.size)))
            self.graph.connect(state, inside[-1])
        return inside[-1]


class Alone:
    """One sequence, each value at each step when it is asked for."""

    def __init__(self, values: dict[str, Array], steps: Array) -> None:
        self._values, self._steps = values, steps
        self._known: dict[tuple[Node, int], Array] = {}

    def length(self, node: Node) -> int:
        """How many steps a node has."""
        if node.op == "GatherPacked":
            return len(self._chosen(node))
        if node.op == "input" or node.op in DELAYS:
            return len(self._steps)
        return max((self.length(one) for one in node.inputs if one.op not in HELD), default=1)

    def at(self, node: Node, step: int) -> Array:
        """The value of a node [1, *shape]."""
        if node.op in HELD:
            return self._values[node.parameters[0].name][None]
        if (node, step) not in self._known:
            self._known[node, step] = self._found(node, step)
        return self._known[node, step]

    def _found(self, node: Node, step: int) -> Array:
        if node.op == "input":
            return self._steps[step : step + 1]
        if node.op == "GatherPacked":
            return self.at(node.inputs[1], self._chosen(node)[step])
        if node.op not in DELAYS:
            return TABLE[node.op].forward(node, [self.at(one, step) for one in node.inputs])
        by = int(node.attributes["timeStep"])
        there = step - by if node.op == DELAYS[0] else step + by
        if 0 <= there < len(self._steps):
            return self.at(node.inputs[0], there)
        if len(node.inputs) == 2:
            return self.at(node.inputs[1], 0)
        return np.full((1, *node.shape), node.attributes["initial"])

    def _chosen(self, gather: Node) -> list[int]:
        flag = gather.inputs[0].inputs[1].inputs[0]
        return [t for t in range(len(self._steps)) if self.at(flag, t).item() != 0]


def packings(length: Array, random: np.random.Generator) -> Iterator[tuple[str, Array, Packing]]:
    """Ways to pack sequences, with the order in which they are taken."""
    order = np.arange(len(length))
    yield "as they come", order, packed(length)
    turned = random.permutation(order)
    yield "in another order", turned, packed(length[turned])
    yield "a row each", order, Packing(len(order), int(length.max()), order, 0 * order, length)
    begin = np.cumsum(length) - length
    yield "in one row", order, Packing(1, int(length.sum()), 0 * order, begin, length)
    # Two rows with gaps before and behind.
    apart = 2 + np.cumsum(length + 1) - length
    yield "with gaps", order, Packing(2, int(apart[-1] + length[-1]) + 3, order % 2, apart, length)


def batch_of(sequences: list[Array], order: Array, packing: Packing, sparse: bool) -> Batch:
    """Sequences in their columns; gaps hold no numbers."""
    rows = np.concatenate([sequences[one] for one in order])
    full = np.full((packing.columns, FEATURES), np.nan)
    full[packing.places] = rows
    if not sparse:
        return Batch({"x": Packed(full, packing)}, expected=1.0)
    full[packing.gaps] = 0
    there, places = np.nonzero(full)
    starts = np.searchsorted(there, np.arange(packing.columns + 1))
    return Batch({"x": Packed(Sparse(full[there, places], places, starts), packing)}, expected=1.0)


def program_of(graph: Graph) -> TensorProgram:
    program = TensorDraft(Job(graph, 64, "float64", UpdateRule("sgd", 1.0))).program()
    random = np.random.default_rng(SEED)
    program.load({one.name: random.normal(size=one.shape) / 2 for one in graph.parameters})
    return program


def drawn(seed: int) -> tuple[Graph, list[Array], np.random.Generator]:
    """A network, and sequences few of whose numbers are not 0."""
    graph, random = Growth(seed).graph, np.random.default_rng(seed + 1_000_000)
    length = random.integers(1, 8, size=random.integers(1, 7))
    shown = [random.normal(size=(one, FEATURES)) for one in length]
    return graph, [one * (random.random(one.shape) < 0.4) for one in shown], random


def by_sequence(program: TensorProgram, node: Node, order: Array) -> list[Array]:
    """The values of a node by the sequence that they are of."""
    lengths = program.lengths(node)
    assert lengths is not None
    parts = np.split(program.read(node), np.cumsum(lengths)[:-1])
    return [parts[place] for place in np.argsort(order)]


@pytest.mark.parametrize("number", range(NETWORKS))
def test_step_by_step_is_in_bulk_however_it_is_packed(number: int) -> None:
    seed = SEED + number
    print(f"seed {seed}")
    graph, sequences, random = drawn(seed)
    program = program_of(graph)
    given = program.store()
    end = graph.criteria[0].inputs[0]
    expected, loss = [], 0.0
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        for steps in sequences:
            alone = Alone(given, steps)
            values = [alone.at(end, step).reshape(-1) for step in range(alone.length(end))]
            expected.append(np.array(values).reshape(-1, end.size))
            loss += float(expected[-1].sum())
    finally:
        sys.setrecursionlimit(limit)
    first: dict[str, Array] = {}
    length = np.array([len(one) for one in sequences])
    for name, order, packing in packings(length, random):
        for sparse in (False, True):
            message = f"{name}, {'sparse' if sparse else 'dense'}"
            program.count(program.figures()._replace(sums=(0.0,)))
            found = gradients_of(program, batch_of(sequences, order, packing, sparse))
            for one, other in zip(by_sequence(program, end, order), expected, strict=True):
                np.testing.assert_allclose(one, other, err_msg=message, **CLOSE)
            np.testing.assert_allclose(program.figures().sums[0], loss, err_msg=message, **CLOSE)
            first = first or found
            for parameter, gradient in found.items():
                np.testing.assert_allclose(gradient, first[parameter], err_msg=message, **CLOSE)


@pytest.mark.parametrize("number", range(NETWORKS))
def test_the_gradient_is_the_slope_along_it(number: int) -> None:
    seed = SEED + number
    print(f"seed {seed}")
    graph, sequences, random = drawn(seed)
    program, length = program_of(graph), np.array([len(one) for one in sequences])
    batch = batch_of(sequences, np.arange(len(length)), packed(length), sparse=False)
    given, found = program.store(), gradients_of(program, batch)
    way = {name: random.normal(size=one.shape) for name, one in given.items()}
    ends = []
    for step in (1e-6, -1e-6):
        fresh = program_of(graph)
        fresh.load({name: one + step * way[name] for name, one in given.items()})
        fresh.feed(batch)
        assert fresh.step()
        ends.append(fresh.figures().sums[0])
    slope = (ends[0] - ends[1]) / 2e-6
    expected = sum(float((found[name] * one).sum()) for name, one in way.items())
    assert expected == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_networks_of_every_kind_are_drawn() -> None:
    graphs = [Growth(SEED + number).graph for number in range(NETWORKS)]
    loops = [one for graph in graphs for one in scheduled(graph) if isinstance(one, Loop)]
    assert {loop.backwards for loop in loops} == {False, True}
    assert any(sum(node.op in DELAYS for node in loop.nodes) > 2 for loop in loops)
    operations = {node.op for graph in graphs for node in graph.nodes}
    assert operations >= {*UNARY, *BINARY, *DELAYS, "Times", "RowStack", "Slice", "GatherPacked"}
    assert any(sum(isinstance(one, Loop) for one in scheduled(graph)) > 2 for graph in graphs)
