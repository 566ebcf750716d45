"""Kernels of operations that arrange, choose, compare or sum up elements of each sample.

CNTK counts a tensor's axes from 1, the fastest first: its axis a is numpy's -a. Source: CNTK,
ComputationNetworkLib/ReshapingNodes.h.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netsharp_engine.graph import GraphError
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.choosing import FILLED
from netsharp_engine.ops.tensors.shaping import sliced_cells
from netsharp_engine.tensor_backend.kernels.elements import aligned, exp, log, unary
from netsharp_engine.tensor_backend.kernels.rows import (
    Array,
    Backward,
    Sources,
    TensorKernel,
    total,
)


def _stretched(source: Array, rank: int) -> Array:
    """Return the same numbers with ``rank`` axes after that of samples."""
    lacking = rank + 1 - source.ndim
    return source.reshape(len(source), *(1,) * lacking, *source.shape[1:])


def _range(node: Node) -> tuple[Any, ...]:
    return (..., sliced_cells(node), *(slice(None),) * (node.attributes["axis"] - 1))


def _slice_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found = np.zeros_like(sources[0])
    found[_range(node)] = gradient
    return found


def _window(node: Node) -> tuple[Any, ...]:
    """Return the index that cuts the first source."""
    (right, down), (height, width) = node.attributes["offsets"], node.shape[-2:]
    return (..., slice(down, down + height), slice(right, right + width))


def _crop(node: Node, sources: Sources) -> Array:
    """Return the first source, cut, for as many samples as both sources have."""
    found = sources[0][_window(node)]
    count = max(map(len, sources))
    return found if len(found) == count else np.broadcast_to(found, (count, *found.shape[1:]))


def _crop_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    """Return the gradient by the first source. CNTK overwrites the whole gradient of its source;
    here others are added to it.
    """
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
    """Return the function that takes one source's part of a gradient."""

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
    elif kind == "Prod":
        found = np.multiply.reduce(z, axes, np.float64, keepdims=True).astype(z.dtype)
    elif kind in _PLACES:
        flat = z if len(axes) == 1 else z.reshape(len(z), -1)
        found = _PLACES[kind](flat, axis=axes[0] if len(axes) == 1 else 1).astype(z.dtype)
    else:
        found = z.max(axes, keepdims=True) if kind == "Max" else z.min(axes, keepdims=True)
    return found.reshape(-1, *node.shape)


#: Reductions to the place of an element, the first of equal ones.
_PLACES: dict[str, Callable[..., Any]] = {"Argmax": np.argmax, "Argmin": np.argmin}


def _others(z: Array, y: Array, axes: tuple[int, ...]) -> Array:
    """Return the product of all other elements, also where some are 0."""
    none = z == 0
    count = none.sum(axes, keepdims=True)
    rest = np.multiply.reduce(np.where(none, 1, z), axes, np.float64, keepdims=True)
    found = np.where(none, np.where(count == 1, rest, 0), y / np.where(none, 1, z))
    return found.astype(z.dtype)


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
    elif kind == "Prod":
        by = by * _others(z, y, _axes(node))
    elif kind in _PLACES:
        by = np.zeros_like(by)
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


def _classes(node: Node, sources: Sources) -> Array:
    """Return 1 where the whole part of a number is the class; 0 everywhere for any other number."""
    at = len(node.shape) + 1 - node.attributes["axis"]
    found = np.expand_dims(np.trunc(sources[0]), at)
    sides = [1] * found.ndim
    sides[at] = node.attributes["classes"]
    marked: Array = found == np.arange(sides[at]).reshape(sides)
    return marked.astype(sources[0].dtype)


_MODES = ("constant", "reflect", "symmetric")


def _pads(node: Node) -> list[tuple[int, int]]:
    pairs = zip(node.attributes["head"], node.attributes["foot"], strict=True)
    return [*pairs][::-1]


def _pad(node: Node, sources: Sources) -> Array:
    mode, pads = node.attributes["mode"], [(0, 0), *_pads(node)]
    if mode == FILLED:
        return np.pad(sources[0], pads, constant_values=node.attributes["value"])
    found: Array = np.pad(sources[0], pads, _MODES[mode])  # type: ignore[call-overload]
    return found


def _pad_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    """Return the gradient of padding: each cell gets the sum over the cells that show it."""
    size, mode = node.inputs[0].size, node.attributes["mode"]
    numbers = np.arange(size).reshape(node.inputs[0].shape)
    if mode == FILLED:
        cells = np.pad(numbers, _pads(node), constant_values=size)
    else:
        cells = np.pad(numbers, _pads(node), _MODES[mode])  # type: ignore[call-overload]
    found = np.zeros((size + 1, len(gradient)), gradient.dtype)
    np.add.at(found, cells.reshape(-1), gradient.reshape(len(gradient), -1).T)
    return found[:size].T.reshape(-1, *node.inputs[0].shape)


def _order(node: Node, sources: Sources) -> Array:
    """Return the places of the largest elements along the last axis; the first of equal ones
    first.
    """
    found: Array = np.argsort(-sources[0], axis=-1, kind="stable")[..., : node.attributes["count"]]
    return found


def _top(node: Node, sources: Sources) -> Array:
    order = _order(node, sources)
    if node.attributes["places"]:
        return order.astype(sources[0].dtype)
    return np.take_along_axis(sources[0], order, -1)


def _top_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found = np.zeros_like(sources[0])
    if not node.attributes["places"]:
        np.put_along_axis(found, _order(node, sources), gradient, -1)
    return found


def _looked_up(node: Node, sources: Sources) -> tuple[Array, ...]:
    """Return the sample and the row of the reference that each number selects. GraphError for a
    number out of range.
    """
    indices, reference = sources
    rows = np.trunc(indices)
    if not ((rows >= 0) & (rows < reference.shape[1])).all():
        wrong = rows[~((rows >= 0) & (rows < reference.shape[1]))][0]
        raise GraphError(
            f"'{node.name}' looks up number {wrong:g}, and '{node.inputs[1].name}' has "
            f"{reference.shape[1]} of them"
        )
    samples = np.arange(len(reference)).reshape(-1, *(1,) * (rows.ndim - 1))
    return tuple(np.broadcast_arrays(samples, rows.astype(np.intp)))


def _gather(node: Node, sources: Sources) -> Array:
    found: Array = sources[1][_looked_up(node, sources)]
    return found


def _gather_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found = np.zeros(sources[1].shape, gradient.dtype)
    np.add.at(found, _looked_up(node, sources), gradient)
    return found


def _filled(node: Node, sources: Sources) -> Array:
    return np.full_like(sources[0], node.attributes["value"])


def _identity(node: Node, sources: Sources) -> Array:
    rows, columns = node.shape
    one: Array = np.eye(rows, columns, dtype=sources[0].dtype)
    return np.broadcast_to(one, (len(sources[0]), *node.shape))


SHAPING: dict[str, TensorKernel] = {
    "OneHot": TensorKernel(_classes, (None,)),
    "Pad": TensorKernel(_pad, (_pad_back,)),
    "TopK": TensorKernel(_top, (_top_back,)),
    "Gather": TensorKernel(_gather, (None, _gather_back)),
    "ConstantOp": TensorKernel(_filled, (None,)),
    "EyeLike": TensorKernel(_identity, (None,)),
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
