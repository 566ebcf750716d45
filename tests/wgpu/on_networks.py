"""Random networks of all operations on a device: values and gradients are numpy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from netsharp_engine.activations import NAMES
from netsharp_engine.dropping import Draw, masks_of
from netsharp_engine.graph import Graph
from netsharp_engine.program import Job
from netsharp_engine.wgpu_backend import DeviceDraft, writing
from netsharp_engine.wgpu_backend.planning import splitting
from netsharp_engine.wgpu_backend.templates.windows import KernelWay
from tests.engine.naive import Dimension
from tests.engine.networks import axes_of, convolution, dense, dimensions, filtered, filters
from tests.engine.test_random_networks import Growth
from tests.wgpu.pairs import GRADIENT_STEP, Pair, apart

FEW = settings(
    max_examples=10,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)
SMOOTH, BROKEN = 1e-5, 1e-4


def agree(graph, rows=3, seed=0, tolerance=SMOOTH, wanted=None, spread=1.0):
    random = np.random.default_rng(seed)
    features = random.uniform(-spread, spread, (rows, graph.features))
    if wanted is None:
        wanted = random.uniform(-1, 1, (rows, graph.output.size))
    pair = Pair(graph, rows, GRADIENT_STEP, seed=seed)
    pair.step(features, wanted)
    (ours, *_), (theirs, *_) = pair.losses()
    assert ours == pytest.approx(theirs, rel=tolerance, abs=tolerance)
    assert apart(pair.ours.read(graph.output), pair.theirs.read(graph.output)) <= tolerance
    far = pair.gradients()
    assert max(far.values()) <= tolerance, far


@pytest.mark.parametrize("shape", [(7,), (3, 5, 4), (600,)])
@pytest.mark.parametrize("draw", [Draw((1, 2**32 - 1), 65_537), Draw((70_000, 3), 4), None])
def test_masks_have_the_bits_of_the_host(shape, draw):
    """The mask itself, drawn in a step, and the gradient through it."""
    graph, rows = Graph(), 6
    how = {"layer": "X", "number": 2, "rate": 0.3}
    hidden = graph.apply("Dropout", graph.input("X", shape), name="D", **how)
    hidden = dense(graph, hidden, 8, name="H")
    hidden = graph.apply("Dropout", hidden, layer="H", number=5, rate=0.5)
    graph.set_output(dense(graph, hidden, 2, name="out"))
    pair = Pair(graph.with_criteria("squared error"), rows, GRADIENT_STEP)
    pair.step(np.ones((rows, graph.features)), np.zeros((rows, 2)), draw=draw)
    expected = masks_of(graph.nodes, draw, rows, "float32").get("X", np.ones((rows, 1), "float32"))
    node = next(each for each in graph.nodes if each.name == "D")
    np.testing.assert_array_equal(
        pair.ours.read(node), np.broadcast_to(expected, (rows, node.size))
    )
    assert max(pair.gradients().values()) <= SMOOTH
    pair.ours.forward()
    np.testing.assert_array_equal(pair.ours.read(node), 1)


@FEW
@given(st.data(), st.integers(2, 9), st.integers(0, 2**31))
def test_random_network(data, steps, seed):
    growth = Growth(data.draw)
    for _ in range(steps):
        growth.grow()
    graph = growth.graph
    weights = growth.parameter((2, growth.nodes[-1].size))
    graph.set_output(graph.apply("full", growth.nodes[-1], parameters=(weights,), name="out"))
    agree(graph.with_criteria("squared error"), seed=seed)


@FEW
@given(dimensions(sharing=True), st.integers(0, 2**31))
def test_convolution(found, seed):
    graph = Graph()
    source = graph.input("X", [d.size for d in found])
    hidden = dense(graph, source, source.size)
    graph.set_output(convolution(graph, hidden, found))
    agree(graph.with_criteria("squared error"), seed=seed)


@FEW
@given(dimensions(), st.sampled_from(("max pool", "mean pool")), st.integers(0, 2**31))
def test_pool(found, kind, seed):
    graph = Graph()
    source = graph.input("X", [d.size for d in found])
    hidden = dense(graph, source, source.size)
    graph.set_output(graph.apply(kind, hidden, axes=axes_of(found), name="pool"))
    agree(graph.with_criteria("squared error"), seed=seed, tolerance=BROKEN)


@FEW
@given(dimensions(), st.sampled_from((0.5, 0.75, 0.4)), st.booleans(), st.integers(0, 2**31))
def test_response_norm(found, beta, whole, seed):
    graph = Graph()
    source = graph.input("X", [d.size for d in found])
    hidden = dense(graph, source, source.size)
    figures = {"alpha": 0.5, "beta": beta, "offset": 1.5, "over_full_kernel": whole}
    graph.set_output(
        graph.apply("response norm", hidden, axes=axes_of(found), name="norm", **figures)
    )
    agree(graph.with_criteria("squared error"), seed=seed)


@FEW
@given(filters(), st.integers(0, 2**31))
def test_filtered(drawn, seed):
    source, shape, edges = drawn
    graph = Graph()
    given_ = graph.input("X", source)
    hidden = dense(graph, given_, given_.size)
    graph.set_output(filtered(graph, hidden, shape, edges))
    agree(graph.with_criteria("squared error"), seed=seed)


@pytest.mark.parametrize("nodes", [7, 300])
@pytest.mark.parametrize("function", NAMES)
def test_activation(function, nodes):
    graph = Graph()
    hidden = dense(graph, graph.input("X", (9,)), nodes, function)
    weights = graph.parameter("W", (3, nodes))
    graph.set_output(graph.apply("full", hidden, parameters=(weights,), name="out"))
    # The slope of a root near 0 enlarges the last digit of what it is taken of.
    tolerance = BROKEN if function == "sqrt" else SMOOTH
    agree(graph.with_criteria("squared error"), 5, spread=3.0, tolerance=tolerance)


@pytest.mark.parametrize("nodes", [1, 4, 300])
@pytest.mark.parametrize(
    ("loss", "last", "coded"),
    [
        ("cross entropy", "softmax", True),
        ("cross entropy", "softmax", False),
        ("binary cross entropy", "sigmoid", True),
        ("binary cross entropy", "sigmoid", False),
        ("squared error", "linear", False),
        ("squared error", "softmax", True),
        ("cross entropy", "sigmoid", True),
        ("binary cross entropy", "softmax", False),
    ],
)
def test_criterion(loss, last, coded, nodes):
    if loss == "binary cross entropy" and last == "softmax":
        nodes += 1  # alone its probability is 1, at which each type of numbers has its own least
    graph, random = Graph(), np.random.default_rng(3)
    graph.set_output(dense(graph, graph.input("X", (9,)), nodes, last))
    checked = graph.with_criteria(loss, *(["right answers"] if coded else []))
    wanted = random.integers(0, max(nodes, 2), 5) if coded else random.uniform(0, 1, (5, nodes))
    if coded or nodes > 1:
        agree(checked, 5, wanted=wanted if coded else wanted / wanted.sum(axis=1, keepdims=True))
    else:
        agree(checked, 5, wanted=wanted[:, 0])


@pytest.mark.parametrize("width", [4, 32, 256])
def test_a_gradient_is_summed_in_parts_of_any_width(width, monkeypatch):
    monkeypatch.setattr(splitting, "WIDTH", width)
    monkeypatch.setattr(splitting, "LONG", 8)
    graph = Graph()
    graph.set_output(dense(graph, graph.input("X", (5,)), 3))
    agree(graph.with_criteria("squared error"), 300)


def test_a_sum_longer_than_loops_may_turn_takes_several_passes():
    graph = Graph()
    weights = graph.parameter("W", (2, 70_000))
    source = graph.input("X", (70_000,))
    graph.set_output(graph.apply("full", source, parameters=(weights,), name="Y"))
    random = np.random.default_rng(4)
    pair = Pair(graph.with_criteria("squared error"), 2, GRADIENT_STEP, seed=4)
    pair.step(random.uniform(-1, 1, (2, 70_000)), random.uniform(-1, 1, (2, 2)))
    assert apart(pair.ours.read(graph.output), pair.theirs.read(graph.output)) <= SMOOTH
    assert max(pair.gradients().values()) <= SMOOTH


@pytest.mark.parametrize("most", [1, 3])
def test_more_groups_than_one_dimension_counts_lie_in_two(most, monkeypatch):
    """With a bound that small networks reach, which is 65,535 on a device."""
    monkeypatch.setattr(writing, "GROUPS", most)
    graph = Graph()
    found = [Dimension(3, 3, 1, False, 0, 0, True, 4), *[Dimension(9, 3, 2, True, 0, 0)] * 2]
    hidden = dense(graph, graph.input("X", (3, 9, 9)), 243)
    graph.set_output(convolution(graph, hidden, found))
    trained = graph.with_criteria("squared error")
    agree(trained, rows=5)
    dispatched = DeviceDraft(Job(trained, 5, "float32", GRADIENT_STEP)).plan
    assert max(dispatched.dispatch(one)[1] for one in dispatched.step) > 1
    assert max(dispatched.dispatch(one)[0] for one in dispatched.step) == most


@pytest.mark.parametrize("maps", [1, 7])
def test_a_transition_layer_is_a_convolution_of_the_whole_image(maps):
    """The same values and gradients as from the templates of convolutions, which it leaves."""
    graph = Graph()
    hidden = dense(graph, graph.input("X", (4, 5, 5)), 100)
    found = [Dimension(4, 4, 1, False, 0, 0, True, maps), *[Dimension(5, 5, 1, False, 0, 0)] * 2]
    graph.set_output(convolution(graph, hidden, found))
    checked = graph.with_criteria("squared error")
    agree(checked, seed=5)
    whole = computed(checked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KernelWay, "whole", property(lambda way: False))
        agree(checked, seed=5)
        windows = computed(checked)
    assert whole.keys() == windows.keys()
    for name, values in whole.items():
        assert values.shape == windows[name].shape
        assert apart(values, windows[name]) <= 1e-6


def computed(graph):
    """The output of a step of a device, and the gradients."""
    random = np.random.default_rng(8)
    pair = Pair(graph, 3, GRADIENT_STEP, seed=8)
    pair.step(random.uniform(-1, 1, (3, 100)), random.uniform(-1, 1, (3, graph.output.size)))
    return {"output": pair.ours.read(graph.output), **pair.ours.store_memory().arrays["delta"]}


def test_a_convolution_of_single_cells_is_a_full_layer():
    """4.12 to 4.26 become 4.1 to 4.11 where patches and kernels have one cell."""
    graph = Graph()
    hidden = dense(graph, graph.input("X", (6,)), 12)
    found = [Dimension(12, 12, 1, False, 0, 0, True, 4), Dimension(1, 1, 2, False, 0, 0)]
    graph.set_output(convolution(graph, hidden, found))
    agree(graph.with_criteria("squared error"), seed=6)
