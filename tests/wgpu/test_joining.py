"""Kernels are joined as the definition says, in time that grows with their number."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.planned import planned as planned_calls
from netsharp_engine.program import Job, UpdateRule, drafted
from netsharp_engine.wgpu_backend import DeviceDraft
from netsharp_engine.wgpu_backend.kernels import DeviceKernel, Each, StoreTo
from netsharp_engine.wgpu_backend.planning import joining
from netsharp_engine.wgpu_backend.planning.describing import Describer
from netsharp_engine.wgpu_backend.planning.facts import facts_of
from netsharp_engine.wgpu_backend.planning.splitting import split
from netsharp_lsp.netsharp.lower import build_graph
from tests.costs import assert_in_proportion
from tests.engine.networks import dense
from tests.engine.test_random_networks import Growth
from tests.peers import needs_torch
from tests.wgpu import plain_joining
from tests.wgpu.puri import EXAMPLES, puri

ADAM = UpdateRule("adam", 1e-3)
DRAWN = settings(max_examples=60, derandomize=True, deadline=None)
NAMES = ("diabetes", "digits", "digits29", "iris", "puri", "siamese", "vision")
#: The sizes of networks of Net# that leave them open.
SIZES = {
    "diabetes": {"features": 10, "hidden_nodes": 5, "outputs": 1},
    "iris": {"features": 4, "hidden_nodes": 5, "outputs": 3},
}


def require_same(kernels):
    """Compare what is shipped with the definition, and return how many kernels are left."""
    found = joining.join(kernels)
    assert found == plain_joining.join(kernels)
    return len(found)


def require_same_plan(graph):
    described = Describer(job := Job(graph, 4, "float32", ADAM), facts_of(job)).described()
    buffers = described.building.buffers
    kernels = joining.needed(split(described.building, described.building.kernels), buffers)
    assert require_same(kernels) < len(kernels)


@pytest.mark.parametrize("name", NAMES)
def test_networks_of_all_examples(name):
    text = (EXAMPLES / name / f"{name}.nn").read_text(encoding="utf-8")
    graph = build_graph(text, SIZES.get(name, {}))
    require_same_plan(graph.with_criteria("squared error"))


def test_the_patents_network():
    require_same_plan(puri("loss"))


@DRAWN
@given(st.data(), st.integers(2, 12))
def test_random_networks(data, steps):
    growth = Growth(data.draw)
    for _ in range(steps):
        growth.grow()
    weights = growth.parameter((2, growth.nodes[-1].size))
    graph = growth.graph
    graph.set_output(graph.apply("full", growth.nodes[-1], parameters=(weights,), name="out"))
    require_same_plan(graph.with_criteria("squared error"))


@st.composite
def lines(draw):
    """Kernels that read and overwrite a few buffers, so that they wait for each other in all ways.

    Loads at other elements than a kernel's own keep pairs from fitting.
    """
    buffers, found = st.integers(0, 4), []
    for number in range(draw(st.integers(2, 12))):
        reads = draw(st.lists(buffers, max_size=2, unique=True))
        places = [draw(st.sampled_from(("e", "e", "e", "n"))) for _ in reads]
        formula = " + ".join(f"b{b}[{at}]" for b, at in zip(reads, places, strict=True)) or "1.0"
        stores = draw(st.lists(buffers, min_size=1, max_size=2, unique=True))
        size = draw(st.sampled_from((4, 4, 4, 8)))
        body = ((100 + number, Each(f"{formula} + {number}.0")),)
        kept = tuple(StoreTo(b, 100 + number, once=draw(st.integers(0, 5)) == 0) for b in stores)
        found.append(DeviceKernel(f"K{number}", "sum", "forward", 1, size, body, kept))
    return found


@settings(max_examples=250, derandomize=True, deadline=None)
@given(lines())
def test_random_kernels(kernels):
    require_same(kernels)


def deep(layers):
    """A network of a number of layers."""
    graph = Graph()
    node = graph.input("X", (3,))
    for number in range(layers):
        node = dense(graph, node, 3, name=f"H{number}")
    graph.set_output(node)
    return graph.with_criteria("squared error")


def pytorch():
    from netsharp_engine.torch_backend import TorchBackend

    return TorchBackend("cpu")


@pytest.mark.costly
@pytest.mark.parametrize(
    "backend",
    [
        pytest.param(lambda: NumpyDraft, id="numpy"),
        pytest.param(lambda: DeviceDraft, id="wgpu"),
        pytest.param(pytorch, marks=needs_torch, id="torch"),
    ],
)
def test_a_plan_costs_in_proportion_to_the_layers(backend):
    def prepared(layers):
        job = Job(deep(layers), 4, "float32", UpdateRule("sgd", 1e-3))
        return lambda: planned_calls(drafted(backend(), job))

    assert_in_proportion(prepared, 40, 480)
