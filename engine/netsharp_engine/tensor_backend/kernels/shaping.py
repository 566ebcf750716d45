"""Kernels of operations that arrange, choose, compare or sum up elements of each sample.

CNTK counts a tensor's axes from 1, the fastest first: its axis a is numpy's -a.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netsharp_engine.nodes import Node
from netsharp_engine.tensor_backend.kernels.elements import aligned, exp, log, unary
from netsharp_engine.tensor_backend.kernels.rows import (
    Array,
    Backward,
    Sources,
    TensorKernel,
    total,
)


def _stretched(source: Array, rank: int) -> Array:
    """The same numbers with so many axes behind that of samples."""
    lacking = rank + 1 - source.ndim
    return source.reshape(len(source), *(1,) * lacking, *source.shape[1:])


def _range(node: Node) -> tuple[Any, ...]:
    axis, size = node.attributes["axis"], node.inputs[0].shape[-node.attributes["axis"]]
    begin, end = node.attributes["beginIndex"], node.attributes["endIndex"]
    chosen = slice(begin + size if begin < 0 else begin, end if end > 0 else end + size)
    return (..., chosen, *(slice(None),) * (axis - 1))


def _slice_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found = np.zeros_like(sources[0])
    found[_range(node)] = gradient
    return found


def _window(node: Node) -> tuple[Any, ...]:
    """Where the first source is cut."""
    (right, down), (height, width) = node.attributes["offsets"], node.shape[-2:]
    return (..., slice(down, down + height), slice(right, right + width))


def _crop(node: Node, sources: Sources) -> Array:
    """Of as many samples as there are of both sources."""
    found = sources[0][_window(node)]
    count = max(map(len, sources))
    return found if len(found) == count else np.broadcast_to(found, (count, *found.shape[1:]))


def _crop_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    """The original sets the whole gradient of its source; here others are added to it."""
    found = np.zeros((len(gradient), *sources[0].shape[1:]), gradient.dtype)
    found[_window(node)] = gradient
    return found


def _stack(node: Node, sources: Sources) -> Array:
    axis, rank = node.attributes["axis"], len(node.shape)
    count = max(map(len, sources))
    parts = []
    for source in (_stretched(one, rank) for one in sources):
        shape = [count, *node.shape]
        shape[-axis] = source.shape[-axis]
        parts.append(np.broadcast_to(source, shape))
    return np.concatenate(parts, axis=-axis)


def stack_back(number: int) -> Backward:
    """The part of one source."""

    def back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
        axis = node.attributes["axis"]
        sizes = [1 if len(one.shape) < axis else one.shape[-axis] for one in node.inputs]
        begin = sum(sizes[:number])
        chosen = (..., slice(begin, begin + sizes[number]), *(slice(None),) * (axis - 1))
        found: Array = gradient[chosen]
        return found

    return back


def _axes(node: Node) -> tuple[int, ...]:
    axis = int(node.attributes["axis"])
    return (-axis,) if axis else tuple(range(1, len(node.inputs[0].shape) + 1))


def _reduce(node: Node, sources: Sources) -> Array:
    z, kind, axes = sources[0], node.attributes["reductionOp"], _axes(node)
    if kind in ("Sum", "Plus", "Mean"):
        found = total(z, axes, keep=True)
        if kind == "Mean":
            found = found * z.dtype.type(node.size / node.inputs[0].size)
    elif kind == "LogSum":
        most = z.max(axes, keepdims=True)
        found = most + log(total(exp(z - most), axes, keep=True))
    else:
        found = z.max(axes, keepdims=True) if kind == "Max" else z.min(axes, keepdims=True)
    return found.reshape(-1, *node.shape)


def _reduce_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    z, kind = sources[0], node.attributes["reductionOp"]
    kept = list(z.shape)
    for axis in _axes(node):
        kept[axis] = 1
    by, y = gradient.reshape(-1, *kept[1:]), value.reshape(-1, *kept[1:])
    if kind in ("Max", "Min"):
        by = by * (z == y)
    elif kind == "LogSum":
        by = by * exp(z - y)
    elif kind == "Mean":
        by = by * z.dtype.type(node.size / node.inputs[0].size)
    return np.broadcast_to(by, z.shape)


def _swapped(node: Node, values: Array, rank: int) -> Array:
    first, second = node.attributes["axis1"], node.attributes["axis2"]
    return _stretched(values, rank).swapaxes(-first, -second)


def _transpose_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    return _swapped(node, gradient, len(node.shape)).reshape(-1, *sources[0].shape[1:])


def _hardmax(z: Array) -> Array:
    flat = z.reshape(len(z), -1)
    found = np.zeros_like(flat)
    found[np.arange(len(flat)), flat.argmax(1)] = 1
    return found.reshape(z.shape)


def _chosen(node: Node, sources: Sources) -> Array:
    condition, first, second = aligned(sources)
    return np.where(condition != 0, first, second)


def _chosen_back(number: int) -> Backward:
    def back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
        condition = aligned(sources)[0] != 0
        return np.where(condition == (number == 1), gradient, gradient.dtype.type(0))

    return back


def _clipped(node: Node, sources: Sources) -> Array:
    least, most, z = aligned(sources)
    found: Array = np.minimum(np.maximum(z, least), most)
    return found


def _clipped_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found: Array = gradient * (aligned(sources)[2] == value)
    return found


def _compared(compare: Callable[[Array, Array], Array]) -> TensorKernel:
    def forward(node: Node, sources: Sources) -> Array:
        first, second = aligned(sources)
        return compare(first, second).astype(first.dtype)

    return TensorKernel(forward, (None, None))


def _repeated(node: Node, sources: Sources) -> Array:
    flat = sources[0].reshape(len(sources[0]), -1)
    return np.tile(flat, node.attributes["numRepeats"]).reshape(-1, *node.shape)


def _repeated_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    copies = gradient.reshape(len(gradient), node.attributes["numRepeats"], -1)
    return total(copies, (1,)).reshape(-1, *node.inputs[0].shape)


def _diagonal(node: Node, sources: Sources) -> Array:
    return np.diagonal(sources[0], axis1=1, axis2=2)[..., None]


def _diagonal_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found: Array = gradient * np.eye(node.shape[0], dtype=gradient.dtype)
    return found


def _column_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    by = gradient.reshape(-1, *(1,) * len(node.inputs[0].shape))
    return np.broadcast_to(by, sources[0].shape)


SHAPING: dict[str, TensorKernel] = {
    "Slice": TensorKernel(lambda node, sources: sources[0][_range(node)], (_slice_back,)),
    "Crop": TensorKernel(_crop, (_crop_back, None)),
    "RowStack": TensorKernel(_stack, ()),
    "TransposeDimensions": TensorKernel(
        lambda node, sources: _swapped(node, sources[0], len(node.shape)), (_transpose_back,)
    ),
    "ReduceElements": TensorKernel(_reduce, (_reduce_back,)),
    "SumColumnElements": TensorKernel(
        lambda node, sources: total(sources[0].reshape(len(sources[0]), -1), (1,), keep=True),
        (_column_back,),
    ),
    "RowRepeat": TensorKernel(_repeated, (_repeated_back,)),
    "Diagonal": TensorKernel(_diagonal, (_diagonal_back,)),
    "Hardmax": TensorKernel(lambda node, sources: _hardmax(sources[0]), (None,)),
    "If": TensorKernel(_chosen, (None, _chosen_back(1), _chosen_back(2))),
    "Clip": TensorKernel(_clipped, (None, None, _clipped_back)),
    "Floor": TensorKernel(lambda node, sources: np.floor(sources[0]), (None,)),
    "Sin": unary(np.sin, lambda z, y, g: g * np.cos(z)),
    "Cosine": unary(np.cos, lambda z, y, g: -g * np.sin(z)),
    "Less": _compared(np.less),
    "LessEqual": _compared(np.less_equal),
    "Equal": _compared(np.equal),
    "NotEqual": _compared(np.not_equal),
    "GreaterEqual": _compared(np.greater_equal),
    "Greater": _compared(np.greater),
}
