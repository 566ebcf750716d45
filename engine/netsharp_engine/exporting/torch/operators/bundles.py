"""The operations of layers of Net# in PyTorch: bundles, biases, sums and activations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from netsharp_engine.exporting.places import cells, centres
from netsharp_engine.exporting.refusal import refused
from netsharp_engine.exporting.torch.operators import walking
from netsharp_engine.exporting.torch.operators.products import linear
from netsharp_engine.exporting.torch.operators.rows import BiasedRow, Row
from netsharp_engine.exporting.torch.source import Expression, call, numbers
from netsharp_engine.exporting.torch.writing import TorchWriting
from netsharp_engine.exporting.values import Array, ExportedValue
from netsharp_engine.geometry import product
from netsharp_engine.nodes import Node

if TYPE_CHECKING:
    from netsharp_engine.geometry import Axis

#: A filtered bundle is written as a matrix up to this number of cells (4 MiB in float32), or from
#: this share of edges on, as the engine computes it (numpy_backend/kernels/filtered).
_CELLS, _SHARE = 1 << 20, 0.03


def _weights(out: TorchWriting, node: Node) -> Array:
    return out.parameter(node.parameters[0].name).reshape(node.parameters[0].shape)


def _fitted(out: TorchWriting, found: Expression, node: Node) -> Expression:
    """Return a result [n, nodes] in the shape of a layer."""
    if len(node.shape) == 1:
        return found
    return out.shaped(out.let(found), (node.size,), node.shape)


def _shown(node: Node) -> str:
    return node.name or node.parameters[0].name


def _full(
    out: TorchWriting, node: Node, sources: Sequence[ExportedValue], bias: Array | None = None
) -> Expression:
    key = ("full", node.parameters[0], None if bias is None else bias.tobytes())
    layer = linear(out, key, _shown(node), _weights(out, node).T, bias)
    return _fitted(out, call(layer, out.flattened(sources[0])), node)


def _filtered(
    out: TorchWriting, node: Node, sources: Sequence[ExportedValue], bias: Array | None = None
) -> Expression:
    """Return a filtered bundle as a matrix with zeros; where those would be too many, as products
    that are added by index.
    """
    destinations, origins = (np.asarray(one, np.int64) for one in node.attributes["edges"])
    weights, given = _weights(out, node).reshape(-1), out.flattened(sources[0])
    many = node.size * node.inputs[0].size
    if many <= _CELLS or len(weights) >= _SHARE * many:
        matrix = np.zeros((node.inputs[0].size, node.size), weights.dtype)
        matrix[origins, destinations] = weights
        key = ("filtered", node, None if bias is None else bias.tobytes())
        return _fitted(out, call(linear(out, key, _shown(node), matrix, bias), given), node)
    whence, where = (
        out.tensor(one, f"{_shown(node)}/{name}", whole=True)
        for name, one in (("origins", origins), ("destinations", destinations))
    )
    factor = out.tensor(weights, f"{_shown(node)}/weights")
    parts = out.let(f"{given}[:, {whence}] * {factor}")
    zeros = out.let(call(f"{parts}.new_zeros", f"len({parts})", str(node.size)))
    found: Expression = call(f"{zeros}.index_add", "1", where, parts)
    if bias is not None:
        found = f"{out.let(found)} + {out.tensor(bias.reshape(-1), f'{_shown(node)}/bias')}"
    return _fitted(out, found, node)


def _biased(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    bias = out.tensor(_weights(out, node).reshape(node.shape), node.parameters[0].name)
    return f"{out.read(sources[0])} + {bias}"


def _added(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    found = ""
    for one in sources:
        part = out.shaped(out.read(one), one.shape, node.shape)
        # Many layers may lead here: a statement for each keeps them readable.
        found = part if not found else out.let(f"{found} + {part}")
    return found


def _convolved(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    """Return a convolution by a layer of PyTorch where it moves along three axes at most, else by
    cells.
    """
    attributes, weights = node.attributes, _weights(out, node)
    axes: tuple[Axis, ...] = attributes["axes"]
    kernel = tuple(axis.kernel for axis in axes)
    shared = all(
        flag or axis.count == 1 for flag, axis in zip(attributes["sharing"], axes, strict=True)
    )
    first = axes[0]
    whole = len(axes) > 1 and first.count == 1 and first.kernel == first.size and not first.first
    walked = axes[1:] if whole else axes
    if not shared or len(walked) > walking.MOST_AXES:
        flat_image = out.let(out.flattened(sources[0]))
        found = walking.by_cells(
            out, _shown(node), flat_image, axes, attributes["sharing"], attributes["maps"], weights
        )
        made = tuple(one * axis.count for one, axis in zip(attributes["maps"], axes, strict=True))
        return out.shaped(found, made, node.shape)
    maps, taps = product(attributes["maps"]), product(kernel)
    sizes = tuple(axis.size for axis in axes)
    image = out.shaped(out.read(sources[0]), sources[0].shape, sizes)
    image = out.let(image if whole else f"{image}.unsqueeze(1)")
    kernels = weights[:, :taps].reshape(maps, *(kernel if whole else (1, *kernel)))
    key = ("convolution", node.parameters[0])
    found = out.let(
        walking.convolution(out, key, _shown(node), image, walked, kernels, weights[:, taps])
    )
    counts = [axis.count for axis in axes]
    if product(attributes["maps"][1:]) == 1:
        made = (maps, *counts[1:]) if whole else (maps, *counts)
        return out.shaped(found, made, node.shape)
    return out.shaped(
        walking.arranged(out, found, counts, attributes["maps"], places_first=False),
        tuple(one * count for one, count in zip(attributes["maps"], counts, strict=True)),
        node.shape,
    )


def _pooled(most: bool) -> Row:
    def row(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
        axes: tuple[Axis, ...] = node.attributes["axes"]
        if len(axes) > walking.MOST_AXES:
            flat_image = out.let(out.flattened(sources[0]))
            return _fitted(out, walking.pooled_by_cells(out, flat_image, axes, most=most), node)
        sizes = tuple(axis.size for axis in axes)
        image = out.shaped(out.read(sources[0]), sources[0].shape, sizes)
        image = out.let(f"{image}.unsqueeze(1)")
        found = out.let(walking.pooled(out, node.name, image, axes, most=most))
        counts = tuple(axis.count for axis in axes)
        return out.shaped(f"{found}.squeeze(1)", counts, node.shape)

    return row


def _response_norm(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    """Return x (offset + alpha / N * sum of squares)^-beta, x at the centre of the kernel."""
    attributes = node.attributes
    axes: tuple[Axis, ...] = attributes["axes"]
    given = out.let(out.flattened(sources[0]))
    seen = walking.windows(out, out.let(f"{given} * {given}"), axes)
    inside = (cells(axes) >= 0).sum(1)
    full = np.full(len(inside), product(tuple(axis.kernel for axis in axes)))
    count = full if attributes["over_full_kernel"] else inside
    share = out.tensor(float(attributes["alpha"]) / count, f"{node.name}/share")
    base = out.let(f"{seen}.sum(-1) * {share} + {float(attributes['offset'])!r}")
    middle = out.tensor(centres(axes), f"{node.name}/centres", whole=True)
    found = f"{given}[:, {middle}] * {base}.pow({-float(attributes['beta'])!r})"
    return _fitted(out, found, node)


def _activated(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    source, function = out.read(sources[0]), node.attributes["function"]
    if function == "softmax":
        found = call("F.softmax", out.flattened(sources[0]), dim="-1")
        if len(node.shape) == 1:
            return found
        return call("torch.unflatten", out.let(found), "-1", numbers(node.shape))
    if function not in _FUNCTIONS:
        raise refused(node, f"nothing of PyTorch is written for the activation '{function}' yet.")
    return _FUNCTIONS[function].format(source)


_FUNCTIONS = {
    "linear": "{0}",
    "sigmoid": "torch.sigmoid({0})",
    "rlinear": "F.relu({0})",
    # As it is for large numbers, where F.softplus is linear.
    "srlinear": "F.softplus({0}, threshold=50)",
    "abs": "torch.abs({0})",
    "tanh": "torch.tanh({0})",
    "square": "torch.square({0})",
    "sqrt": "torch.sqrt(F.relu({0}))",
    "brlinear": "{0}.clamp(0, 1)",
}
#: Those that a bias may join, which the next node adds.
BIASED: dict[str, BiasedRow] = {"full": _full, "filtered": _filtered}
BUNDLES: dict[str, Row] = {
    "full": _full,
    "filtered": _filtered,
    "bias": _biased,
    "add": _added,
    "convolve": _convolved,
    "max pool": _pooled(True),
    "mean pool": _pooled(False),
    "response norm": _response_norm,
    "activation": _activated,
}
