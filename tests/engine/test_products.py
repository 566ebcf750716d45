"""The compiled product against numpy's, and its promise: a column's bits depend on it alone."""

from __future__ import annotations

import numpy as np
import pytest

from netsharp_engine.numpy_backend import build_plan, design_plan
from netsharp_engine.numpy_backend.kernels import products
from netsharp_engine.numpy_backend.kernels.layout import Layout
from netsharp_engine.numpy_backend.kernels.products import of_columns, twins
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


def test_sizes_that_make_no_sense_are_refused() -> None:
    ones = np.ones(64, np.float32)
    sound = (1, 1, 4, 4, 4, 0, 0, 4, 1, 0, 0, 4, 4, ones, ones, None, ones.copy())
    twins.product(*sound)
    for place, wrong in ((2, 0), (3, 100), (4, 60), (5, -1), (7, 1 << 40), (11, 30), (12, 3)):
        with pytest.raises((ValueError, OverflowError)):
            twins.product(*sound[:place], wrong, *sound[place + 1 :])
    with pytest.raises(ValueError, match="too short"):
        twins.product(*sound[:13], ones[:15], *sound[14:])
    with pytest.raises(ValueError, match="too short"):
        twins.product(*sound[:15], ones[:3], sound[16])
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.product(1)
    frozen = ones.copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        twins.product(*sound[:16], frozen)


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
