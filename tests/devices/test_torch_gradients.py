"""Torch's value and gradient of every operation beside numpy's, also where slopes have a kink."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.activations import NAMES
from netsharp_engine.dropping import Draw
from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend.kernels import KERNELS as OURS
from tests.devices.both import agree
from tests.engine.networks import (
    axes_of,
    convolution,
    dense,
    dimensions,
    filtered,
    filters,
    shifted,
)
from tests.engine.test_random_networks import Growth
from tests.peers import peer

torch = peer("torch")

from netsharp_engine.torch_backend import TorchBackend, TorchDraft  # noqa: E402
from netsharp_engine.torch_backend.kernels import KERNELS  # noqa: E402
from netsharp_engine.torch_backend.kernels import dense as dense_kernels  # noqa: E402

TORCH = TorchBackend("cpu")
SEEDS = st.integers(0, 2**31)
DRAWN = settings(max_examples=60, derandomize=True, deadline=None)
#: Values at which functions have kinks, and beside these.
KINKS = np.array([[-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 1.5, 30.0, -30.0, 1e-12, 1e-24, 45.0]])


def test_the_tables_have_the_same_rows():
    assert set(KERNELS) == set(OURS) - {"input"}


def size_of(found):
    return math.prod(d.size for d in found)


@pytest.mark.costly
@DRAWN
@given(dimensions(sharing=True), SEEDS)
def test_convolution(found, seed):
    graph = Graph()
    graph.set_output(convolution(graph, shifted(graph, size_of(found)), found))
    agree(TORCH, graph, np.random.default_rng(seed))


@DRAWN
@given(dimensions(), SEEDS, st.sampled_from(("max pool", "mean pool")))
def test_pools_and_the_first_of_equal_cells(found, seed, kind):
    random, graph = np.random.default_rng(seed), Graph()
    graph.set_output(graph.apply(kind, shifted(graph, size_of(found)), axes=axes_of(found)))
    x = random.integers(0, 3, (3, size_of(found))).astype(float)
    agree(TORCH, graph, random, x=x, values={"shift": np.zeros(size_of(found))})


@DRAWN
@given(
    dimensions(),
    SEEDS,
    st.floats(0.05, 1.0),
    st.sampled_from((0.5, 0.75, 0.3, 1.0)),
    st.sampled_from((0.5, 1.0, 2.0)),
    st.booleans(),
)
def test_response_norm(found, seed, alpha, beta, offset, over_full_kernel):
    graph = Graph()
    figures = {"alpha": alpha, "beta": beta, "offset": offset, "over_full_kernel": over_full_kernel}
    source = shifted(graph, size_of(found))
    graph.set_output(graph.apply("response norm", source, axes=axes_of(found), **figures))
    agree(TORCH, graph, np.random.default_rng(seed))


def test_more_dimensions_than_torch_walks_over():
    random = np.random.default_rng(1)
    for kind in ("max pool", "mean pool", "convolve"):
        graph = Graph()
        axes = tuple(Axis(size, 2, 1, padding=size == 3) for size in (2, 3, 3, 2, 3))
        source = shifted(graph, math.prod(axis.size for axis in axes))
        attributes = {}
        if kind == "convolve":
            kernels = graph.parameter("K", (2, 33), kind="kernels")
            attributes = {"parameters": (kernels,), "sharing": (True,) * 5, "maps": (1, 2, 1, 1, 1)}
        graph.set_output(graph.apply(kind, source, axes=axes, **attributes))
        agree(TORCH, graph, random)


@pytest.mark.parametrize("form", ["matrix", "edges"])
def test_filtered(form, monkeypatch):
    if form == "edges":
        monkeypatch.setattr(dense_kernels, "FILLED", 0)
        monkeypatch.setattr(dense_kernels, "FEW_CELLS", 0)

    @settings(max_examples=20, derandomize=True, deadline=None)
    @given(filters(), SEEDS)
    def check(drawn, seed):
        source, destination, edges = drawn
        graph = Graph()
        node = shifted(graph, math.prod(source))
        graph.set_output(filtered(graph, node, tuple(destination), edges))
        agree(TORCH, graph, np.random.default_rng(seed))

    check()


@pytest.mark.parametrize("function", NAMES)
def test_activations_at_their_kinks(function):
    graph = Graph()
    source = shifted(graph, KINKS.shape[1])
    graph.set_output(graph.apply("activation", source, function=function, name="A"))
    zeros = {"shift": np.zeros(KINKS.shape[1])}
    agree(TORCH, graph, np.random.default_rng(2), x=KINKS.repeat(3, 0), values=zeros)


@pytest.mark.parametrize("function", ["sigmoid", "tanh", "rlinear"])
@pytest.mark.parametrize("step", [0.0, 0.25])
def test_transfer_tables_and_the_range_that_they_track(function, step):
    graph = Graph()
    source = shifted(graph, KINKS.shape[1])
    kept = [graph.parameter(f"A/{n}", (size,), trained=False) for n, size in (("r", 2), ("t", 18))]
    graph.set_output(
        graph.apply("transfer", source, parameters=kept, function=function, codes=16, name="A")
    )
    random = np.random.default_rng(3)
    for seen in (np.zeros(2), np.array([-1.0, 2.0])):
        table = np.array([step, -8.0, *random.uniform(-1, 1, 16)])
        values = {"shift": np.zeros(KINKS.shape[1]), "A/r": seen, "A/t": table}
        agree(TORCH, graph, random, x=KINKS.repeat(3, 0) + 0.01, values=values)


def test_several_bundles_into_a_layer_and_masks_of_dropout():
    graph = Graph()
    first, second = graph.input("X", (4,)), graph.input("Y", (3,))
    weights = [graph.parameter(f"W{n}", (5, node.size)) for n, node in enumerate((first, second))]
    terms = [
        graph.apply("full", node, parameters=(each,))
        for node, each in zip((first, second), weights, strict=True)
    ]
    total = graph.apply("add", *terms)
    biases = graph.parameter("b", (5,), kind="biases")
    hidden = graph.apply("bias", total, parameters=(biases,))
    hidden = graph.apply("activation", hidden, function="tanh", name="H")
    dropped = graph.apply("Dropout", hidden, layer="H", number=0, rate=0.5)
    graph.set_output(dense(graph, dropped, 2, "softmax", "O"))
    random = np.random.default_rng(4)
    agree(TORCH, graph, random, draw=Draw((1, 2), 3))
    agree(TORCH, graph, random)


def classified(function, nodes):
    graph = Graph()
    source = shifted(graph, nodes)
    graph.set_output(graph.apply("activation", source, function=function, name="O"))
    return graph


@pytest.mark.parametrize(
    ("loss", "function", "nodes"),
    [
        ("cross entropy", "softmax", 4),
        ("cross entropy", "sigmoid", 4),
        ("binary cross entropy", "sigmoid", 1),
        ("binary cross entropy", "sigmoid", 3),
        ("binary cross entropy", "brlinear", 1),
        ("squared error", "softmax", 3),
        ("squared error", "linear", 1),
    ],
)
@pytest.mark.parametrize("weighed", [False, True])
def test_losses_of_codes_and_numbers(loss, function, nodes, weighed):
    random = np.random.default_rng(5)
    graph = classified(function, nodes)
    x = random.normal(0, 3, (6, nodes))
    x[0], x[1] = 50.0, -50.0
    more = {"weights": random.uniform(0, 2, 6), "expected": 5.0} if weighed else {}
    shift = {"shift": np.zeros(nodes)}
    codes = random.integers(0, max(nodes, 2), 6)
    agree(TORCH, graph, random, x=x, target=codes, loss=loss, values=shift, **more)
    goal = random.uniform(0, 1, (6, nodes))
    goal /= goal.sum(1, keepdims=True) if nodes > 1 else 1
    agree(TORCH, graph, random, x=x, target=goal, loss=loss, values=shift, **more)


@pytest.mark.costly
@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.data(), st.integers(2, 9), SEEDS)
def test_random_networks(data, steps, seed):
    growth = Growth(data.draw)
    for _ in range(steps):
        growth.grow()
    weights = growth.parameter((2, growth.nodes[-1].size))
    growth.graph.set_output(
        growth.graph.apply("full", growth.nodes[-1], parameters=(weights,), name="out")
    )
    agree(TORCH, growth.graph, np.random.default_rng(seed))


def test_what_torch_does_not_compute_is_named_with_its_place():
    from netsharp_engine.program import Job

    graph = Graph()
    node = graph.apply("Dropout", graph.input("X", (2,)), rate=0.5, name="D")
    graph.set_output(dense(graph, node, 2, "softmax", "O"))
    (found,) = TorchDraft(Job(graph, 2), "cpu").unsupported()
    assert found.reason == "D: torch does not compute 'Dropout' here."
