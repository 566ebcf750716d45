"""Every update rule against plain loops over single numbers, and what surrounds it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.descent.reports import FINISHED, State
from netsharp_engine.cntk.descent.rules import StoredMemory, Updates, recalled, remembered
from netsharp_engine.cntk.descent.schedules import PER_MINIBATCH, PER_SAMPLE, Schedule
from netsharp_engine.cntk.descent.training import Descent, TrainingPlan
from netsharp_engine.cntk.samples.minibatches import Sweeps
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.program import REMEMBERS, Memory
from netsharp_engine.tensor_backend.updates import RULES
from tests.cntk.training.test_descent import Watcher, data, gradient_of, network, values

RATE = 0.125
CONSTANTS = {
    "target": 0.8, "inc": 1.3, "dec": 0.7, "max": 0.025, "min": 0.012, "gamma": 0.9,
    "normalized": 1.0,
}  # fmt: skip
Numbers = list[float]
#: A rule: numbers and gradient, rate, momentum, samples, and the state kept between updates.
Rule = Callable[[Numbers, Numbers, float, float, int, dict[str, Any]], Numbers]


def plain(w: Numbers, g: Numbers, lr: float, m: float, n: int, kept: dict[str, Any]) -> Numbers:
    v = kept.setdefault("v", [0.0] * len(w))
    for i, slope in enumerate(g):
        v[i] = (1 - m) * lr * slope + m * v[i]
    return [one - v[i] for i, one in enumerate(w)]


def nesterov(w: Numbers, g: Numbers, lr: float, m: float, n: int, kept: dict[str, Any]) -> Numbers:
    plain(w, g, lr, m, n, kept)
    return [one - m * kept["v"][i] - (1 - m) * lr * g[i] for i, one in enumerate(w)]


def adagrad(normal: bool) -> Rule:
    def rule(w: Numbers, g: Numbers, lr: float, m: float, n: int, kept: Any) -> Numbers:
        a = kept.setdefault("a", [0.0] * len(w))
        for i, slope in enumerate(g):
            a[i] += slope * slope
        ends = [1 / math.sqrt(one + 1e-16) for one in a]
        mean = sum(ends) / len(ends) if normal else 1.0
        return [one - lr / mean * g[i] * ends[i] for i, one in enumerate(w)]

    return rule


def fsadagrad(w: Numbers, g: Numbers, lr: float, m: float, n: int, kept: dict[str, Any]) -> Numbers:
    if not kept:
        kept.update(s=[0.0] * len(w), p=[0.0] * len(w), c=0.0)
    d = math.exp(-n / 50)
    kept["c"] = d * kept["c"] + (1 - d) * n
    found = []
    for i, slope in enumerate(g):
        kept["s"][i] = d * kept["s"][i] + (1 - d) * slope**2
        step = slope
        if kept["s"][i] != 0:
            gain = CONSTANTS["target"] * math.sqrt(kept["c"]) / math.sqrt(kept["s"][i])
            step = slope * min(10.0, gain)
        if m > 0:
            step = kept["p"][i] = m * kept["p"][i] + (1 - m) * step
        found.append(w[i] - lr * step)
    return found


def rmsprop(normal: bool) -> Rule:
    def rule(w: Numbers, g: Numbers, lr: float, m: float, n: int, kept: Any) -> Numbers:
        if not kept:
            kept.update(a=[x * x for x in g], step=[0.02] * len(w), sign=[0.0] * len(w))
        gains = []
        for i, slope in enumerate(g):
            kept["a"][i] = 0.9 * kept["a"][i] + (1 - 0.9) * slope * slope
            sign = (slope > 0) - (slope < 0)
            step = kept["step"][i]
            if sign * kept["sign"][i] > 0:
                step = min(step * CONSTANTS["inc"], CONSTANTS["max"])
            else:
                step = max(step * CONSTANTS["dec"], CONSTANTS["min"])
            kept["step"][i], kept["sign"][i] = step, sign
            gains.append(step / math.sqrt(kept["a"][i] + float(np.float32(1e-6))))
        mean = sum(gains) / len(gains) if normal else 1.0
        return [one - lr / mean * g[i] * gains[i] for i, one in enumerate(w)]

    return rule


PLAIN_CONSTANTS = {**CONSTANTS, "normalized": 0.0}
CASES: dict[str, tuple[Updates, Rule]] = {
    "plain": (Updates(), plain),
    "nesterov": (Updates(nesterov=True), nesterov),
    "adagrad": (Updates("adagrad", constants=CONSTANTS), adagrad(True)),
    "adagrad, as it is": (Updates("adagrad", constants=PLAIN_CONSTANTS), adagrad(False)),
    "fsadagrad": (Updates("fsadagrad", constants=CONSTANTS, variance=50.0), fsadagrad),
    "rmsprop": (Updates("rmsprop", constants=CONSTANTS), rmsprop(True)),
    "rmsprop, as it is": (Updates("rmsprop", constants=PLAIN_CONSTANTS), rmsprop(False)),
}


def trained(updates: Updates, momentum: float = 0.9, dtype: str = "float64") -> State:
    """The state after two epochs with minibatches of 4, 4 and 2."""
    graph, rows = network(), data(10)
    schedule = Schedule([RATE], PER_SAMPLE, [momentum], PER_MINIBATCH, [4])
    source = Sweeps(Sequences(rows, [10], []), randomize=False)
    plan = TrainingPlan(schedule, 2, dtype=dtype, updates=updates)
    watcher = Watcher()
    start = State(0, 0, values(graph), Memory(0, {}))
    assert Descent(graph, source, plan, start).run(watcher).status == FINISHED
    return watcher.state


def looped(
    rule: Rule, around: Callable[[str, Numbers, Numbers, int], Numbers], momentum: float = 0.9
) -> dict[str, Numbers]:
    """The same by loops; `around` changes a gradient beforehand."""
    graph, rows = network(), data(10)
    known = values(graph)
    kept: dict[str, dict[str, Any]] = {name: {} for name in known}
    per_sample = float(np.float32(momentum)) ** (1 / 4)
    for start, end in ((0, 4), (4, 8), (8, 10)) * 2:
        batch = {name: one[start:end] for name, one in rows.items()}
        n = end - start
        for name, slope in gradient_of(graph, known, batch)[1].items():
            flat = known[name].reshape(-1).tolist()
            g = around(name, flat, slope.reshape(-1).tolist(), n)
            rate = RATE * (0.5 if name == "W" else 1.0)
            moved = rule(flat, g, rate, per_sample**n, n, kept[name])
            known = {**known, name: np.reshape(moved, known[name].shape)}
    return {name: one.reshape(-1).tolist() for name, one in known.items()}


def same(state: State, expected: dict[str, Numbers], relative: float = 1e-11) -> None:
    for name, numbers in expected.items():
        found = state.values[name].reshape(-1)
        np.testing.assert_allclose(found, numbers, rtol=relative, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("case", CASES)
def test_a_rule(case: str, momentum: float) -> None:
    updates, rule = CASES[case]
    state = trained(updates._replace(multipliers={"W": 0.5}), momentum)
    same(state, looped(rule, lambda name, w, g, n: g, momentum), 1e-9)


def test_every_rule_is_tried() -> None:
    assert {updates.kind for updates, _ in CASES.values()} == RULES.keys() - {"sgd"}


def truncated(name: str, w: Numbers, g: Numbers, n: int) -> Numbers:
    return [max(-0.02 * n, min(0.02 * n, one)) for one in g]


def shortened(name: str, w: Numbers, g: Numbers, n: int) -> Numbers:
    norm = math.sqrt(sum(one * one for one in g))
    return [one * min(1.0, 0.02 * n / norm) for one in g]


def decayed(name: str, w: Numbers, g: Numbers, n: int) -> Numbers:
    return [one + 0.03 * n * at for one, at in zip(truncated(name, w, g, n), w, strict=True)]


@pytest.mark.parametrize(
    ("shaped", "around"),
    [
        ({"clip": 0.02}, truncated),
        ({"clip": 0.02, "truncates": False}, shortened),
        ({"clip": 0.02, "l2": 0.03}, decayed),
        ({"l2": 0.03, "unregular": frozenset("WVbs")}, lambda name, w, g, n: g),
    ],
)
def test_gradients_are_shaped_before_the_rule(shaped: dict[str, Any], around: Any) -> None:
    state = trained(Updates(multipliers={"W": 0.5}, **shaped))
    same(state, looped(plain, around))


def test_small_numbers_become_zero() -> None:
    def rule(w: Numbers, g: Numbers, lr: float, m: float, n: int, kept: Any) -> Numbers:
        bound, moved = lr * 0.3 * n, plain(w, g, lr, m, n, kept)
        return [0.0 if abs(x) <= bound else x - math.copysign(bound, x) for x in moved]

    state = trained(Updates(multipliers={"W": 0.5}, l1=0.3))
    expected = looped(rule, lambda name, w, g, n: g)
    assert any(one == 0 for numbers in expected.values() for one in numbers)
    same(state, expected)
    assert not any(np.signbit(one[one == 0]).any() for one in state.values.values())


def test_noise_is_drawn_again_and_again_the_same() -> None:
    calm, first, again = (trained(Updates(noise=each)) for each in (0.0, 0.1, 0.1))
    for name, numbers in calm.values.items():
        assert np.array_equal(first.values[name], again.values[name])
        assert not np.array_equal(first.values[name], numbers)
    drawn = np.concatenate([(first.values[n] - one).reshape(-1) for n, one in calm.values.items()])
    assert 0.05 < drawn.std() < 1


@pytest.mark.parametrize("kind", sorted(RULES.keys() - {"sgd"}))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_checkpoint_holds_what_a_rule_remembers(kind: str, dtype: str) -> None:
    state = trained(Updates(kind, constants=CONSTANTS), dtype=dtype)
    sizes = {name: one.size for name, one in state.values.items()}
    given = remembered(kind, state.memory, list(sizes))
    width = len(set(REMEMBERS[kind]) - {"count"})
    assert [one.size for one in given.smoothed] == [size * width for size in sizes.values()]
    assert {one.dtype for one in given.smoothed} == {np.dtype(dtype)}
    assert all(given.counts) == (kind == "fsadagrad")
    found = recalled(kind, given, sizes)
    assert found.keys() == state.memory.arrays.keys()
    for remembers, arrays in found.items():
        for name, one in arrays.items():
            known = state.memory.arrays[remembers][name]
            assert np.array_equal(one.reshape(known.shape), known)
    odd = StoredMemory([np.concatenate((one, one)) for one in given.smoothed], given.counts)
    with pytest.raises(ValueError, match=next(iter(sizes))):
        recalled(kind, odd, sizes)
