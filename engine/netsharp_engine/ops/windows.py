"""Operations that walk a kernel over their source: convolution, pooling, response norm.

Geometry comes from ``geometry``; nothing here knows arrays. Source: the Net# guide, "Convolutional
bundles", "Pooling bundles" and "Response normalization bundles".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.geometry import kernel_count, output_shape, product
from netsharp_engine.ops.definition import Cost, Operation, expect_inputs, expect_parameters

if TYPE_CHECKING:
    from netsharp_engine.geometry import Axis
    from netsharp_engine.nodes import Node


def _axes(node: Node) -> tuple[Axis, ...]:
    expect_inputs(node, 1)
    axes: tuple[Axis, ...] = node.attributes["axes"]
    seen = product(tuple(axis.size for axis in axes))
    if seen != node.inputs[0].size:
        raise ValueError(
            f"the kernel walks over {seen} nodes, the source has {node.inputs[0].size}"
        )
    if any(axis.count < 1 for axis in axes):
        raise ValueError("a kernel is longer than its source")
    return axes


def _convolve_shape(node: Node) -> tuple[int, ...]:
    """Return, per dimension, maps times positions; ``sharing`` and ``maps`` have one entry each."""
    axes = _axes(node)
    sharing, maps = node.attributes["sharing"], node.attributes["maps"]
    if not len(axes) == len(sharing) == len(maps):
        raise ValueError("axes, sharing and maps must have one entry per dimension")
    weights = product(tuple(axis.kernel for axis in axes)) + 1
    expect_parameters(node, (kernel_count(axes, sharing, maps), weights))
    return output_shape(axes, maps)


def _convolve_cost(node: Node) -> Cost:
    taps = product(tuple(axis.real_taps() for axis in node.attributes["axes"]))
    edges = taps * product(node.attributes["maps"])
    return Cost(edges, edges)


def _window_shape(node: Node) -> tuple[int, ...]:
    """Shape of a pool or a response norm: the positions of each dimension."""
    axes = _axes(node)
    expect_parameters(node)
    return output_shape(axes)


def _norm_shape(node: Node) -> tuple[int, ...]:
    for key in ("alpha", "beta", "offset", "over_full_kernel"):
        node.attributes[key]
    return _window_shape(node)


def _window_cost(node: Node) -> Cost:
    taps = product(tuple(axis.real_taps() for axis in node.attributes["axes"]))
    return Cost(taps, taps if node.op == "response norm" else 0)


OPERATIONS = (
    Operation("convolve", _convolve_shape, _convolve_cost),
    Operation("max pool", _window_shape, _window_cost),
    Operation("mean pool", _window_shape, _window_cost),
    Operation("response norm", _norm_shape, _window_cost),
)
