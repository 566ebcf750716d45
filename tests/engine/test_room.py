"""What a plan says that it will take is what it takes, and what has no room is refused before."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from itertools import permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.limits import KERNEL_CELLS, KERNEL_DIMENSIONS
from netsharp_engine.memory import free_memory, shown_bytes
from netsharp_engine.numpy_backend import Design, build_plan, compile_plan, design_plan
from netsharp_engine.numpy_backend.design import NODE_BYTES
from netsharp_engine.numpy_backend.kernels.layout import Layout
from netsharp_lsp.netsharp.lower import build_graph
from tests.collection import CORPUS
from tests.costs import assert_in_proportion, within
from tests.engine.networks import dense
from tests.engine.test_random_networks import Growth

ARRAYS = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)
WAYS = (
    ("squared error", "float32", True),
    ("squared error", "float64", True),
    (None, "float32", False),
)
#: Networks whose memory is arrays rather than Python's objects, by their names in the corpus.
LARGE = (
    *("guide/digits", "guide/vision", "valid/inception", "valid/conv3d_video", "valid/lenet"),
    *("valid/conv2d_explicit_pads", "valid/sum_of_convolutions", "valid/share_convolutions"),
    *("valid/norm_across_maps", "valid/map_tuple", "valid/grid_neighbours", "valid/depthwise"),
)


def taken(design: Design) -> int:
    """The bytes of all arrays that building a plan leaves."""
    tracemalloc.start()
    try:
        plan = build_plan(design)
        found = tracemalloc.take_snapshot().filter_traces([ARRAYS])
    finally:
        tracemalloc.stop()
    assert plan.weights.size
    return sum(trace.size for trace in found.traces)


@pytest.mark.parametrize("name", LARGE)
def test_the_estimate_is_what_networks_of_the_corpus_take(name: str) -> None:
    graph = build_graph((CORPUS / f"{name}.nn").read_text(encoding="utf-8"), {})
    for batch, (loss, dtype, training) in zip((5, 64, 33), WAYS, strict=True):
        design = design_plan(graph, batch, loss, dtype, training)
        reported, real = design.needs().total(), taken(design)
        assert real <= reported <= 1.2 * real + 2 * NODE_BYTES * len(design.nodes)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.data(), st.integers(2, 9), st.integers(400, 600))
def test_the_estimate_is_what_random_networks_take(data, steps, batch):
    growth = Growth(data.draw)
    for _ in range(steps):
        growth.grow()
    weights = growth.parameter((2, growth.nodes[-1].size))
    output = growth.graph.apply("full", growth.nodes[-1], parameters=(weights,), name="out")
    growth.graph.set_output(output)
    for loss, dtype, training in WAYS:
        design = design_plan(growth.graph, batch, loss, dtype, training)
        reported, real = design.needs().total(), taken(design)
        assert real <= reported <= 1.2 * real + 3 * NODE_BYTES * len(design.nodes)


@st.composite
def layouts(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    return Layout(tuple(shape), draw(st.sampled_from(list(permutations(range(len(shape)))))))


@settings(max_examples=300, derandomize=True, deadline=None)
@given(layouts(), layouts(), st.lists(st.integers(1, 8), min_size=1, max_size=4))
def test_layouts_answer_without_arrays_as_numpy_would(one, other, shape):
    def rows(layout):
        index = np.arange(prod(layout.shape)).reshape(layout.shape)
        return index.transpose(layout.order).ravel()

    assert one.same(other) == np.array_equal(rows(one), rows(other))
    assert one.canonical == np.array_equal(rows(one), np.arange(prod(one.shape)))
    rest = prod(one.shape)
    fitting = []
    for extent in shape:
        fitting.append(extent if rest % extent == 0 else 1)
        rest //= fitting[-1]
    fitting.append(rest)
    view = one.view(np.empty((prod(one.shape), 2), np.int8), tuple(fitting))
    assert one.allows(tuple(fitting)) == (view is not None)


def windows(rank: int, size: int, op: str = "max pool") -> Graph:
    graph = Graph()
    source = dense(graph, graph.input("I", (2,)), size**rank)
    axes = tuple(Axis(size, size, 1, padding=True) for _ in range(rank))
    graph.set_output(graph.apply(op, source, axes=axes, name="P"))
    return graph


def test_a_kernel_of_many_dimensions_or_cells_is_refused() -> None:
    def refused() -> None:
        with pytest.raises(GraphError, match=f"16 dimensions; at most {KERNEL_DIMENSIONS} can"):
            compile_plan(windows(16, 2), 1, "squared error")
        with pytest.raises(GraphError, match=rf"1,002,001 cells; at most {KERNEL_CELLS} can"):
            compile_plan(windows(2, 1001), 1, "squared error")

    within(5, refused)


LIMITED = """
import resource, sys, time
from netsharp_engine.graph import GraphError
from netsharp_lsp.netsharp.lower import build_graph
from netsharp_engine.numpy_backend import compile_plan
from tests.costs import assert_in_proportion, within
graph = build_graph(sys.argv[1], {})
most = 3 << 30
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    compile_plan(graph, int(sys.argv[2]), "squared error")
except GraphError as error:
    print(error)
# What getrusage tells begins with the parent's.
status = open("/proc/self/status").read()
print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
"""
#: Networks without room, the batch, and which layer takes most.
BOMBS = {
    "a wide layer": (
        "input I [64]; hidden H [99999999] tanh from I all; output O [1] from H all;",
        1,
    ),
    "a large batch": (
        "input I [64]; hidden H [9999] tanh from I all; output O [1] from H all;",
        10**6,
    ),
    "an endless layer": (
        f"input I [64]; hidden H [{10**18}] tanh from I all; output O [1] from H all;",
        1,
    ),
    "a kernel in 15 dimensions": (
        "input I [{0}]; hidden H [{0}] from I convolve {{ InputShape = [{0}]; KernelShape = [{0}]; "
        "Padding = [{1}]; }} output O [1] from H all;".format(
            ", ".join(["2"] * 15), ", ".join(["true"] * 15)
        ),
        1,
    ),
    "unshared kernels": (
        "input I [999, 999]; hidden H [900, 900] from I convolve { InputShape = [999, 999]; "
        "KernelShape = [100, 100]; Sharing = [false, false]; } output O [1] from H all;",
        1,
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses and peaks are Linux's")
@pytest.mark.parametrize("bomb", BOMBS)
def test_what_has_no_room_is_refused_before_it_is_made(bomb: str) -> None:
    text, batch = BOMBS[bomb]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, text, str(batch)],
        capture_output=True,
        text=True,
        check=True,
    )
    sentence, megabytes = done.stdout.splitlines()
    assert "memory, and" in sentence
    assert "Most takes layer 'H'" in sentence
    assert "smaller" in sentence
    assert int(megabytes) < 300


def test_long_chains_are_planned_in_linear_time() -> None:
    def prepared(count: int) -> Callable[[], object]:
        graph = Graph()
        node = graph.input("I", (2,))
        for number in range(count):
            node = dense(graph, node, 2, name=f"H{number}")
        graph.set_output(node)
        return lambda: build_plan(design_plan(graph, 1, "squared error"))

    assert_in_proportion(prepared, 1000, 4000)


def test_free_memory_is_reported_where_the_system_reports_it() -> None:
    free = free_memory()
    assert free is None or free > 1 << 20
    assert [shown_bytes(n) for n in (0, 2_500_000, 3 * 10**9)] == ["0.0 kB", "2.5 MB", "3.0 GB"]
