"""The compiled product against numpy's, and its promise: a column's bits depend on it alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.activations import NAMES
from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import Plan, build, build_plan, compile_plan, design_plan
from netsharp_engine.numpy_backend.kernels import products
from netsharp_engine.numpy_backend.kernels.layout import Layout
from netsharp_engine.numpy_backend.kernels.products import of_columns, twins
from netsharp_engine.numpy_backend.kernels.site import Site, Tensor
from netsharp_engine.numpy_backend.program import NumpyDraft
from netsharp_engine.numpy_backend.updates import bind_optimizer
from netsharp_engine.program import Batch, Job, UpdateRule
from netsharp_engine.train.measure import BATCH
from netsharp_lsp.netsharp.lower import build_graph
from tests.conftest import SEED
from tests.engine import test_random_networks
from tests.engine.test_samples_alike import NETWORKS

DTYPES = ("float32", "float64")
#: Groups, places, rows, depth and columns: less than a tile, at its edges, and more than one.
SHAPES = [
    (1, 1, 1, 1, 1),
    (1, 1, 3, 5, 2),
    (2, 3, 8, 25, 13),
    (1, 1, 10, 200, 7),
    (3, 1, 17, 1100, 15),
    (1, 2, 33, 2100, 16),
    (1, 1, 200, 100, 17),
    (2, 2, 7, 9, 49),
    (1, 1, 64, 130, 257),
]


def computed(left, right, biases):
    """What the calls of a product leave behind.  The site says its type and its samples alone."""
    tensor = Tensor(np.empty((1, BATCH), left.dtype), None, Layout((1,)))
    site = Site({}, (), tensor, (), left.dtype, BATCH)
    out = np.full((*right.shape[:-2], left.shape[-2], right.shape[-1]), np.nan, left.dtype)
    for call in of_columns(site, left, right, out, biases):
        call()
    return out


def arrays(shape, dtype):
    groups, places, rows, depth, columns = shape
    random = np.random.default_rng([SEED, *shape])
    left = random.standard_normal((groups, 1, rows, depth)).astype(dtype)
    right = random.standard_normal((groups, places, depth, columns)).astype(dtype)
    return left, right, random.standard_normal((groups, 1, rows, 1)).astype(dtype)


def turned(right):
    """The same numbers, those of a column side by side."""
    return np.ascontiguousarray(right.swapaxes(-1, -2)).swapaxes(-1, -2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_twin_computes_what_numpy_does(shape, dtype) -> None:
    assert twins is not None
    left, right, biases = arrays(shape, dtype)
    expected = left.astype(np.longdouble) @ right + biases
    most = np.abs(left).astype(np.longdouble) @ np.abs(right) + np.abs(biases)
    bound = 2 * (shape[3] + 1) * np.finfo(dtype).eps * most
    for seen in (right, turned(right)):
        assert (np.abs(computed(left, seen, biases) - expected) <= bound).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_columns_get_their_bits_whatever_is_beside_them(shape, dtype) -> None:
    left, right, biases = arrays(shape, dtype)
    whole = computed(left, right, biases)
    columns = shape[4]
    for count in {1, 2, 3, 5, 15, 16, 17, columns - 1, columns} & set(range(1, columns + 1)):
        for place in {0, (columns - count) // 2, columns - count}:
            part = right[..., place : place + count]
            for seen in (part, turned(part)):
                found = computed(left, seen, biases)
                np.testing.assert_array_equal(found, whole[..., place : place + count])


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_not_finite_or_tiny_goes_the_same_way(dtype) -> None:
    left, right, biases = arrays((1, 1, 9, 40, 37), dtype)
    tiny = np.finfo(dtype).smallest_subnormal
    left[0, 0, 0, 3], right[0, 0, 3, 5] = 1, np.nan
    left[0, 0, 1, 4], right[0, 0, 4, 6] = np.inf, 0
    left[0, 0, 2], right[0, 0, :, 7], biases[0, 0, 2] = 0, -1, -0.0
    left[0, 0, 3], right[0, 0, :, 8], biases[0, 0, 3] = 0, 0, 0
    left[0, 0, 3, 0], right[0, 0, 0, 8] = tiny, 1
    with np.errstate(all="ignore"):
        expected = left @ right + biases
    for count in (37, 4):
        for start in range(0, 37, count):
            found = computed(left, right[..., start : start + count], biases)
            wanted = expected[..., start : start + count]
            np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
            np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))
    whole = computed(left, right, biases)
    assert whole[0, 0, 3, 8] == tiny
    assert whole[0, 0, 2, 7] == 0


#: Groups, places, rows, depth and columns of products in training: small and odd, at the edges of
#: tiles, vectors and blocks, so deep that rows are put side by side, and of few terms.
TRAINED = [
    (1, 1, 1, 1, 2),
    (1, 1, 5, 3, 7),
    (2, 1, 9, 40, 33),
    (1, 3, 17, 26, 25),
    (2, 2, 8, 16, 48),
    (1, 1, 65, 257, 50),
    (1, 2, 130, 513, 32),
    (1, 1, 70, 1100, 385),
    (1, 1, 31, 63, 800),
    (1, 1, 300, 300, 3),
]
ORDERS = [(one, other) for one in (False, True) for other in (False, True)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", TRAINED)
def test_matrices_may_lie_in_any_order(shape, dtype) -> None:
    """Every sum of n terms is off by at most n + 2 halves of the last place of all their sizes."""
    left, right, _ = arrays(shape, dtype)
    groups, places, rows, depth, columns = shape
    exact = left.astype(np.longdouble) @ right
    most = np.abs(left).astype(np.longdouble) @ np.abs(right)
    half = np.finfo(dtype).eps / 2
    for turns in ORDERS:
        pair = [
            turned(one) if turn else one for one, turn in zip((left, right), turns, strict=True)
        ]
        spread = np.full((groups, places, rows, columns + 3), np.nan, dtype)
        products.compiled(*pair, spread[..., :columns])()
        assert (np.abs(spread[..., :columns] - exact) <= (depth + 2) * half * most).all()
        assert np.isnan(spread[..., columns:]).all()
        summed = np.full((groups, 1, rows, columns), np.nan, dtype)
        products.compiled(*pair, summed)()
        bound = (places * depth + 2) * half * most.sum(1, keepdims=True)
        assert (np.abs(summed - exact.sum(1, keepdims=True)) <= bound).all()
        if turns == (False, True):
            products.compiled(*pair, summed, lanes=True)()
            assert (np.abs(summed - exact.sum(1, keepdims=True)) <= bound).all()
        before = np.random.default_rng(SEED).standard_normal(summed.shape).astype(dtype)
        added = before.copy()
        products.compiled(*pair, added, adds=True)()
        wanted = exact.sum(1, keepdims=True) + before
        assert (
            np.abs(added - wanted) <= bound + (places * depth + 2) * half * np.abs(before)
        ).all()


def test_windows_that_overlap_are_added_one_after_the_other() -> None:
    random = np.random.default_rng(SEED)
    left = random.integers(-4, 5, (1, 1, 12, 6)).astype(np.float32)
    right = random.integers(-4, 5, (1, 5, 6, 20)).astype(np.float32)
    cells = np.ones((7, 4, 20), np.float32)
    steps = (0, cells.strides[0], *cells.strides[1:])
    windows = np.lib.stride_tricks.as_strided(cells, (1, 5, 12, 20), steps)
    expected = cells.copy()
    for place in range(5):
        expected[place : place + 3] += (left[0, 0] @ right[0, place]).reshape(3, 4, 20)
    products.compiled(left, right, windows, adds=True)()
    np.testing.assert_array_equal(cells, expected)


@pytest.mark.parametrize("turns", ORDERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_that_are_not_finite_stay_in_their_rows_and_columns(dtype, turns) -> None:
    left, right, _ = arrays((1, 1, 21, 300, 37), dtype)
    tiny = np.finfo(dtype).smallest_subnormal
    left[..., 3, 7], left[..., 5, 299], right[..., 11, 36] = np.nan, np.inf, -np.inf
    right[..., 299, 2] = 0  # times infinity
    left[..., 8, :], right[..., 9] = 0, 0
    left[..., 8, 0], right[..., 0, 9] = tiny, 1
    pair = [turned(one) if turn else one for one, turn in zip((left, right), turns, strict=True)]
    with np.errstate(all="ignore"):
        expected = left @ right
    found = np.empty_like(expected)
    products.compiled(*pair, found)()
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    assert found[0, 0, 8, 9] == tiny
    if turns == (False, True):
        products.compiled(*pair, found, lanes=True)()
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
        assert found[0, 0, 8, 9] == tiny


def both_plans(graph: Graph, batch: int, loss: str, dtype: str) -> tuple[Plan, Plan]:
    """The same plan with the compiled product, also where vectors are narrow, and with numpy's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "WIDE", 16)
        ours = compile_plan(graph, batch, loss, dtype)
        patch.setattr(products, "twins", None)
        return ours, compile_plan(graph, batch, loss, dtype)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.data(), st.sampled_from([1, 2, 5, 16, 33]))
