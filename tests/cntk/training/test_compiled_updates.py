"""The compiled twin of update rules against the same rules in numpy: the same bits, and no number
changed where one of them would not be finite.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from netsharp_engine.graph import Graph
from netsharp_engine.program import Batch, Job, Shaping, Sparse, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram, compiled_updates
from netsharp_engine.tensor_backend.compiled_updates import twins
from tests.cntk.training.test_sequences import held
from tests.conftest import SEED

WORDS, WIDTH, INNER = 11, 5, 37
CONSTANTS = {
    "target": 0.8, "inc": 1.3, "dec": 0.7, "max": 0.025, "min": 0.012, "gamma": 0.9,
    "samples": 2.0, "fading": 0.9, "normalized": 0.0,
}  # fmt: skip
SHAPINGS = {
    "plain": Shaping(),
    "cut": Shaping(limit=0.25),
    "norm": Shaping(limit=0.25, truncates=False),
    "l2": Shaping(l2=0.1, limit=0.5, unregular=frozenset(("E",))),
    "l1": Shaping(l1=0.1, multipliers={"W": 0.5}),
    "l2 of rows": Shaping(l2=0.1),
}


def program_of(rule: UpdateRule, dtype: str) -> TensorProgram:
    """A matrix that sparse samples choose rows of, and one that they are multiplied with."""
    graph = Graph()
    x = graph.input("x", (WORDS,))
    rows = graph.apply("Times", held(graph, "E", WORDS, WIDTH), x)
    product = graph.apply("Times", held(graph, "W", WIDTH, INNER), rows)
    target = graph.input("y", (INNER,))
    graph.criteria = [graph.apply("SquareError", product, target, name="loss")]
    program = TensorDraft(Job(graph, 4, dtype, rule)).program()
    random = np.random.default_rng(SEED)
    program.load({"E": random.normal(size=(WORDS, WIDTH)), "W": random.normal(size=(WIDTH, INNER))})
    return program


def batches(count: int) -> list[Batch]:
    random = np.random.default_rng(SEED)
    found = []
    for _ in range(count):
        words = Sparse(np.ones(4), random.integers(WORDS - 2, size=4), np.arange(5))
        found.append(Batch({"x": words, "y": random.normal(size=(4, INNER))}, expected=4.0))
    return found


def kept(program: TensorProgram) -> dict[str, Any]:
    """All bits of a program: parameters and what its rule remembers."""
    memory = program.store_memory()
    found = {
        f"{kind} {name}": one for kind, of in memory.arrays.items() for name, one in of.items()
    }
    return {name: one.tobytes() for name, one in (found | program.store()).items()}


def trained(rule: UpdateRule, dtype: str, given: list[Batch]) -> dict[str, Any]:
    program = program_of(rule, dtype)
    for batch in given:
        program.feed(batch)
        assert program.step()
        assert program.update(rule)
    return kept(program)


@pytest.mark.parametrize("shaping", SHAPINGS)
@pytest.mark.parametrize("kind", compiled_updates._KINDS)
def test_the_same_bits(kind: str, shaping: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = batches(5)
    ways = itertools.product(("float32", "float64"), (0.0, 0.9), (False, True))
    for dtype, momentum, nesterov in ways:
        rule = UpdateRule(
            kind, 0.01, momentum, nesterov, constants=CONSTANTS, shaping=SHAPINGS[shaping]
        )
        found = trained(rule, dtype, given)
        with monkeypatch.context() as patch:
            patch.setattr(compiled_updates, "twins", None)
            expected = trained(rule, dtype, given)
        for name, bits in expected.items():
            assert found[name] == bits, f"{name}, {dtype}, momentum {momentum}, {nesterov}"


def test_the_twin_takes_what_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """A training with the defaults of a configuration uses it."""
    assert twins is not None
    calls: list[object] = []

    class Spy:
        def rules_applied(self, *given: object) -> int:
            calls.append(given)
            return twins.rules_applied(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(compiled_updates, "twins", Spy())
    for kind, constants, expected in (
        ("smoothed", {"normalized": 1.0}, 1),
        ("adagrad", {"normalized": 1.0}, 0),
        ("adagrad", {"normalized": 0.0}, 1),
    ):
        calls.clear()
        trained(UpdateRule(kind, 0.01, 0.9, constants=constants), "float32", batches(1))
        assert len(calls) == expected


@pytest.mark.parametrize("kind", ["sgd", "smoothed", "fsadagrad"])
@pytest.mark.parametrize("compiled", [True, False])
def test_nothing_changes_where_a_number_is_not_finite(
    kind: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of E are finite, and stay as they were all the same."""
    if not compiled:
        monkeypatch.setattr(compiled_updates, "twins", None)
    rule = UpdateRule(kind, 0.01, 0.9, constants=CONSTANTS)
    program = program_of(rule, "float32")
    first, second = batches(2)
    program.feed(first)
    assert program.step()
    assert program.update(rule)
    before = kept(program)
    program.feed(second)
    assert program.step()
    gradients = program._gradients
    assert isinstance(gradients["W"], np.ndarray)
    gradients["W"][-1, -1] = np.inf if kind != "fsadagrad" else np.nan
    assert not program.update(rule)
    assert kept(program) == before
    fault = program.figures().fault
    assert fault is not None
    assert getattr(fault.place, "name", "") == "W"


def job(**other: Any) -> tuple[Any, ...]:
    """A job of plain descent over three rows of five, with some of its parts replaced."""
    constants = np.array([0, 0.5, 0, 0, np.inf, *[0.0] * 8])
    ones = np.ones(15)
    parts: Mapping[str, Any] = {
        "constants": constants, "places": None, "gradient": ones, "values": ones.copy(),
        "next": ones.copy(),
    } | other  # fmt: skip
    return tuple(parts.values())


def test_what_makes_no_sense_is_refused() -> None:
    assert twins.rules_applied(8, (job(),)) == -1
    for replaced, sentence in (
        ({"constants": np.full(13, 9.0)}, "there is no such rule"),
        ({"constants": np.ones(3)}, "an array is too short"),
        ({"next": np.ones(3)}, "an array is too short"),
        ({"values": np.ones(16)}, "a gradient has another size"),
        ({"places": np.array([0, 1, 3])}, "a place is out of range"),
        ({"places": np.array([-1, 0, 1])}, "a place is out of range"),
        ({"constants": np.ones(13)}, "a job has another number of parts"),
    ):
        with pytest.raises(ValueError, match=sentence):
            twins.rules_applied(8, (job(), job(**replaced)))
    with pytest.raises(ValueError, match="a job has another number of parts"):
        twins.rules_applied(8, (job()[:3],))
    with pytest.raises(ValueError, match="a size is out of range"):
        twins.rules_applied(3, (job(),))
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.rules_applied(8)  # type: ignore[call-arg]
    assert twins.rules_applied(8, ()) == -1
    nothing = np.ones(0)
    empty = job(places=np.ones(0, np.int64), gradient=nothing, next=nothing)
    assert twins.rules_applied(8, (empty,)) == -1
