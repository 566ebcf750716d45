"""Updates by the gradient of a product with sparse samples, against plain loops: rows that no
sample hit keep their numbers and what is remembered of them, and most rules are AdaGrad's then.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from netsharp_engine.graph import Graph
from netsharp_engine.program import Batch, Job, Shaping, Sparse, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft
from netsharp_engine.tensor_backend.updates import RULES
from tests.cntk.training.test_sequences import held
from tests.conftest import SEED

ROWS, COLUMNS, RATE = 7, 3, 0.25
#: The samples of each minibatch, by what they have where; row 6 is in none of them.
BATCHES: list[list[dict[int, float]]] = [
    [{0: 1.0}, {2: 0.5, 3: -1.0}],
    [{}, {2: 2.0}, {5: 1.0, 2: -0.5}],
    [{4: 1.0}],
    [{0: -1.5}, {4: 0.25, 0: 1.0}, {3: 3.0}],
]
Numbers = list[list[float]]
CONSTANTS = {
    "target": 0.8, "inc": 1.3, "dec": 0.7, "max": 0.025, "min": 0.012, "gamma": 0.9,
    "samples": 2.0, "fading": 0.9, "normalized": 0.0,
}  # fmt: skip


def sparse(samples: list[dict[int, float]]) -> Sparse:
    starts = np.cumsum([0, *map(len, samples)])
    pairs = [pair for sample in samples for pair in sample.items()]
    return Sparse(np.array([v for _, v in pairs]), np.array([p for p, _ in pairs]), starts)


def trained(rule: UpdateRule) -> tuple[Numbers, list[Any], list[Any]]:
    """The embedding after four updates, with how it began and the targets."""
    graph = Graph()
    x = graph.input("x", (ROWS,))
    product = graph.apply("Times", held(graph, "E", ROWS, COLUMNS), x)
    target = graph.input("y", (COLUMNS,))
    graph.criteria = [graph.apply("SquareError", product, target, name="loss")]
    program = TensorDraft(Job(graph, 4, "float64", rule)).program()
    random = np.random.default_rng(SEED)
    start = random.normal(size=(ROWS, COLUMNS))
    program.load({"E": start})
    targets = [random.normal(size=(len(one), COLUMNS)) for one in BATCHES]
    for samples, wanted in zip(BATCHES, targets, strict=True):
        program.feed(Batch({"x": sparse(samples), "y": wanted}, expected=1.0))
        assert program.step()
        assert program.update(rule)
    return program.store()["E"].tolist(), start.tolist(), [one.tolist() for one in targets]


def slopes(w: Numbers, samples: list[dict[int, float]], wanted: Numbers) -> dict[int, list[float]]:
    """The gradient of the squared error, of the rows that samples hit."""
    found: dict[int, list[float]] = {}
    for sample, target in zip(samples, wanted, strict=True):
        for column in range(COLUMNS):
            value = sum(number * w[row][column] for row, number in sample.items())
            for row, number in sample.items():
                by = found.setdefault(row, [0.0] * COLUMNS)
                by[column] += 2 * (value - target[column]) * number
    return found


def looped(rule: UpdateRule) -> tuple[Numbers, Numbers]:
    """The same number by number."""
    found, w, targets = trained(rule)
    kept = [[0.0] * COLUMNS for _ in range(ROWS)]
    m, limit = rule.momentum, rule.shaping.limit
    for samples, wanted in zip(BATCHES, targets, strict=True):
        gradient = slopes(w, samples, wanted)
        ends: dict[tuple[int, int], float] = {}
        for row, numbers in gradient.items():
            for column, plain in enumerate(numbers):
                g = max(-limit, min(limit, plain))
                v = kept[row][column]
                if rule.kind == "sgd":
                    ends[row, column] = g
                elif rule.kind == "smoothed":
                    v = kept[row][column] = (1 - m) * g + m * v
                    ends[row, column] = m * v + (1 - m) * g if rule.nesterov else v
                else:
                    kept[row][column] = v + g * g
                    ends[row, column] = g / math.sqrt(kept[row][column] + 1e-16)
        mean = 1.0
        if rule.constants.get("normalized") and rule.kind not in ("sgd", "smoothed"):
            gains = [1 / math.sqrt(kept[row][column] + 1e-16) for row, column in ends]
            mean = sum(gains) / len(gains)
        for (row, column), step in ends.items():
            w[row][column] -= RATE / mean * step
    return found, w


@pytest.mark.parametrize("limit", [math.inf, 0.3])
@pytest.mark.parametrize("normalized", [0.0, 1.0])
@pytest.mark.parametrize(("momentum", "nesterov"), [(0.0, False), (0.9, False), (0.9, True)])
@pytest.mark.parametrize("kind", sorted(RULES))
def test_a_rule_of_touched_rows(
    kind: str, momentum: float, nesterov: bool, normalized: float, limit: float
) -> None:
    constants = {**CONSTANTS, "normalized": normalized}
    shaping = Shaping(limit=limit)
    rule = UpdateRule(kind, RATE, momentum, nesterov, constants=constants, shaping=shaping)
    found, expected = looped(rule)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


def test_without_momentum_nesterov_is_the_plain_step() -> None:
    plain, _, _ = trained(UpdateRule("sgd", RATE))
    found, _, _ = trained(UpdateRule("smoothed", RATE, 0.0, nesterov=True))
    np.testing.assert_allclose(found, plain, rtol=1e-14)


@pytest.mark.parametrize("kind", sorted(RULES))
def test_a_row_that_no_sample_hits_keeps_its_numbers(kind: str) -> None:
    rule = UpdateRule(kind, RATE, 0.9, constants=CONSTANTS)
    found, start, _ = trained(rule)
    assert found[6] == start[6]
    assert found[0] != start[0]
