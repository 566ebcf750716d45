"""Every gradient of the engine against finite differences in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netsharp_engine.activations import NAMES
from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend.kernels import products
from tests.engine import naive
from tests.engine.naive import Dimension
from tests.engine.networks import (
    GEOMETRIES,
    axes_of,
    convolution,
    dense,
    dimensions,
    filtered,
    filters,
    gradient_error,
    plan_of,
    randomise,
    shifted,
    spaced,
)

TOLERANCE = 1e-6
SEEDS = st.integers(0, 2**31)
BATCH = 2


def prepare(graph, output, seed, x=None, batch=BATCH, **options):
    """A plan with random weights, fed with random samples and targets."""
    random = np.random.default_rng(seed)
    plan = plan_of(graph, output, batch, **options)
    randomise(plan, random)
    if x is None:
        x = random.uniform(-1, 1, (batch, graph.features))
    plan.feed(x, random.uniform(-1, 1, (len(x), output.size)))
    return plan


@pytest.mark.costly
@pytest.mark.parametrize(
    ("twins", "block", "tall"),
    [(products.twins, 1, 1), (None, 1 << 16, 32), (None, 1, 1), (None, 100, 2)],
    ids=["compiled", "numpy", "one by one", "in blocks"],
)
def test_convolution(twins, block, tall, monkeypatch):
    """Whole, and as large layers are computed: some positions at a time, products on the side."""
    monkeypatch.setattr(products, "twins", twins)
    monkeypatch.setattr(products, "WIDE", 16)
    monkeypatch.setattr("netsharp_engine.numpy_backend.kernels.convolution.BLOCK", block)
    monkeypatch.setattr("netsharp_engine.numpy_backend.kernels.convolution.TALL", tall)

    @GEOMETRIES
    @given(dimensions(sharing=True), SEEDS)
    def check(found, seed):
        graph = Graph()
        source = shifted(graph, int(np.prod([d.size for d in found])))
        plan = prepare(graph, convolution(graph, source, found), seed)
        assert gradient_error(plan) <= TOLERANCE

    check()


@pytest.mark.costly
@GEOMETRIES
@given(dimensions(ranks=(2, 3), sharing=True), SEEDS)
def test_convolution_whose_output_keeps_its_own_order(found, seed):
    graph = Graph()
    source = shifted(graph, int(np.prod([d.size for d in found])))
    hidden = graph.apply("activation", convolution(graph, source, found), function="tanh")
    plan = prepare(graph, dense(graph, hidden, 2), seed)
    assert gradient_error(plan) <= TOLERANCE


@GEOMETRIES
@given(dimensions(), SEEDS)
def test_max_pool(found, seed):
    check_pool("max pool", found, seed)


@GEOMETRIES
@given(dimensions(), SEEDS)
def test_mean_pool(found, seed):
    check_pool("mean pool", found, seed)


def check_pool(kind, found, seed):
    graph = Graph()
    nodes = int(np.prod([d.size for d in found]))
    pooled = graph.apply(kind, shifted(graph, nodes), axes=axes_of(found))
    x = spaced(np.random.default_rng(seed), BATCH, nodes)
    plan = prepare(graph, pooled, seed, x)
    plan.load({"shift": np.zeros(nodes)})
    assert gradient_error(plan, 1e-3) <= TOLERANCE


@pytest.mark.costly
@GEOMETRIES
@given(
    dimensions(),
    SEEDS,
    st.floats(0.05, 1.0),
    st.sampled_from((0.5, 0.75, 0.3, 1.0)),
    st.floats(0.5, 2.0),
    st.booleans(),
)
def test_response_norm(found, seed, alpha, beta, offset, over_full_kernel):
    graph = Graph()
    source = shifted(graph, int(np.prod([d.size for d in found])))
    normed = graph.apply(
        "response norm",
        source,
        axes=axes_of(found),
        alpha=alpha,
        beta=beta,
        offset=offset,
        over_full_kernel=over_full_kernel,
    )
    assert gradient_error(prepare(graph, normed, seed)) <= TOLERANCE


@pytest.mark.costly
@GEOMETRIES
@given(st.integers(1, 9), st.integers(1, 9), SEEDS)
def test_full(sources, destinations, seed):
    graph = Graph()
    weights = graph.parameter("W", (destinations, sources))
    made = graph.apply("full", shifted(graph, sources), parameters=(weights,))
    assert gradient_error(prepare(graph, made, seed)) <= TOLERANCE


@pytest.mark.costly
@pytest.mark.parametrize("form", ["matrix", "edges"])
def test_filtered(form, monkeypatch):
    if form == "edges":
        monkeypatch.setattr("netsharp_engine.numpy_backend.kernels.filtered.DENSE_CELLS", 0)
        monkeypatch.setattr("netsharp_engine.numpy_backend.kernels.filtered.DENSE_SHARE", 2.0)

    @GEOMETRIES
    @given(filters(), SEEDS)
    def check(case, seed):
        source, destination, edges = case
        graph = Graph()
        start = shifted(graph, int(np.prod(source)))
        made = filtered(graph, start, destination, edges)
        assert gradient_error(prepare(graph, made, seed)) <= TOLERANCE

    check()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", ["hidden", "output"])
def test_activation(name, place):
    graph = Graph()
    source = shifted(graph, 7)
    made = graph.apply("activation", source, function=name, name="A")
    if place == "hidden":
        made = dense(graph, made, 3, "linear")
    x = np.array([[-1.7, -0.6, -0.2, 0.15, 0.4, 0.85, 1.6], [2.1, 0.7, 0.3, -0.3, -1.1, 0.5, 1.4]])
    plan = prepare(graph, made, 5, x)
    values = plan.store()
    plan.load(values | {"shift": np.zeros(7)})
    assert gradient_error(plan) <= TOLERANCE


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loss", ["softmax", "logistic", "squared"])
def test_every_loss_on_every_activation(name, loss):
    """With biases that keep every output inside (0, 1), where the entropies are defined."""
    graph = Graph()
    made = dense(graph, graph.input("X", (4,)), 3, name)
    random = np.random.default_rng(3)
    plan = plan_of(graph, made, 4, loss)
    randomise(plan, random, 0.1)
    values = plan.store()
    low = -0.6 if name == "srlinear" else 0.3
    values["H/biases"] = random.uniform(low, low + 0.3, 3)
    plan.load(values)
    targets = random.uniform(0.1, 0.9, (4, 3))
    plan.feed(random.uniform(-1, 1, (4, 4)), targets / targets.sum(1, keepdims=True))
    assert gradient_error(plan) <= TOLERANCE


def test_softmax_targets_need_not_sum_to_one():
    graph = Graph()
    made = dense(graph, graph.input("X", (4,)), 3, "softmax")
    plan = prepare(graph, made, 8, loss="softmax")
    random = np.random.default_rng(8)
    plan.feed(random.uniform(-1, 1, (2, 4)), random.uniform(0, 2, (2, 3)), np.array([1.0, 3.0]))
    assert gradient_error(plan) <= TOLERANCE


def test_several_bundles_several_inputs_and_every_shared_form():
    """Two inputs, shared weights and biases, a sum of a convolution and two full bundles."""
    graph = Graph()
    left, right = graph.input("L", (3, 4)), graph.input("R", (3, 4))
    weights = graph.parameter("W", (5, 12))
    biases = graph.parameter("B", (5,), kind="biases")
    twins = []
    for source in (left, right):
        total = graph.apply("full", source, parameters=(weights,))
        total = graph.apply("bias", total, parameters=(biases,))
        twins.append(graph.apply("activation", total, function="sigmoid"))
    kernels = graph.parameter("K", (2, 5), kind="kernels")
    axes = (Axis(3, 2), Axis(4, 2))
    made = [
        graph.apply(
            "convolve", source, parameters=(kernels,), axes=axes, sharing=(True, True), maps=(2, 1)
        )
        for source in (left, right)
    ]
    mixed = [
        graph.apply("full", twin, parameters=(graph.parameter(f"M{number}", (12, 5)),))
        for number, twin in enumerate(twins)
    ]
    total = graph.apply("add", *made, *mixed)
    hidden = graph.apply("activation", total, function="tanh")
    again = graph.apply("add", hidden, hidden)
    plan = prepare(graph, dense(graph, again, 2, "softmax"), 11, loss="softmax")
    assert gradient_error(plan) <= TOLERANCE


def test_an_activation_between_summed_layers_keeps_its_gradient_apart():
    """Gradients passed on in place must not be overwritten before every bundle has read them."""
    graph = Graph()
    source = shifted(graph, 6)
    first = graph.apply("activation", source, function="tanh")
    second = dense(graph, graph.apply("activation", source, function="square"), 6, "sigmoid")
    total = graph.apply("add", first, second, source)
    plan = prepare(graph, dense(graph, total, 2, "tanh", "O"), 2)
    assert gradient_error(plan) <= TOLERANCE


@pytest.mark.parametrize("shape", [(3, 5, 5), (15, 5), (75,), (3, 25), (5, 3, 5), (3, 1, 5, 5)])
@pytest.mark.parametrize("second", ["convolve", "max pool"])
def test_a_layer_read_in_another_shape(shape, second):
    """InputShape may factor the nodes in any way; the order in memory must follow or give way."""
    graph = Graph()
    source = shifted(graph, 49)
    first = [Dimension(7, 3, 1, False, 0, 0, True, 3), Dimension(7, 3, 1, False, 0, 0)]
    made = convolution(graph, source, first, "A")
    made = graph.apply("activation", made, function="tanh")
    again = [Dimension(size, min(size, 2), 1, False, 0, 0, True, 2) for size in shape]
    if second == "convolve":
        made = convolution(graph, made, again, "B")
    else:
        made = graph.apply(second, made, axes=axes_of(again))
    plan = prepare(graph, made, 6)
    assert gradient_error(plan, 1e-5 if second == "max pool" else 1e-3) <= TOLERANCE
    plan.forward()
    hidden = plan.output[0]
    values = plan.store()
    x = plan.layer("shifted")[0]
    middle = np.tanh(naive.convolve(x, first, values["A/weights"]))
    expected = (
        naive.convolve(middle, again, values["B/weights"])
        if second == "convolve"
        else naive.pool(middle, again, "max")
    )
    np.testing.assert_allclose(hidden, expected, rtol=1e-9)


def test_layers_in_a_row():
    """Convolution, response norm, max pool, mean pool and full, orders of memory carried on."""
    graph = Graph()
    source = shifted(graph, 2 * 9 * 9)
    found = [
        Dimension(2, 2, 1, False, 0, 0, True, 3),
        Dimension(9, 3, 1, False, 1, 1),
        Dimension(9, 3, 2, True, 0, 0),
    ]
    made = convolution(graph, source, found)
    made = graph.apply("activation", made, function="srlinear")
    three = [
        Dimension(3, 2, 1, True, 0, 0),
        Dimension(9, 1, 1, 0, 0, 0),
        Dimension(5, 1, 1, 0, 0, 0),
    ]
    made = graph.apply(
        "response norm",
        made,
        axes=axes_of(three),
        alpha=0.5,
        beta=0.75,
        offset=1.0,
        over_full_kernel=False,
    )
    pool = [
        Dimension(3, 1, 1, 0, 0, 0),
        Dimension(9, 3, 2, 0, 0, 0),
        Dimension(5, 2, 2, True, 0, 0),
    ]
    made = graph.apply("max pool", made, axes=axes_of(pool))
    last = [Dimension(3, 1, 1, 0, 0, 0), Dimension(4, 2, 2, 0, 0, 0), Dimension(3, 2, 1, 0, 0, 0)]
    made = graph.apply("mean pool", made, axes=axes_of(last))
    plan = prepare(graph, dense(graph, made, 2), 4)
    assert gradient_error(plan, 1e-4) <= TOLERANCE
