"""Every operation on tensors along sequences of unequal length: gaps are as if they were not there.

Gaps contain NaN, so that it shows where one reaches a sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netsharp_engine.graph import Graph, Node
from netsharp_engine.ops.tensors import SUMS
from netsharp_engine.packing import Packing, packed, single
from netsharp_engine.program import Batch, Job, Packed, Sparse, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram
from netsharp_engine.tensor_backend.kernels.table import backward_of
from tests.cntk.training.operations import CASES, GIVEN, PREPARED, Shape, node_of, values
from tests.cntk.training.test_sequences import gradients_of, held, loss_of, placed
from tests.conftest import SEED

Array = Any
LENGTHS = np.array([5, 3, 2, 4])
PACKING = packed(LENGTHS)
#: Where samples stand, as columns follow each other: where one is joined with others, so it is.
ORDER = np.argsort(PACKING.places)


class Trial:
    """An operation of sources along sequences, and of what all samples share.

    What a gradient comes back to is a parameter added to such a source, or alone.
    """

    def __init__(
        self,
        operation: str,
        sizes: tuple[Shape, ...],
        attributes: dict[str, object],
        spread: tuple[int, ...],
    ) -> None:
        random = np.random.default_rng(SEED)
        self.fed: dict[str, Array] = {}
        self.begun: dict[str, Array] = {}
        self.learns: dict[str, bool] = {}
        graph = self.graph = Graph()
        drawn = [
            values(operation, (len(ORDER) if n > 1 else 1, *size), random)
            for n, size in zip(spread, sizes, strict=True)
        ]
        backs = backward_of(node_of(operation, sizes, **attributes))
        prepared = PREPARED.get(operation, list)(drawn)
        sources = [
            self._source(f"x{number}", one, back is not None)
            for number, (one, back) in enumerate(zip(prepared, backs, strict=True))
        ]
        given = dict(attributes)
        if operation == "Times" and len(sizes[0]) == 4:
            given["outputRank"] = 2
        end = graph.apply(operation, *sources, name="y", **given)
        if operation not in SUMS:
            end = self._closed(end, random)
        graph.criteria = [end]

    def _source(self, name: str, numbers: Array, learns: bool) -> Node:
        graph, shape = self.graph, numbers.shape[1:]
        alone = len(numbers) == 1
        if alone:
            self.begun[name], self.learns[name] = numbers[0], learns
            return held(graph, name, *shape)
        self.fed[name] = numbers.reshape(len(numbers), -1)
        source = graph.input(name, shape)
        if not learns:
            return source
        self.begun[f"{name}'"] = np.zeros(shape)
        return graph.apply("Plus", source, held(graph, f"{name}'", *shape))

    def _closed(self, end: Node, random: np.random.Generator) -> Node:
        self.fed["target"] = random.normal(size=(len(ORDER), end.size))
        return self.graph.apply("SquareError", end, self.graph.input("target", end.shape))

    def program(self) -> TensorProgram:
        program = TensorDraft(Job(self.graph, 20, "float64", UpdateRule("sgd", 1.0))).program()
        program.load(self.begun)
        return program

    def batch(self, packing: Packing) -> Batch:
        """Samples as they follow each other in columns, along sequences or each alone."""
        if packing is not PACKING:
            return Batch({name: Packed(one, packing) for name, one in self.fed.items()}, expected=1)
        inputs = {}
        for name, one in self.fed.items():
            samples = np.empty_like(one)
            samples[ORDER] = one
            inputs[name] = placed(packing, samples)
        return Batch(inputs, expected=1)


ALONG = [case for case in CASES if max(case[3]) > 1 and case[0] not in ("Diagonal", *GIVEN)]


@pytest.mark.parametrize(("operation", "sizes", "attributes", "spread"), ALONG)
def test_gaps_are_as_if_they_were_not_there(
    operation: str, sizes: tuple[Shape, ...], attributes: dict[str, object], spread: tuple[int, ...]
) -> None:
    trial = Trial(operation, sizes, attributes, spread)
    program = trial.program()
    found = gradients_of(program, trial.batch(PACKING))
    loss = program.figures().sums[0]
    alone = trial.program()
    expected = gradients_of(alone, trial.batch(single(len(ORDER))))
    assert loss == pytest.approx(alone.figures().sums[0], rel=1e-12)
    for name, one in expected.items():
        np.testing.assert_allclose(found[name], one, rtol=1e-11, atol=1e-12)


ONCE = {case[0]: case for case in reversed(ALONG) if case[3].count(1) < len(case[3])}


@pytest.mark.parametrize("operation", ONCE)
def test_gradients_along_sequences_against_differences(operation: str) -> None:
    trial = Trial(*ONCE[operation])
    batch, program = trial.batch(PACKING), trial.program()
    given, found = program.store(), gradients_of(program, batch)
    learnt = [key for key in given if trial.learns.get(key, True)]
    for name, place in ((key, at) for key in learnt for at in np.ndindex(given[key].shape)):
        ends = []
        for step in (1e-6, -1e-6):
            moved = {key: one.copy() for key, one in given.items()}
            moved[name][place] += step
            ends.append(loss_of(trial.program(), batch, moved))
        slope = (ends[0] - ends[1]) / 2e-6
        assert found[name][place] == pytest.approx(slope, rel=1e-6, abs=1e-6), (name, place)


def test_sparse_words_beside_each_other_are_looked_up_as_dense_ones() -> None:
    """Two words of four a sample, one of which has none, and one two."""
    graph = Graph()
    found = graph.apply("LookupTable", held(graph, "E", 4, 3), graph.input("x", (8,)), name="y")
    graph.criteria = [graph.apply("SquareError", found, graph.input("target", (6,)))]
    rows = [[(6, 1.0), (1, 1.0)], [(0, 1.0), (7, 1.0)], [(5, 2.0)], [(2, 1.0), (4, 0.5), (5, -1.0)]]
    flat = [pair for row in rows for pair in row]
    starts = np.cumsum([0, *map(len, rows)])
    thin = Sparse(np.array([v for _, v in flat]), np.array([p for p, _ in flat]), starts)
    full = np.zeros((4, 8))
    for at, row in enumerate(rows):
        for place, value in row:
            full[at, place] += value
    random = np.random.default_rng(SEED)
    target, table = random.normal(size=(4, 6)), random.normal(size=(4, 3))
    both = []
    for given in (thin, full):
        program = TensorDraft(Job(graph, 4, "float64", UpdateRule("sgd", 1.0))).program()
        program.load({"E": table})
        both.append(gradients_of(program, Batch({"x": given, "target": target}, expected=1))["E"])
    np.testing.assert_allclose(both[0], both[1], rtol=1e-12)
    assert (both[0][3] != 0).any()
