"""Forward of every operation against naive loops written from the guide's words."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netsharp_engine.activations import ACTIVATIONS, NAMES
from netsharp_engine.geometry import Axis, output_shape
from netsharp_engine.graph import Graph
from tests.engine import naive
from tests.engine.naive import Dimension
from tests.engine.networks import (
    GEOMETRIES,
    axes_of,
    convolution,
    dimensions,
    filtered,
    filters,
    forward,
    plan_of,
    randomise,
)

SEEDS = st.integers(0, 2**31)


def agree(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def run(graph, output, seed, batch=2):
    """Random weights and samples; returns weights by name, samples and the output."""
    random = np.random.default_rng(seed)
    plan = plan_of(graph, output, batch, None)
    values = randomise(plan, random)
    x = random.uniform(-1, 1, (batch, graph.features))
    return values, x, forward(plan, x)


@GEOMETRIES
@given(dimensions(sharing=True), SEEDS)
def test_convolution(found, seed):
    graph = Graph()
    source = graph.input("X", tuple(d.size for d in found))
    values, x, ours = run(graph, convolution(graph, source, found), seed)
    agree(ours, [naive.convolve(sample, found, values["C/weights"]) for sample in x])


@pytest.mark.parametrize("kind", ["max", "mean"])
@GEOMETRIES
@given(found=dimensions(), seed=SEEDS)
def test_pool(kind, found, seed):
    graph = Graph()
    source = graph.input("X", tuple(d.size for d in found))
    made = graph.apply(f"{kind} pool", source, axes=axes_of(found))
    _, x, ours = run(graph, made, seed)
    agree(ours, [naive.pool(sample, found, kind) for sample in x])


@GEOMETRIES
@given(dimensions(), SEEDS, st.sampled_from((0.5, 0.75, 0.6)), st.booleans())
def test_response_norm(found, seed, beta, over_full_kernel):
    graph = Graph()
    source = graph.input("X", tuple(d.size for d in found))
    figures = {"alpha": 0.7, "beta": beta, "offset": 1.3, "over_full_kernel": over_full_kernel}
    made = graph.apply("response norm", source, axes=axes_of(found), **figures)
    _, x, ours = run(graph, made, seed)
    agree(ours, [naive.response_norm(sample, found, **figures) for sample in x])


@GEOMETRIES
@given(filters(), SEEDS)
def test_filtered(case, seed):
    source, destination, edges = case
    graph = Graph()
    made = filtered(graph, graph.input("X", source), destination, edges)
    values, x, ours = run(graph, made, seed)
    nodes = math.prod(destination)
    agree(ours, [naive.filtered(sample, edges, values["W"], nodes) for sample in x])


@GEOMETRIES
@given(st.integers(1, 9), st.integers(1, 9), SEEDS)
def test_full(sources, destinations, seed):
    graph = Graph()
    weights = graph.parameter("W", (destinations, sources))
    made = graph.apply("full", graph.input("X", (sources,)), parameters=(weights,))
    values, x, ours = run(graph, made, seed)
    agree(ours, [naive.full(sample, values["W"]) for sample in x])


#: The functions that the guide lists, each known to the naive loops.
GUIDE = ("sigmoid", "linear", "softmax", "rlinear", "square", "sqrt", "srlinear", "abs", "tanh")
GUIDE += ("brlinear",)


def test_the_table_has_the_guides_functions():
    assert set(GUIDE) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_activation_and_its_range(name):
    graph = Graph()
    made = graph.apply("activation", graph.input("X", (9,)), function=name)
    plan = plan_of(graph, made, 1, None)
    x = np.array([[-30.0, -2.5, -1.0, -0.3, 0.0, 0.2, 0.9, 1.5, 12.0]])
    ours = forward(plan, x)
    if name in GUIDE:
        agree(ours[0], naive.activation(name, x[0].tolist()))
    low, high = ACTIVATIONS[name].range
    assert ours.min() >= low
    assert ours.max() <= high


@pytest.mark.parametrize("name", ["sigmoid", "softmax", "srlinear", "tanh"])
def test_activation_of_huge_values_is_finite(name):
    graph = Graph()
    made = graph.apply("activation", graph.input("X", (3,)), function=name)
    ours = forward(plan_of(graph, made, 1, None, "float32"), np.float32([[-1e4, 0, 1e4]]))
    assert np.isfinite(ours).all()


def test_ties_of_a_maximum_go_to_the_first_cell():
    graph = Graph()
    shift = graph.parameter("shift", (4,), kind="biases")
    source = graph.apply("bias", graph.input("X", (4,)), parameters=(shift,))
    made = graph.apply("max pool", source, axes=(Axis(4, 3, 1, padding=True),))
    plan = plan_of(graph, made, 1)
    plan.feed(np.array([[2.0, 2.0, 2.0, 1.0]]), np.array([[1.5, 1.5, 1.5, 1.5]]))
    plan.step()
    # windows {0,1} {0,1,2} {1,2,3} {2,3}: first maxima 0, 0, 1, 2, gradient 2 (y - t) = 1 each
    assert plan.gradient.tolist() == [2.0, 1.0, 1.0, 0.0]


class TestNumbersOfTheGuide:
    def test_upper_pad_of_the_digits(self):
        assert Axis(28, 5, 2, upper=1).count == 13
        assert Axis(28, 5, 2, padding=True).count == 14
        assert Axis(29, 5, 2).count == 13

    def test_pool_p1(self):
        axes = (Axis(5, 1), Axis(24, 2, 2), Axis(24, 2, 2))
        assert output_shape(axes) == (5, 12, 12)

    @pytest.mark.parametrize(("padding", "extent"), [(False, 10), (True, 12)])
    def test_response_norm_rn1(self, padding, extent):
        axes = (Axis(5, 1), *(Axis(12, 3, 1, padding=padding) for _ in range(2)))
        graph = Graph()
        source = graph.input("P1", (5, 12, 12))
        made = graph.apply(
            "response norm",
            source,
            axes=axes,
            alpha=0.001,
            beta=0.75,
            offset=1,
            over_full_kernel=False,
        )
        assert made.shape == (5, extent, extent)

    def test_map_count_groups_maps_in_blocks(self):
        """MapCount [2, 1] on 3 positions: nodes 0..2 are the first map, 3..5 the second."""
        graph = Graph()
        kernels = graph.parameter("W", (2, 2), [1, 10, 2, 20], "kernels")
        made = graph.apply(
            "convolve",
            graph.input("X", (3, 1)),
            parameters=(kernels,),
            axes=(Axis(3, 1), Axis(1, 1)),
            sharing=(True, True),
            maps=(2, 1),
        )
        plan = plan_of(graph, made, 1, None)
        plan.initialise(1, 0.1)
        assert forward(plan, np.array([[1.0, 2.0, 3.0]])).tolist() == [[11, 12, 13, 22, 24, 26]]

    def test_map_count_tuple_in_the_second_dimension(self):
        """MapCount [1, 2]: inside each row the maps follow each other, positions inside."""
        found = [Dimension(2, 1, 1, False, 0, 0), Dimension(2, 1, 1, False, 0, 0, True, 2)]
        kernels = [[1, 0], [100, 0]]
        expected = [1, 2, 100, 200, 3, 4, 300, 400]
        assert naive.convolve([1, 2, 3, 4], found, kernels) == expected
        graph = Graph()
        made = convolution(graph, graph.input("X", (2, 2)), found)
        plan = plan_of(graph, made, 1, None)
        plan.load({"C/weights": kernels})
        assert forward(plan, np.array([[1.0, 2, 3, 4]])).tolist() == [expected]

    def test_even_kernel_without_padding_leaves_the_lower_cell(self):
        """I 7, K 2, S 2 never reads cell 0."""
        assert [list(Axis(7, 2, 2).cells(p)) for p in range(3)] == [[1, 2], [3, 4], [5, 6]]
        assert Axis(7, 2, 2).unread() == (1, 0)

    @pytest.mark.parametrize(("sharing", "kernels"), [((False, True, True), 50), ((True,) * 3, 10)])
    def test_digit_network_has_26_weights_per_kernel(self, sharing, kernels):
        found = [Dimension(5, 1, 1, False, 0, 0, sharing[0], 10)]
        found += [Dimension(13, 5, 2, False, 0, 0, shared) for shared in sharing[1:]]
        graph = Graph()
        made = convolution(graph, graph.input("Conv1", (5, 13, 13)), found)
        assert made.shape == (50, 5, 5)
        assert graph.parameters[0].shape == (kernels, 26)
