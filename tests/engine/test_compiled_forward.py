"""The compiled forward pass beside numpy's plan: what both compute, and each row by itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.analysis import Analysis
from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import build_plan, design_plan, program
from netsharp_engine.numpy_backend.forward import Forward, forward_of, twins
from netsharp_engine.numpy_backend.forward.row import APPLY, MULTIPLY
from netsharp_engine.numpy_backend.kernels import compiled, products
from netsharp_engine.numpy_backend.program import NumpyDraft
from netsharp_engine.program import Batch, Job
from netsharp_engine.train.measure import BATCH
from netsharp_lsp.netsharp.lower import build_graph
from tests.conftest import SEED
from tests.engine import test_random_networks
from tests.engine.naive import Dimension
from tests.engine.networks import (
    GEOMETRIES,
    axes_of,
    convolution,
    dense,
    dimensions,
    filtered,
    filters,
)
from tests.engine.test_samples_alike import NETWORKS

DTYPES = ("float32", "float64")
ROWS = 50
COUNTS = (1, 2, 3, 11, 12, 13, 24, 49)
NORM = {"alpha": 0.4, "beta": 0.75, "offset": 1.0, "over_full_kernel": False}


def forward_and_plan(graph: Graph, dtype: str) -> tuple[Forward, Any]:
    """The compiled pass and numpy's plan of a graph, with the same random weights."""
    found = forward_of(Analysis(graph), dtype)
    assert found is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "twins", None)
        patch.setattr(products, "twins", None)
        plan = build_plan(design_plan(graph, BATCH, None, dtype, training=False))
    random = np.random.default_rng(SEED)
    values = {one.name: random.uniform(-0.5, 0.5, one.shape) for one in graph.parameters}
    found.load(values)
    plan.load(values)
    return found, plan


def computed(forward: Forward, rows: np.ndarray) -> np.ndarray:
    """What the compiled pass makes of rows."""
    out = np.full((len(rows), forward.outputs), np.nan, forward.dtype)
    assert forward.compute(np.ascontiguousarray(rows), None, out, False)
    return out


def expected(plan: Any, rows: np.ndarray) -> np.ndarray:
    """What numpy makes of them."""
    plan.feed(rows)
    plan.forward()
    return np.array(plan.output)


def agree(graph: Graph, dtype: str) -> None:
    """Both compute the same except for rounding, and the compiled pass each row by itself."""
    forward, plan = forward_and_plan(graph, dtype)
    rows = np.random.default_rng(SEED).uniform(-1, 1, (ROWS, graph.features)).astype(dtype)
    found, wanted = computed(forward, rows), expected(plan, rows)
    bound = 200 * np.finfo(dtype).eps
    np.testing.assert_allclose(found, wanted, rtol=bound, atol=bound * np.abs(wanted).max())
    for count in COUNTS:
        np.testing.assert_array_equal(computed(forward, rows[1 : 1 + count]), found[1 : 1 + count])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_all_bundles(name: str, dtype: str) -> None:
    agree(build_graph(NETWORKS[name], {}), dtype)


@pytest.mark.costly
@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.data(), st.sampled_from(DTYPES))
def test_random_networks_compute_the_same(data: Any, dtype: str) -> None:
    growth = test_random_networks.Growth(data.draw)
    for _ in range(data.draw(st.integers(2, 9))):
        growth.grow()
    growth.graph.set_output(growth.nodes[-1])
    agree(growth.graph, dtype)


def after(graph: Graph, source: Any, kind: str, found: Any) -> Any:
    """A walk over a source that may lie in another order than its canonical one."""
    if kind == "convolve":
        return convolution(graph, source, found)
    words = NORM if kind == "response norm" else {}
    return graph.apply(kind, source, axes=axes_of(found), **words)


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["convolve", "max pool", "mean pool", "response norm"])
@GEOMETRIES
@given(data=st.data())
def test_walks_over_what_walks_made(kind: str, data: Any) -> None:
    """Padded and not, over an input and over maps, whose numbers lie together."""
    found = data.draw(dimensions(sharing=kind == "convolve"))
    graph = Graph()
    source: Any = graph.input("X", tuple(d.size for d in found))
    if data.draw(st.booleans()):
        source = dense(graph, source, source.size)
    if data.draw(st.booleans()):
        # A number of its own for each node, one beside the other in memory.
        maps = data.draw(st.permutations([*(1 for _ in found[1:]), source.size]))
        ones = [Dimension(1, 1, 1, False, 0, 0, True, count) for count in maps]
        whole = [Dimension(source.size, source.size, 1, False, 0, 0)]
        single = graph.apply("mean pool", source, axes=axes_of(whole))
        source = convolution(graph, single, ones, "M")
    graph.set_output(after(graph, source, kind, found))
    agree(graph, "float32")


