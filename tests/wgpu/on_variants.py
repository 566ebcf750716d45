"""Every variant of every family on a device: values and gradients are those of the plain form."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Graph
from netsharp_engine.program import Job
from netsharp_engine.wgpu_backend import DeviceDraft, PlanStyle, variants
from netsharp_engine.wgpu_backend.variants import ALL, PLAIN, VARIANTS
from tests.engine.naive import Dimension
from tests.engine.networks import convolution, dense, dimensions, filtered, filters
from tests.wgpu.on_networks import FEW
from tests.wgpu.on_puri import batches, programs, train
from tests.wgpu.pairs import GRADIENT_STEP, Pair, apart

FEWER = settings(FEW, max_examples=6)
TUNED = [name for name in VARIANTS if name != PLAIN]
TILES = [name for name in TUNED if VARIANTS[name].form == "tiles"]
LANES = [name for name in TUNED if VARIANTS[name].form == "lanes"]


def full():
    """Layers whose sizes no tile divides, and an output that several rows of a group share."""
    graph = Graph()
    hidden = dense(graph, graph.input("X", (37,)), 70, "tanh", name="H")
    hidden = dense(graph, hidden, 45, "tanh", name="K")
    graph.set_output(dense(graph, hidden, 10, "softmax", name="Y"))
    return graph.with_criteria("cross entropy", "right answers")


def convolved():
    """Three kinds of dimensions: seen whole, padded with a stride, and plain."""
    graph = Graph()
    hidden = dense(graph, graph.input("X", (7,)), 360, "tanh", name="H")
    found = [
        Dimension(5, 5, 1, False, 0, 0, True, 9),
        Dimension(9, 3, 2, True, 1, 1),
        Dimension(8, 3, 1, False, 0, 0),
    ]
    graph.set_output(dense(graph, convolution(graph, hidden, found), 3, name="Y"))
    return graph.with_criteria("squared error")


def seen_whole():
    """A transition layer, whose biases are stored after its weights."""
    graph = Graph()
    hidden = dense(graph, graph.input("X", (7,)), 100, "tanh", name="H")
    found = [Dimension(4, 4, 1, False, 0, 0, True, 11), *[Dimension(5, 5, 1, False, 0, 0)] * 2]
    graph.set_output(dense(graph, convolution(graph, hidden, found), 3, name="Y"))
    return graph.with_criteria("squared error")


def by_edges():
    """A filtered layer with some edges for each node."""
    graph, random = Graph(), np.random.default_rng(6)
    hidden = dense(graph, graph.input("X", (20,)), 90, "tanh", name="H")
    edges = np.argwhere(random.uniform(size=(23, 90)) < 0.9)
    chosen = filtered(graph, hidden, (23,), [tuple(map(int, edge)) for edge in edges])
    graph.set_output(dense(graph, chosen, 3, name="Y"))
    return graph.with_criteria("squared error")


def stepped(graph, rows, variant, seed=0, only=()):
    """A pair after a step, by a variant wherever it applies, or in the families ``only``."""
    words = {ALL: variant}
    if only:
        job = Job(graph, rows, "float32", GRADIENT_STEP)
        every = [kernel for one in DeviceDraft(job).plan.step for kernel in one.kernels]
        words = {kernel.what: variant for kernel in every if kernel.family in only}
    pair = Pair(graph, rows, GRADIENT_STEP, seed=seed, style=PlanStyle(variants=words))
    random = np.random.default_rng(seed)
    wanted = random.uniform(-1, 1, (rows, graph.output.size))
    if len(graph.criteria) > 1:
        wanted = random.integers(0, graph.output.size, rows)
    pair.step(random.uniform(-1, 1, (rows, graph.features)), wanted)
    return pair


@cache
def reported(network, rows, variant, only=()):
    """What a variant finds: figures of both, distances, gradients, outputs and what it computed."""
    graph = network()
    pair = stepped(graph, rows, variant, only=only)
    gradients = pair.ours.store_memory().arrays["delta"]
    output = pair.ours.read(graph.output)
    return pair.losses(), pair.gradients(), gradients, output, kernels_of(pair, variant)


def kernels_of(pair, variant):
    """The roles and families of the kernels that a variant computes."""
    return {
        (kernel.family, kernel.role)
        for one in pair.ours.machine.plan.step
        for kernel in one.kernels
        if kernel.variant == variant
    }


def agrees(network, rows, variant, only=()):
    """Compare a variant with numpy and with the plain form; what it computed."""
    _, _, tensors, output, _ = reported(network, rows, PLAIN)
    ((ours, *counts), (theirs, *right)), far, others, found, used = reported(
        network, rows, variant, only
    )
    assert max(far.values()) <= 1e-5, far
    assert apart(found, output) <= 2e-6
    assert ours == pytest.approx(theirs, rel=1e-5)
    assert counts == right
    assert max(apart(others[name], tensors[name]) for name in tensors) <= 1e-5
    return used


@pytest.mark.parametrize("variant", TUNED)
def test_full_layers(variant):
    # Samples that no tile, no vector and no group of rows divides.
    used = agrees(full, 37, variant)
    assert ("full", "forward") in used or variant in LANES[1:]
    if variant in TILES:
        assert {("full", "backward"), ("full", "update")} <= used


@pytest.mark.parametrize("variant", TUNED)
@pytest.mark.parametrize("network", [convolved, seen_whole, by_edges])
def test_layers_with_kernels(network, variant, monkeypatch):
    monkeypatch.setattr(variants, "LEAST", (1, 1))
    monkeypatch.setattr(variants, "TURNS", 0.1)
    form = VARIANTS[variant].form
    family = {convolved: "convolution", seen_whole: "transition", by_edges: "filtered"}[network]
    used = agrees(network, 7, variant, (family,))
    roles = {role for each, role in used if each == family}
    if form == "lanes":
        assert {"forward", "backward"} <= roles
        assert roles & {"gradient", "update"}
    elif form == "vectors":
        assert roles == {"forward", "backward"}
    elif form == "tiles":
        assert bool(roles) == (network is not by_edges)


@pytest.mark.parametrize("variant", TUNED)
def test_a_sum_in_parts(variant):
    """A product so deep that several invocations share it, by each variant of its parts."""
    graph = Graph()
    weights = graph.parameter("W", (9, 33_000))
    source = graph.input("X", (33_000,))
    graph.set_output(graph.apply("full", source, parameters=(weights,), name="Y"))
    pair = stepped(graph.with_criteria("squared error"), 9, variant, seed=4)
    assert apart(pair.ours.read(graph.output), pair.theirs.read(graph.output)) <= 1e-5
    assert max(pair.gradients().values()) <= 1e-5
    parts = [k for one in pair.ours.machine.plan.step for k in one.kernels if k.pieces > 1]
    assert {kernel.variant for kernel in parts} == {variant if variant != "rows" else PLAIN}


def near(graph, variant, seed):
    """Compare gradients with numpy's; what nearly cancels out may be as far as the plain form's."""
    plain, far = (stepped(graph, 3, name, seed).gradients() for name in (PLAIN, variant))
    assert all(far[name] <= max(1e-5, 3 * plain[name]) for name in far), (far, plain)


@FEWER
@given(dimensions(sharing=True), st.sampled_from(TUNED), st.integers(0, 2**31))
def test_any_convolution(found, variant, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(variants, "LEAST", (1, 1))
        patch.setattr(variants, "TURNS", 0)
        graph = Graph()
        source = graph.input("X", [d.size for d in found])
        hidden = dense(graph, source, source.size)
        graph.set_output(convolution(graph, hidden, found))
        near(graph.with_criteria("squared error"), variant, seed)


@FEWER
@given(filters(), st.sampled_from(TUNED), st.integers(0, 2**31))
def test_any_filter(drawn, variant, seed):
    source, shape, edges = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(variants, "TURNS", 0)
        graph = Graph()
        given_ = graph.input("X", source)
        hidden = dense(graph, given_, given_.size)
        graph.set_output(filtered(graph, hidden, shape, edges))
        near(graph.with_criteria("squared error"), variant, seed)


@pytest.mark.parametrize("variant", ["vectors", "lanes 8"])
@pytest.mark.parametrize("kind", ["mean pool", "response norm"])
def test_windows_without_weights(kind, variant, monkeypatch):
    monkeypatch.setattr(variants, "TURNS", 0.1)
    graph = Graph()
    hidden = dense(graph, graph.input("X", (7,)), 90, "tanh", name="H")
    axes = (Axis(2, 1), Axis(9, 3, 2, padding=True), Axis(5, 2))
    figures = {"alpha": 0.5, "beta": 0.75, "offset": 1.5, "over_full_kernel": False}
    if kind == "response norm":
        axes = (Axis(2, 1), Axis(9, 3, padding=True), Axis(5, 3, padding=True))
    options = figures if kind == "response norm" else {}
    made = graph.apply(kind, hidden, axes=axes, name="pool", **options)
    graph.set_output(dense(graph, made, 3, name="Y"))
    pair = stepped(graph.with_criteria("squared error"), 7, variant)
    assert max(pair.gradients().values()) <= 1e-5
    families = {family for family, _ in kernels_of(pair, variant)}
    assert families >= ({"pool"} if kind == "mean pool" else {"response norm"}), families


@pytest.mark.parametrize("variant", ["vectors", "lanes 8", "tiles 16 x 64"])
def test_the_patents_network(variant):
    """Three steps of 5 pictures: every tensor is that of the plain form."""
    found = []
    for name in (PLAIN, variant):
        ours, _ = programs(5, style=PlanStyle(variants={ALL: name}))
        for batch in batches(5, 3):
            train(ours, batch)
        found.append((ours.figures().sums, ours.store()))
    (plain, tensors), (sums, others) = found
    assert sums[0] == pytest.approx(plain[0], rel=1e-6)
    assert max(apart(others[name], tensors[name]) for name in tensors) <= 2e-6
