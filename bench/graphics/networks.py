"""The networks that a graphics device is measured by, as graphs of the engine and in PyTorch.

They are `puri.nn`, W3 and W4 of `workloads`, built without a language: a test compares both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import peer_torch

from netsharp_engine.geometry import Axis, kernel_count
from netsharp_engine.graph import Graph, Node


class Workload(NamedTuple):
    """A network by the name that `peer_torch` has, in steps of so many rows.

    ``goal`` is the least quotient of its rate and that of PyTorch on CUDA; ``smooth``: no kink may
    flip a choice.
    """

    title: str
    peer: str
    rows: int
    goal: float
    smooth: bool


WORKLOADS = (
    Workload("Puri/Simard", "W2a", 1, 1.0, True),
    Workload("Puri/Simard", "W2a", 32, 1.0, True),
    Workload("W3, rectifiers and pools", "W3", 64, 0.35, False),
    Workload("W3, rectifiers and pools", "W3", 256, 0.35, False),
    Workload("W4, padded, normalised", "W4", 64, 0.35, False),
)


def graph_of(peer: str) -> Graph:
    """Return the graph of a workload with its loss."""
    graph = Graph()
    source = graph.input("Image", peer_torch.SHAPES[peer][-2 if peer != "W4" else -3 :])
    graph.set_output(LAYERS[peer](graph, source))
    return graph.with_criteria("cross entropy")


def _puri(graph: Graph, source: Node) -> Node:
    first = _convolved(graph, source, "Conv1", (Axis(29, 5, 2), Axis(29, 5, 2)), 5, "tanh")
    axes = (Axis(5, 5), Axis(13, 5, 2), Axis(13, 5, 2))
    second = _convolved(graph, first, "Conv2", axes, 50, "tanh")
    hidden = _full(graph, second, "Hid3", 100, "tanh")
    return _full(graph, hidden, "Digit", 10, "softmax")


def _rectified(graph: Graph, source: Node) -> Node:
    first = _convolved(graph, source, "C1", (Axis(28, 5), Axis(28, 5)), 20, "rlinear")
    pooled = _pooled(graph, first, "P1", (20, 24, 24))
    axes = (Axis(20, 20), Axis(12, 5), Axis(12, 5))
    second = _convolved(graph, pooled, "C2", axes, 50, "rlinear")
    pooled = _pooled(graph, second, "P2", (50, 8, 8))
    hidden = _full(graph, pooled, "F", 500, "rlinear")
    return _full(graph, hidden, "Digit", 10, "softmax")


def _normalised(graph: Graph, source: Node) -> Node:
    axes = (Axis(3, 3), *(Axis(32, 5, padding=True),) * 2)
    first = _convolved(graph, source, "C1", axes, 48, "rlinear")
    windows = (Axis(48, 5, padding=True), Axis(32, 1), Axis(32, 1))
    figures = {"alpha": 1e-3, "beta": 0.75, "offset": 1.0, "over_full_kernel": False}
    normal = graph.apply("response norm", first, axes=windows, **figures)
    normal = graph.apply("activation", normal, function="linear", name="N")
    pooled = _pooled(graph, normal, "P", (48, 32, 32))
    axes = (Axis(48, 48), *(Axis(16, 5, padding=True),) * 2)
    second = _convolved(graph, pooled, "C2", axes, 64, "rlinear")
    hidden = _full(graph, second, "F", 256, "rlinear")
    return _full(graph, hidden, "Digit", 10, "softmax")


LAYERS: dict[str, Callable[[Graph, Node], Node]] = {
    "W2a": _puri,
    "W3": _rectified,
    "W4": _normalised,
}


def _convolved(
    graph: Graph, source: Node, name: str, axes: tuple[Axis, ...], maps: int, function: str
) -> Node:
    sharing, counts = (True,) * len(axes), (maps, *(1,) * (len(axes) - 1))
    shape = (kernel_count(axes, sharing, counts), math.prod(axis.kernel for axis in axes) + 1)
    kernels = graph.parameter(f"{name}/{source.name}/weights", shape, kind="kernels")
    told: dict[str, Any] = {"axes": axes, "sharing": sharing, "maps": counts}
    made = graph.apply("convolve", source, parameters=(kernels,), **told)
    return graph.apply("activation", made, function=function, name=name)


def _pooled(graph: Graph, source: Node, name: str, sizes: tuple[int, int, int]) -> Node:
    axes = (Axis(sizes[0], 1), Axis(sizes[1], 2, 2), Axis(sizes[2], 2, 2))
    made = graph.apply("max pool", source, axes=axes)
    return graph.apply("activation", made, function="linear", name=name)


def _full(graph: Graph, source: Node, name: str, nodes: int, function: str) -> Node:
    weights = graph.parameter(f"{name}/{source.name}/weights", (nodes, source.size))
    biases = graph.parameter(f"{name}/biases", (nodes,), kind="biases")
    made = graph.apply("full", source, parameters=(weights,))
    made = graph.apply("bias", made, parameters=(biases,))
    return graph.apply("activation", made, function=function, name=name)
