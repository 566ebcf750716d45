"""The compiled product against numpy's, and its promise: a column's bits depend on it alone."""

from __future__ import annotations

import numpy as np
import pytest

from netsharp_engine.activations import NAMES as ACTIVATIONS
from netsharp_engine.numpy_backend import build_plan, design_plan
from netsharp_engine.numpy_backend.design import Design
from netsharp_engine.numpy_backend.kernels import products
from netsharp_engine.numpy_backend.kernels.layout import Layout
from netsharp_engine.numpy_backend.kernels.products import of_columns, row_counts, twins
from netsharp_engine.numpy_backend.kernels.site import Site, Tensor
from netsharp_engine.numpy_backend.program import NumpyDraft
from netsharp_engine.program import Batch, Job
from netsharp_engine.train.measure import BATCH
from netsharp_lsp.netsharp.lower import build_graph
from tests.conftest import SEED
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


def site_of(dtype: str, samples: int, *, fixed: bool) -> Site:
    """A site that is asked for its type, its samples and scratch memory alone."""
    tensor = Tensor(np.empty((1, samples), dtype), None, Layout((1,)))
    return Site({}, (), tensor, (), np.dtype(dtype), samples, fixed)


def computed(site: Site, left, right, biases):
    """What the calls of a product leave behind."""
    out = np.full((*right.shape[:-2], left.shape[-2], right.shape[-1]), np.nan, left.dtype)
    product = of_columns(site, left, right, out, biases)
    for call in (*product.loaded, *product.forward):
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
    for fixed in (False, True):
        samples = shape[4] if fixed else BATCH
        for seen in (right, turned(right)):
            found = computed(site_of(dtype, samples, fixed=fixed), left, seen, biases)
            assert (np.abs(found - expected) <= bound).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_columns_get_their_bits_whatever_is_beside_them(shape, dtype) -> None:
    left, right, biases = arrays(shape, dtype)
    whole = computed(site_of(dtype, BATCH, fixed=False), left, right, biases)
    columns = shape[4]
    for count in {1, 2, 3, 5, 15, 16, 17, columns - 1, columns} & set(range(1, columns + 1)):
        for place in {0, (columns - count) // 2, columns - count}:
            part = right[..., place : place + count]
            for fixed in (False, True):
                site = site_of(dtype, BATCH, fixed=fixed)
                found = computed(site, left, part, biases)
                np.testing.assert_array_equal(found, whole[..., place : place + count])
                found = computed(site, left, turned(part), biases)
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
    for fixed, count in ((False, 37), (True, 4), (True, 37)):
        for start in range(0, 37, count):
            part = right[..., start : start + count]
            found = computed(site_of(dtype, BATCH, fixed=fixed), left, part, biases)
            wanted = expected[..., start : start + count]
            np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
            np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))
    whole = computed(site_of(dtype, BATCH, fixed=False), left, right, biases)
    assert whole[0, 0, 3, 8] == tiny
    assert whole[0, 0, 2, 7] == 0


def test_sizes_that_make_no_sense_are_refused() -> None:
    ones = np.ones(64, np.float32)
    sound = (1, 1, 4, 4, 4, 0, 0, 4, 1, 0, 0, 4, 4, False, ones, ones, None, ones.copy())
    twins.product(*sound)
    for place, wrong in ((2, 0), (3, 100), (4, 60), (5, -1), (7, 1 << 40), (11, 30), (12, 3)):
        with pytest.raises((ValueError, OverflowError)):
            twins.product(*sound[:place], wrong, *sound[place + 1 :])
    with pytest.raises(ValueError, match="too short"):
        twins.product(*sound[:13], True, ones[:63], *sound[15:])
    with pytest.raises(ValueError, match="too short"):
        twins.product(*sound[:16], ones[:3], sound[17])
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.product(1)
    frozen = ones.copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        twins.product(*sound[:17], frozen)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NETWORKS)
def test_a_program_gives_a_row_the_same_bits_in_every_batch(
    name: str, dtype: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr(products, "twins", None)
    graph = build_graph(NETWORKS[name], {})
    program = NumpyDraft(Job(graph.judged("squared error"), BATCH, dtype)).program()
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


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", ACTIVATIONS)
def test_no_function_sees_how_many_rows_there_are(function: str, dtype: str) -> None:
    """numpy sums a single column of a softmax in another order than several."""
    text = f"""
        input A [12, 12];
        hidden P [6, 6] from A mean pool {{
          InputShape = [12, 12]; KernelShape = [2, 2]; Stride = [2, 2];
        }}
        hidden N [6, 6] from P response norm {{
          InputShape = [6, 6]; KernelShape = [3, 3]; Padding = true; Alpha = 0.1; Beta = 0.75;
        }}
        hidden H [100] {function} from N all;
        output B [37] {function} from H all;"""
    graph = build_graph(text, {})
    program = NumpyDraft(Job(graph.judged(), BATCH, dtype)).program()
    random = np.random.default_rng(SEED)
    program.load({each.name: random.standard_normal(each.shape) for each in graph.parameters})
    rows = random.standard_normal((BATCH, graph.features)).astype(dtype)
    assert graph.output is not None
    found = []
    for count in (BATCH, 1, 2, 3, 4, 15, 33):
        program.feed(Batch({"A": rows[:count]}))
        program.forward()
        found.append(np.array(program.read(graph.output)))
    for part in found[1:]:
        np.testing.assert_array_equal(part, found[0][: len(part)])


def test_a_row_is_computed_by_a_plan_of_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    made = Design.__init__

    def noted(self, analysis, batch, *rest, **named):
        sizes.append(batch)
        made(self, analysis, batch, *rest, **named)

    monkeypatch.setattr(Design, "__init__", noted)
    graph = build_graph(NETWORKS["full"], {})
    program = NumpyDraft(Job(graph.judged(), BATCH)).program()
    program.load({each.name: np.ones(each.shape) for each in graph.parameters})
    for count in (1, 1, 3, 64, 2):
        program.feed(Batch({"A": np.ones((count, 144), np.float32)}))
        program.forward()
    assert sizes == [64, 2, 4, 64]
    assert row_counts(BATCH)[-1] == BATCH


def test_without_room_for_more_plans_the_largest_computes_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = build_graph("input A [2]; output B [1] linear from A all;", {})
    program = NumpyDraft(Job(graph.judged(), BATCH)).program()
    program.load({each.name: np.ones(each.shape) for each in graph.parameters})
    monkeypatch.setattr("netsharp_engine.room.SMALL", -1)
    monkeypatch.setattr("netsharp_engine.room.free_memory", lambda: 0)
    program.feed(Batch({"A": np.full((1, 2), 3, np.float32)}))
    program.forward()
    assert graph.output is not None
    assert program.read(graph.output).tolist() == [[7.0]]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("rows", [1, 2, 4, 16])
def test_the_estimate_counts_panels(name: str, rows: int) -> None:
    from tests.engine.test_room import NODE_BYTES, taken

    graph = build_graph(NETWORKS[name], {})
    analysis = design_plan(graph, rows, None, "float32", training=False).facts
    design = Design(analysis, rows, "float32", fixed=True)
    real = taken(design)
    assert real <= design.needs().total() <= 1.2 * real + 2 * NODE_BYTES * len(design.nodes)