@pytest.mark.costly
@GEOMETRIES
@given(filters())
def test_filters(drawn: Any) -> None:
    source, destination, pairs = drawn
    graph = Graph()
    made = filtered(graph, graph.input("X", tuple(source)), tuple(destination), pairs)
    biases = graph.parameter("b", (made.size,), kind="biases")
    graph.set_output(graph.apply("bias", made, parameters=(biases,)))
    agree(graph, "float64")


def test_long_and_wide_products() -> None:
    """More terms than are summed up at once, and more columns than a strip has."""
    for nodes, features in ((1, 3000), (150, 1025), (65, 2048), (16, 1)):
        graph = Graph()
        graph.set_output(dense(graph, graph.input("X", (features,)), nodes, "linear"))
        agree(graph, "float32")


@pytest.mark.parametrize("kind", ["max pool", "mean pool"])
@pytest.mark.parametrize("padding", [False, True])
def test_what_is_not_finite_or_tiny_goes_the_same_way(kind: str, padding: bool) -> None:
    graph = Graph()
    source = graph.input("X", (9,))
    walk = [Dimension(9, 3, 1, padding, 0, 0)]
    graph.set_output(graph.apply(kind, source, axes=axes_of(walk)))
    forward, plan = forward_and_plan(graph, "float32")
    rows = np.zeros((6, 9), np.float32)
    rows[0, 2], rows[1, 3], rows[2, 4], rows[3] = np.nan, np.inf, -np.inf, -0.0
    rows[4, 1] = 6 * np.finfo(np.float32).smallest_subnormal
    rows[5] = -np.inf
    np.testing.assert_array_equal(computed(forward, rows), expected(plan, rows))
    assert computed(forward, rows)[4].any()


def test_numbers_of_a_product_that_are_not_finite_or_tiny() -> None:
    graph = Graph()
    weights = graph.parameter("W", (20, 3))
    graph.set_output(graph.apply("full", graph.input("X", (3,)), parameters=(weights,)))
    forward, plan = forward_and_plan(graph, "float32")
    tiny = np.finfo(np.float32).smallest_subnormal
    for target in (forward, plan):
        target.load({"W": np.ones((20, 3))})
    rows = np.array(
        [[np.nan, 1, 2], [np.inf, 1, 2], [np.inf, -np.inf, 0], [-0.0, -0.0, -0.0], [tiny, 0, tiny]],
        np.float32,
    )
    np.testing.assert_array_equal(computed(forward, rows), expected(plan, rows))
    assert (computed(forward, rows)[4] == 2 * tiny).all()


