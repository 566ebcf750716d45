"""The operations of layers of Net# as ONNX operators: bundles, biases, sums and activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from netsharp_engine.exporting.onnx.operators import taken
from netsharp_engine.exporting.onnx.operators.rows import Row
from netsharp_engine.exporting.onnx.operators.walking import (
    MOST_AXES,
    has_empty_windows,
    is_cut,
    walk_of,
)
from netsharp_engine.exporting.onnx.writing import Array, OnnxValue, OnnxWriting
from netsharp_engine.exporting.places import cells, centres
from netsharp_engine.exporting.refusal import refused
from netsharp_engine.geometry import product
from netsharp_engine.nodes import Node

if TYPE_CHECKING:
    from netsharp_engine.exporting.places import CoveredAxis
    from netsharp_engine.geometry import Axis

#: An axis of whatever kind.
A = TypeVar("A", bound="CoveredAxis")
#: A filtered bundle is written as a matrix up to this number of cells (4 MiB in float32), or from
#: this share of edges on, as the engine computes it (numpy_backend/kernels/filtered).
_CELLS, _SHARE = 1 << 20, 0.03
#: From this operator set on, values are added where their index says.
ADDED_BY_INDEX = 16


def _flat(out: OnnxWriting, value: OnnxValue) -> str:
    if len(value.shape) == 1:
        return value.name
    return out.shaped(value.name, value.lead, (product(value.shape),))


def _fitted(out: OnnxWriting, name: str, node: Node) -> str:
    """Return a result [n, nodes] in the shape of a layer."""
    return name if len(node.shape) == 1 else out.shaped(name, 1, node.shape)


def _weights(out: OnnxWriting, node: Node) -> Array:
    return out.parameter(node.parameters[0].name).reshape(node.parameters[0].shape)


def _full(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    matrix = out.numbers(_weights(out, node).T, out.fresh(node.parameters[0].name))
    return _fitted(out, out.add("MatMul", _flat(out, sources[0]), matrix), node)


def is_matrix(values: int, nodes: int, edges: int) -> bool:
    """Return whether ``edges`` edges between values and nodes are written as a matrix."""
    cells = values * nodes
    return cells <= _CELLS or edges >= _SHARE * cells


def _filtered(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    destinations, origins = (np.asarray(one, np.int64) for one in node.attributes["edges"])
    weights, flat = _weights(out, node).reshape(-1), _flat(out, sources[0])
    if is_matrix(node.inputs[0].size, node.size, len(weights)):
        matrix = np.zeros((node.inputs[0].size, node.size), weights.dtype)
        matrix[origins, destinations] = weights
        named = out.numbers(matrix, out.fresh(node.parameters[0].name))
        return _fitted(out, out.add("MatMul", flat, named), node)
    if out.opset < ADDED_BY_INDEX:
        raise refused(node, f"its edges need operator set {ADDED_BY_INDEX} or later.")
    given = out.add("Gather", flat, out.whole(origins), axis=1)
    named = out.numbers(weights, out.fresh(node.parameters[0].name))
    found = scattered(out, out.add("Mul", given, named), destinations, node.size)
    return _fitted(out, found, node)


def scattered(out: OnnxWriting, products: str, destinations: Array, nodes: int) -> str:
    """Add sums [n, nodes] of products [n, edges] that belong to these nodes [edges]."""
    shape = out.add("Shape", products)
    places = out.add("Expand", out.whole(destinations[None]), shape)
    count = out.add("Slice", shape, out.integers(0), out.integers(1))
    zeros = out.add("Expand", out.numbers(0), out.add("Concat", count, out.integers(nodes), axis=0))
    return out.add("ScatterElements", zeros, places, products, axis=1, reduction="add")


def _biased(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    biases = _weights(out, node).reshape(node.shape)
    name = out.numbers(biases, out.fresh(node.parameters[0].name))
    return out.add("Add", sources[0].name, name)


def _added(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    parts = [
        one.name if one.shape == node.shape else out.shaped(one.name, one.lead, node.shape)
        for one in sources
    ]
    found = parts[0]
    for part in parts[1:]:
        found = out.add("Add", found, part)
    return found


def _convolved(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    """Return a convolution of ONNX (Conv) where it moves along two axes at most, else by cells."""
    attributes, weights = node.attributes, _weights(out, node)
    axes: tuple[Axis, ...] = attributes["axes"]
    kernel = tuple(axis.kernel for axis in axes)
    walked = walked_of(axes, attributes["sharing"])
    if walked is None:
        flat = _flat(out, sources[0])
        found = taken.kernels(out, flat, axes, attributes["sharing"], attributes["maps"], weights)
        return out.shaped(found, 1, node.shape)
    maps, taps = product(attributes["maps"]), product(kernel)
    before = () if len(walked) < len(axes) else (1,)
    shape = (maps, *before, *kernel)
    sizes = (axis.size for axis in axes)
    image = out.add("Reshape", sources[0].name, out.integers(-1, *before, *sizes))
    found = out.add(
        "Conv",
        image,
        out.numbers(weights[:, :taps].reshape(shape), out.fresh(node.parameters[0].name)),
        out.numbers(weights[:, taps]),
        **walk_of(walked),
    )
    counts = [axis.count for axis in axes]
    return taken.arranged(out, found, counts, attributes["maps"], places_first=False)


def walked_of(axes: Sequence[A], sharing: Sequence[bool]) -> Sequence[A] | None:
    """Return the axes along which ONNX's Conv moves kernels: all, or all but the first, which they
    read as channels; None where kernels are not shared, or move otherwise.
    """
    shared = all(flag or axis.count == 1 for flag, axis in zip(sharing, axes, strict=True))
    first = axes[0]
    whole = len(axes) > 1 and first.count == 1 and first.kernel == first.size and not first.first
    walked = axes[1:] if whole else axes
    fits = shared and len(walked) <= 2 and not any(is_cut(axis) for axis in walked)
    return walked if fits else None


def is_pooled(axes: Sequence[CoveredAxis]) -> bool:
    """Return whether ONNX's own pools move along such axes."""
    return not (len(axes) > MOST_AXES or has_empty_windows(axes) or any(map(is_cut, axes)))