def test_random_networks_learn_the_same_both_ways(data: Any, batch: int) -> None:
    growth = test_random_networks.Growth(data.draw)
    for _ in range(data.draw(st.integers(2, 6))):
        growth.grow()
    weights = growth.parameter((3, growth.nodes[-1].size))
    growth.graph.set_output(
        growth.graph.apply("full", growth.nodes[-1], parameters=(weights,), name="out")
    )
    random = np.random.default_rng(SEED)
    values = {one.name: random.standard_normal(one.shape) * 0.3 for one in growth.graph.parameters}
    rows, goals = random.standard_normal((batch, 20)), random.standard_normal((batch, 3))
    found = []
    for plan in both_plans(growth.graph, batch, "squared error", "float64"):
        plan.load(values)
        plan.feed(rows, goals)
        plan.step()
        found.append((plan.loss, plan.output.copy(), plan.gradient.copy()))
    ours, theirs = found
    size = max(1.0, float(np.abs(theirs[2]).max()))
    assert ours[0] == pytest.approx(theirs[0], rel=1e-11)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-9, atol=1e-11 * size)


JOINED = """\
input A [6, 7];
input B [5];
hidden C [3, 4, 5] {function} from A convolve {{
  InputShape = [6, 7]; KernelShape = [3, 3]; MapCount = 3;
}}
hidden F [7] {function} from A where (s, d) => s[1] == d[0];
hidden H [9] {function} {{ from C all; from F all; from B all; }}
hidden G [11] {function} from H all;
output O [3] softmax from G all;
"""


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [name for name in NAMES if name != "softmax"])
def test_what_is_joined_to_products_has_the_same_bits(
    function: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = build_graph(JOINED.format(function=function), {})
    random = np.random.default_rng(SEED)
    values = {one.name: random.standard_normal(one.shape) * 0.3 for one in graph.parameters}
    rows = random.standard_normal((19, graph.features)).astype(dtype)
    found, counts = [], []
    monkeypatch.setattr(products, "WIDE", 16)
    for keep in (False, True):
        if keep:
            monkeypatch.setattr(build, "joined", list)
        plan = compile_plan(graph, 19, "cross entropy", dtype)
        plan.load(values)
        plan.feed(rows, np.arange(19) % 3)
        plan.step()
        layers = [plan.layer(name) for name in "CFHG"]
        found.append([np.array(plan.output), plan.gradient, *layers])
        counts.append(len(plan._calls.forward))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # Biases of three layers, and what a twin computes in place, from one source.
    in_place = function in ("sigmoid", "rlinear", "srlinear", "tanh")
    assert counts[1] - counts[0] == (0 if twins is None else 3 + 3 * in_place)


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: The examples without a kink, and the sizes that they leave open.
SMOOTH = {
    "digits29/digits29.nn": {},
    "iris/iris.nn": {"features": 4, "hidden_nodes": 10, "outputs": 3},
    "microsoftml/flowers.nn": {"features": 4, "hidden_nodes": 10, "outputs": 3},
}


@pytest.mark.costly
@pytest.mark.parametrize("name", SMOOTH)
def test_losses_of_smooth_examples_are_the_same_both_ways(name: str) -> None:
    graph = build_graph((EXAMPLES / name).read_text(encoding="utf-8"), SMOOTH[name])
    assert graph.output is not None
    random = np.random.default_rng(SEED)
    batches = [random.standard_normal((32, graph.features), dtype=np.float32) for _ in range(10)]
    labels = np.arange(32) % graph.output.size
    rule = UpdateRule("momentum", 0.01, 0.9)
    found = []
    for plan in both_plans(graph, 32, "cross entropy", "float32"):
        plan.initialise(SEED, 0.3)
        optimizer = bind_optimizer(plan, rule.kind)
        losses = []
        for step in range(200):
            plan.feed(batches[step % 10], labels)
            plan.step()
            optimizer.update(rule)
            losses.append(plan.loss)
        found.append(losses)
    assert found[0] == pytest.approx(found[1], abs=1e-6)
    assert found[0][-1] != found[0][0]


def test_sizes_that_make_no_sense_are_refused() -> None:
    ones = np.ones(64, np.float32)
    steps = (0, 0, 4, 1, 0, 0, 4, 1, 0, 0, 4)
    sound = (1, 1, 4, 4, 4, *steps, False, 0, 0, 4, ones, ones, None, ones.copy())
    twins.product(*sound)
    wrong_ones = ((0, 1 << 33), (2, 0), (3, 100), (4, 60), (5, -1), (7, 30), (8, 1 << 31))
    more = ((9, 1 << 40), (11, 30), (15, 30), (17, 3), (17, 11), (18, 1), (19, 3))
    for place, wrong in (*wrong_ones, *more):
        with pytest.raises((ValueError, OverflowError)):
            twins.product(*sound[:place], wrong, *sound[place + 1 :])
    large = (1 << 31) - 1
    with pytest.raises(ValueError, match="out of range"):
        twins.product(large, large, 4, 4, 4, large, large, *steps[2:], *sound[16:])
    with pytest.raises(ValueError, match="too short"):
        twins.product(*sound[:20], ones[:15], *sound[21:])
    with pytest.raises(ValueError, match="too short"):
        twins.product(*sound[:22], ones[:3], sound[23])
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.product(1)
    frozen = ones.copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        twins.product(*sound[:23], frozen)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NETWORKS)
def test_a_program_gives_a_row_the_same_bits_in_every_batch(
    name: str, dtype: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr(products, "twins", None)
    graph = build_graph(NETWORKS[name], {})
    program = NumpyDraft(Job(graph.with_criteria("squared error"), BATCH, dtype)).program()
    random = np.random.default_rng(SEED)
    rows = random.standard_normal((BATCH, graph.features)).astype(dtype)
    (source,) = graph.inputs
    assert graph.output is not None

    def outputs(count: int):
        program.feed(Batch({source.name: rows[:count]}))
        program.forward()
        return np.array(program.read(graph.output))

    for _ in range(2):  # Other weights reach every plan.
        program.load(
            {
                each.name: random.standard_normal(each.shape).astype(dtype)
                for each in graph.parameters
            }
        )
        whole = outputs(BATCH)
        for count in (1, 2, 3, 4, 5, 16, 17, 31, 32, 33, 63):
            np.testing.assert_array_equal(outputs(count), whole[:count])
    values = {each.name: program.store()[each.name] for each in graph.parameters}
    plan = build_plan(design_plan(graph, BATCH, None, dtype, training=False))
    plan.load(values)
    plan.feed(rows)
    plan.forward()
    np.testing.assert_array_equal(plan.output, whole)