@pytest.mark.parametrize("given_as", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_features_are_normalised_on_their_way(dtype: str, given_as: str) -> None:
    graph = Graph()
    graph.set_output(dense(graph, graph.input("X", (37,)), 5))
    forward, _ = forward_and_plan(graph, dtype)
    random = np.random.default_rng(SEED)
    rows = (3 * random.standard_normal((ROWS, 37))).astype(given_as)
    low, high = np.full(37, -2.0), random.uniform(0, 2, 37)
    offset, scale = random.standard_normal((2, 37))
    normal = np.array([low, high, offset, scale], dtype)
    wanted = rows.astype(dtype)
    np.clip(wanted, normal[0], normal[1], out=wanted)
    wanted = (wanted - normal[2]) * normal[3]
    out = np.empty((ROWS, 5), dtype)
    assert forward.compute(rows, normal, out, True)
    np.testing.assert_array_equal(out, computed(forward, wanted))


def test_what_is_no_matrix_of_finite_features_is_left_to_others() -> None:
    graph = Graph()
    graph.set_output(dense(graph, graph.input("X", (4,)), 2))
    forward, _ = forward_and_plan(graph, "float32")
    out = np.empty((3, 2), np.float32)
    good = np.ones((3, 4), np.float32)
    assert forward.compute(good, None, out, True)
    infinite = (np.nan, np.inf, -np.inf)
    wrong: list[Any] = [
        good[0],
        good[:, :3],
        np.ones((3, 8), np.float32)[:, ::2],
        good.astype(np.int32),
        good.T,
        good.astype(np.float16),
        [[1.0] * 4] * 3,
        None,
        good.astype(">f4"),
    ]
    wrong += [np.where(np.eye(3, 4, 1) > 0, np.float32(value), good) for value in infinite]
    wrong.append(np.full((3, 4), 1e300))
    for each in wrong:
        assert not forward.compute(each, None, out, True)
    assert forward.compute(wrong[-1], None, out, False)
    with pytest.raises(ValueError, match="too short"):
        forward.compute(good, None, out[:2], True)
    with pytest.raises(ValueError, match="too short"):
        forward.compute(good, np.ones((3, 4), np.float32), out, True)


def test_steps_that_make_no_sense_are_refused() -> None:
    graph = build_graph(NETWORKS["convolution"], {})
    forward, _ = forward_and_plan(graph, "float32")
    row = forward._row
    steps, table = row.arrays()
    numbers = np.ones(row.numbers, np.float32)
    sizes = (4, row.size, row.features, row.output, row.outputs)
    assert twins.forward_made(*sizes, steps, table, numbers) is not None
    for place, wrong in ((0, 3), (1, row.features), (2, 0), (3, row.size), (4, 0), (1, -1)):
        changed = [*sizes[:place], wrong, *sizes[place + 1 :]]
        with pytest.raises(ValueError, match="out of range"):
            twins.forward_made(*changed, steps, table, numbers)
    kinds = steps[:, 0].tolist()
    multiply, apply = kinds.index(MULTIPLY), kinds.index(APPLY)
    for number, words in ((multiply, (0, *range(2, 12))), (apply, range(5))):
        for word in words:
            changed = steps.copy()
            changed[number, word] = 1 << 40
            with pytest.raises(ValueError, match="out of range"):
                twins.forward_made(*sizes, changed, table, numbers)
    with pytest.raises(ValueError, match="out of range"):
        twins.forward_made(*sizes, steps, table, numbers[: row.numbers // 2])
    with pytest.raises(ValueError, match="out of range"):
        twins.forward_made(*sizes, steps, table[: len(table) // 2], numbers)
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.forward_made(4)
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.forward_computed(1)
    with pytest.raises(ValueError, match="PyCapsule"):
        twins.forward_computed(object(), None, None, None, True)


def test_several_threads_compute_at_once() -> None:
    graph = build_graph(NETWORKS["convolution"], {})
    forward, _ = forward_and_plan(graph, "float32")
    random = np.random.default_rng(SEED)
    rows = random.standard_normal((8, 200, graph.features)).astype(np.float32)
    alone = [computed(forward, each) for each in rows]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for ours, theirs in zip(
                pool.map(lambda each: computed(forward, each), rows), alone, strict=True
            ):
                np.testing.assert_array_equal(ours, theirs)


def test_what_the_steps_do_not_know_is_left_to_the_plan() -> None:
    graph = Graph()
    source = graph.input("X", (4,))
    axes = axes_of([Dimension(4, 3, 1, True, 0, 0)])
    graph.set_output(graph.apply("response norm", source, axes=axes, **NORM | {"beta": 0.6}))
    assert forward_of(Analysis(graph), "float32") is None
    made = NumpyDraft(Job(graph.with_criteria(), BATCH)).program()
    assert made.direct is None
    made.feed(Batch({"X": np.ones((1, 4), np.float32)}))
    made.forward()
    assert np.isfinite(made.read(graph.output)).all()


def test_without_room_the_plan_computes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = build_graph("input A [2]; output B [1] linear from A all;", {})
    assert NumpyDraft(Job(graph.with_criteria(), BATCH)).program().direct is not None
    monkeypatch.setattr("netsharp_engine.room.SMALL", -1)
    monkeypatch.setattr("netsharp_engine.room.free_memory", lambda: 0)
    assert NumpyDraft(Job(graph.with_criteria(), BATCH)).program().direct is None


def test_a_program_that_trains_has_no_direct_way() -> None:
    graph = build_graph("input A [2]; output B [1] linear from A all;", {})
    draft = NumpyDraft(Job(graph.with_criteria("squared error"), BATCH))
    whole = draft.program()
    assert draft.program(beside=whole).direct is None


def test_the_estimate_of_memory_is_what_is_taken() -> None:
    graph = build_graph(NETWORKS["wide"], {})
    forward, _ = forward_and_plan(graph, "float32")
    row = forward._row
    arrays = sum(array.nbytes for array in row.arrays()) + 4 * row.numbers
    assert arrays + 4 * 12 * row.size <= forward.needs
    assert program.forward_of is forward_of