def _pooled(find: Callable[[OnnxWriting, str, Sequence[Axis]], str], operator: str) -> Row:
    def row(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
        axes: tuple[Axis, ...] = node.attributes["axes"]
        if not is_pooled(axes):
            found = find(out, _flat(out, sources[0]), axes)
            return out.shaped(found, 1, node.shape)
        sizes = (axis.size for axis in axes)
        image = out.add("Reshape", sources[0].name, out.integers(-1, 1, *sizes))
        found = out.add(operator, image, **walk_of(axes))
        return out.shaped(found, 1, node.shape)

    return row


def _response_norm(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    """Return x (offset + alpha / N * sum of squares)^-beta, x at the centre of the kernel."""
    attributes = node.attributes
    axes: tuple[Axis, ...] = attributes["axes"]
    flat = _flat(out, sources[0])
    squares = taken.windows(out, out.add("Mul", flat, flat), axes)
    total = out.reduced("ReduceSum", squares, -1, keep=False)
    inside = (cells(axes) >= 0).sum(1)
    count = (
        product(tuple(axis.kernel for axis in axes)) if attributes["over_full_kernel"] else inside
    )
    share = out.numbers(float(attributes["alpha"]) / count)
    base = out.add("Add", out.add("Mul", total, share), out.numbers(float(attributes["offset"])))
    power = out.add("Pow", base, out.numbers(-float(attributes["beta"])))
    middle = out.add("Gather", flat, out.whole(centres(axes)), axis=1)
    return out.shaped(out.add("Mul", middle, power), 1, node.shape)


def _activated(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    function = node.attributes["function"]
    if function == "softmax":
        found = out.add("Softmax", _flat(out, sources[0]), axis=-1)
        return _fitted(out, found, node)
    if function not in (*_FUNCTIONS, *_OTHERS):
        raise refused(node, f"no operator of ONNX is written for the activation '{function}' yet.")
    return activated(out, sources[0].name, function)


def activated(out: OnnxWriting, source: str, function: str) -> str:
    """Add an activation of Net# that takes each value alone."""
    if function in _FUNCTIONS:
        return out.add(_FUNCTIONS[function], source)
    return _OTHERS[function](out, source)


#: Activations that are one operator, and those that are several.
_FUNCTIONS = {
    "sigmoid": "Sigmoid",
    "rlinear": "Relu",
    "srlinear": "Softplus",
    "abs": "Abs",
    "tanh": "Tanh",
}
_OTHERS: dict[str, Callable[[OnnxWriting, str], str]] = {
    "linear": lambda out, source: source,
    "square": lambda out, source: out.add("Mul", source, source),
    "sqrt": lambda out, source: out.add("Sqrt", out.add("Relu", source)),
    "brlinear": lambda out, source: out.add("Clip", source, out.numbers(0), out.numbers(1)),
}
BUNDLES: dict[str, Row] = {
    "full": _full,
    "filtered": _filtered,
    "bias": _biased,
    "add": _added,
    "convolve": _convolved,
    "max pool": _pooled(taken.most, "MaxPool"),
    "mean pool": _pooled(taken.mean, "AveragePool"),
    "response norm": _response_norm,
    "activation": _activated,
}
