"""The registry: every operation has a kernel, and costs are counted, not estimated."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from netsharp_engine.activations import ACTIVATIONS, NAMES
from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend.kernels import KERNELS
from netsharp_engine.numpy_backend.kernels.activations import FUNCTIONS
from netsharp_engine.numpy_backend.losses import COUNTS, LOSSES
from netsharp_engine.ops import OPERATIONS
from netsharp_engine.tensor_backend.kernels.table import COMPUTED
from tests.engine.naive import neighbourhood, positions
from tests.engine.networks import GEOMETRIES, axes_of, convolution, dimensions


def test_every_operation_has_a_kernel_and_no_kernel_is_without():
    tables = [*KERNELS, *LOSSES, *COUNTS, *COMPUTED]
    assert set(tables) == set(OPERATIONS)
    assert {name for name in tables if tables.count(name) > 1} == {"Dropout"}


def test_the_ten_activations_of_the_guide():
    assert NAMES == (
        "sigmoid",
        "linear",
        "softmax",
        "rlinear",
        "square",
        "sqrt",
        "srlinear",
        "abs",
        "tanh",
        "brlinear",
    )
    assert set(FUNCTIONS) == set(NAMES)
    for row in ACTIVATIONS.values():
        assert FUNCTIONS[row.name].keeps in ("input", "output")
        assert row.range[0] < row.range[1]
        assert row.formula


def cost(node):
    return OPERATIONS[node.op].cost(node)


@GEOMETRIES
@given(dimensions(sharing=True))
def test_cost_of_a_convolution_counts_real_taps(found):
    graph = Graph()
    source = graph.input("X", tuple(d.size for d in found))
    taps = sum(len(neighbourhood(found, position)) for position in positions(found))
    made = convolution(graph, source, found)
    assert cost(made).connections == taps * math.prod(d.maps for d in found)
    pooled = graph.apply("max pool", source, axes=axes_of(found))
    assert cost(pooled).connections == taps


def test_cost_of_the_digit_network():
    """Conv1 5 kernels on 13x13 places, Conv2 50 maps on 5x5, each of 25 taps; then full."""
    graph = Graph()
    image = graph.input("Image", (29, 29))
    kernels = graph.parameter("C1", (5, 26), kind="kernels")
    square = (Axis(29, 5, 2), Axis(29, 5, 2))
    first = graph.apply(
        "convolve", image, parameters=(kernels,), axes=square, sharing=(True,) * 2, maps=(5, 1)
    )
    assert cost(first).multiply_adds == 5 * 13 * 13 * 25
    kernels = graph.parameter("C2", (50, 26), kind="kernels")
    cube = (Axis(5, 1), Axis(13, 5, 2), Axis(13, 5, 2))
    second = graph.apply(
        "convolve",
        first,
        parameters=(kernels,),
        axes=cube,
        sharing=(False, True, True),
        maps=(10, 1, 1),
    )
    assert second.shape == (50, 5, 5)
    assert cost(second).multiply_adds == 50 * 5 * 5 * 25
    weights = graph.parameter("Hid3", (100, 1250))
    hidden = graph.apply("full", second, parameters=(weights,))
    assert cost(hidden).connections == 125_000


@pytest.mark.parametrize("op", ["mean pool", "response norm"])
def test_window_operations_without_weights_take_no_parameter(op):
    graph = Graph()
    norm = {"alpha": 1.0, "beta": 0.5, "offset": 1.0, "over_full_kernel": False}
    made = graph.apply(
        op, graph.input("X", (6,)), axes=(Axis(6, 2, 2),), **(norm if op != "mean pool" else {})
    )
    assert made.shape == (3,)
    assert cost(made).connections == 6
    assert graph.parameters == []
