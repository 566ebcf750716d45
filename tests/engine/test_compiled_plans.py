"""The compiled pools, normalisation, slopes and update rules give the bits of the numpy path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import Plan, compile_plan, updates
from netsharp_engine.numpy_backend.kernels import compiled
from netsharp_engine.program import UpdateRule
from tests.conftest import SEED
from tests.engine import test_random_networks
from tests.engine.naive import Dimension
from tests.engine.networks import axes_of, convolution

twins = compiled.twins
BATCHES = (1, 3, 16, 37)


def plans(graph: Graph, batch: int, dtype: str, training: bool) -> tuple[Plan, Plan]:
    """Make the same plan with compiled twins and without."""
    loss = "squared error" if training else None
    ours = compile_plan(graph, batch, loss, dtype, training)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "twins", None)
        return ours, compile_plan(graph, batch, loss, dtype, training)


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.data(), st.sampled_from(BATCHES), st.sampled_from(["float32", "float64"]))
def test_random_networks_give_the_same_bits(data: Any, batch: int, dtype: str) -> None:
    growth = test_random_networks.Growth(data.draw)
    for _ in range(data.draw(st.integers(2, 6))):
        growth.grow()
    weights = growth.parameter((3, growth.nodes[-1].size))
    growth.graph.set_output(
        growth.graph.apply("full", growth.nodes[-1], parameters=(weights,), name="out")
    )
    random = np.random.default_rng(SEED)
    values = {one.name: random.standard_normal(one.shape) * 0.3 for one in growth.graph.parameters}
    rows = random.standard_normal((batch, 20)).round(1)
    goals = random.standard_normal((batch, 3))
    for training in (True, False):
        both = plans(growth.graph, batch, dtype, training)
        for plan in both:
            plan.load(values)
            plan.feed(rows, goals if training else None)
            if training:
                plan.step()
            else:
                plan.forward()
        ours, theirs = both
        np.testing.assert_array_equal(ours.output, theirs.output)
        if training:
            np.testing.assert_array_equal(ours.gradient, theirs.gradient)


def windowed(op: str, dimensions: list[Dimension], **words: object) -> Graph:
    """One operation over an image, and an activation whose slope starts the backward pass."""
    graph = Graph()
    size = int(np.prod([one.size for one in dimensions]))
    source = graph.input("x", (size,))
    biases = graph.parameter("b", (size,), kind="biases")
    made = graph.apply("bias", source, parameters=(biases,), name="moved")
    made = graph.apply(op, made, axes=axes_of(dimensions), name="seen", **words)
    graph.set_output(graph.apply("activation", made, function="tanh", name="out"))
    return graph


NORM = {"alpha": 0.4, "beta": 0.75, "offset": 1.0, "over_full_kernel": False}
OPERATIONS = (
    ("max pool", {}),
    ("mean pool", {}),
    ("response norm", NORM),
    ("response norm", NORM | {"beta": 0.5, "over_full_kernel": True}),
    ("response norm", NORM | {"beta": 0.6}),
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("op", "words"), OPERATIONS)
@pytest.mark.parametrize("padding", [False, True])
@pytest.mark.parametrize("kernels", [(2, 3, 3), (1, 3, 3), (1, 1, 3), (2, 1, 1)])
def test_windows_that_overlap_give_the_same_bits(
    op: str, words: dict[str, object], padding: bool, dtype: str, kernels: tuple[int, int, int]
) -> None:
    sizes, strides = (3, 7, 6), (1, 2, 1)
    dimensions = [
        Dimension(size, kernel, min(stride, kernel), padding, 0, 0, True, 1)
        for size, kernel, stride in zip(sizes, kernels, strides, strict=True)
    ]
    graph = windowed(op, dimensions, **words)
    random = np.random.default_rng(SEED)
    for batch in BATCHES:
        rows = random.integers(-3, 4, (batch, 126)).astype(dtype) / 3
        outputs = graph.output.size
        both = plans(graph, batch, dtype, training=True)
        for plan in both:
            plan.load({"b": random.permutation(126) * 0})
            plan.feed(rows, np.ones((batch, outputs)))
            plan.step()
        np.testing.assert_array_equal(both[0].output, both[1].output)
        np.testing.assert_array_equal(both[0].gradient, both[1].gradient)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("op", "words"), OPERATIONS)
def test_images_after_a_convolution_are_walked_as_they_lie(
    op: str, words: dict[str, object], dtype: str
) -> None:
    """Its maps lie between rows and columns; windows are over maps, or over rows and columns."""
    walked = [Dimension(8, 3, 1, False, 0, 0, True, 1), Dimension(7, 2, 1, False, 0, 0, True, 1)]
    maps = Dimension(1, 1, 1, False, 0, 0, True, 5)
    random = np.random.default_rng(SEED)
    for kernels in ((3, 1, 1), (1, 3, 2), (2, 3, 1)):
        graph = Graph()
        made = convolution(graph, graph.input("x", (1, 8, 7)), [maps, *walked])
        seen = [
            Dimension(size, kernel, 1, True, 0, 0, True, 1)
            for size, kernel in zip((5, 6, 6), kernels, strict=True)
        ]
        made = graph.apply(op, made, axes=axes_of(seen), name="seen", **words)
        graph.set_output(graph.apply("activation", made, function="tanh", name="out"))
        assert graph.output is not None
        values = {one.name: random.standard_normal(one.shape) for one in graph.parameters}
        rows = random.integers(-3, 4, (37, 56)).astype(dtype) / 3
        both = plans(graph, 37, dtype, training=True)
        for plan in both:
            plan.load(values)
            plan.feed(rows, np.ones((37, graph.output.size)))
            plan.step()
        np.testing.assert_array_equal(both[0].output, both[1].output)
        np.testing.assert_array_equal(both[0].gradient, both[1].gradient)


@pytest.mark.parametrize("op", ["max pool", "mean pool"])
def test_numbers_that_are_not_finite_stay_where_they_were(op: str) -> None:
    graph = windowed(op, [Dimension(8, 3, 1, True, 0, 0, True, 1)])
    rows = np.zeros((5, 8), np.float32)
    rows[0, 2], rows[1, 3], rows[2, 4], rows[3] = np.nan, np.inf, -np.inf, -0.0
    rows[4, 1] = 6 * np.finfo(np.float32).smallest_subnormal
    both = plans(graph, 5, "float32", training=False)
    for plan in both:
        plan.load({"b": np.zeros(8)})
        plan.feed(rows)
        plan.forward()
    np.testing.assert_array_equal(both[0].output, both[1].output)
    assert np.isnan(both[0].output[0]).sum() == 3
    assert both[0].output[4].max() > 0
    assert op == "mean pool" or both[0].output[4].max() == rows[4, 1]


class Weights:
    """What an update rule needs of a plan."""

    def __init__(self, size: int, dtype: str) -> None:
        random = np.random.default_rng(SEED)
        self.trained = random.standard_normal(size).astype(dtype)
        self.gradient = random.standard_normal(size).astype(dtype)

    def incoming(self) -> list[Any]:
        return []


ADADELTA = {"decay": 0.95, "constant": 1e-6}
ADAM = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
RULES = {
    "plain": UpdateRule("sgd", 0.013),
    "ahead of nothing": UpdateRule("sgd", 0.013, nesterov=True),
    "decay": UpdateRule("sgd", 0.013, decay=0.1),
    "momentum": UpdateRule("momentum", 0.013, 0.9),
    "nesterov": UpdateRule("momentum", 0.013, 0.9, nesterov=True),
    "adadelta": UpdateRule("adadelta", 1.0, constants=ADADELTA),
    "adam": UpdateRule("adam", 0.001, constants=ADAM),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", RULES)
def test_rules_give_the_same_bits(name: str, dtype: str) -> None:
    rule = RULES[name]
    for size in (1, 7, updates.BLOCK + 5):
        found = []
        for compile_them in (True, False):
            with pytest.MonkeyPatch.context() as patch:
                if not compile_them:
                    patch.setattr(updates, "twins", None)
                plan = Weights(size, dtype)
                plan.gradient[:1] = 0
                optimizer = updates.bind_optimizer(plan, rule.kind)
                for step in range(3):
                    optimizer.update(rule)
                    plan.gradient *= -0.7 - step
                found.append([plan.trained, *optimizer.state.values()])
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def pool_arguments() -> list[Any]:
    """Two windows of two cells over four."""
    table = np.array([[2, 3, 3]], np.int64)
    spans = np.array([[0, 2, 0], [2, 4, 0]], np.int64)
    return [4, 3, table, spans, False, np.ones(12, np.float32), np.zeros(6, np.float32)]


def test_tables_that_make_no_sense_are_refused() -> None:
    twins.plan_pooled(*pool_arguments())
    wrong: list[tuple[int, Any]] = [
        *((0, size) for size in (2, 16, -4)),
        *((1, samples) for samples in (0, -1, 1 << 40, 4)),
        *((2, np.array([row], np.int64)) for row in ((3, 3, 3), (2, -3, 3), (2, 3, 1 << 40))),
        *((2, np.zeros((ranks, 3), np.int64)) for ranks in (0, 33)),
        *((3, np.array(rows, np.int64)) for rows in ([[0, 2, 0]], [[0, 2, 0], [3, 5, 0]])),
        *((3, np.array([[0, 2, 0], row], np.int64)) for row in ((3, 2, 0), (-1, 2, 0), (0, 1, 9))),
        (5, np.ones(11, np.float32)),
        (6, np.ones(5, np.float32)),
    ]
    for place, value in wrong:
        given = pool_arguments()
        given[place] = value
        with pytest.raises((ValueError, OverflowError)):
            twins.plan_pooled(*given)
    ones = np.ones(8, np.float32)
    for given in ((4, 9, ones, ones, ones), (3, 0, ones, ones, ones), (4, 0, ones, ones[:7], ones)):
        with pytest.raises(ValueError, match=r"range|short"):
            twins.plan_sloped(*given)
    for given in (
        (4, 1, (0.1, 0.9), ones, ones),
        (4, 0, (0.1,) * 8, ones, ones),
        (4, 5, (0.1,), ones, ones),
        (4, 0, (0.1,), ones, ones[:3]),
    ):
        with pytest.raises(ValueError, match=r"range|short|number of arguments"):
            twins.plan_stepped(*given)
    for door in (twins.plan_pooled, twins.plan_pooled_back, twins.plan_normed):
        with pytest.raises(TypeError, match="another number of arguments"):
            door(4, 3)
