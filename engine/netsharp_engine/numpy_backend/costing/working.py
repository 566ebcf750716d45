"""The work of a plan's bound calls, in kinds that are measured: derived from a call's own function,
and the shapes and strides of its arrays, so that no kernel has to describe itself.

It must not know rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.graph import Node
from netsharp_engine.numpy_backend.build import bind_all
from netsharp_engine.numpy_backend.costing.rates import CallWork
from netsharp_engine.numpy_backend.design import Design
from netsharp_engine.numpy_backend.kernels.activations import FUNCTIONS
from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.compiled import SLOPES
from netsharp_engine.numpy_backend.kernels.functions import FUNCTIONS as COMPILED
from netsharp_engine.numpy_backend.kernels.site import Call
from netsharp_engine.numpy_backend.losses import LOSSES

#: Functions of numpy that take as long as a sum: one pass, a number from each source.
PLAIN = frozenset(
    ("add", "subtract", "multiply", "maximum", "equal", "negative", "absolute", "sign", "square")
)
#: What a row of the tables of functions is called as work.
_NAMED: dict[Callable[..., object], str] = {
    **{row.forward: f"{name} forward" for name, row in FUNCTIONS.items()},
    **{row.backward: f"{name} backward" for name, row in FUNCTIONS.items()},
    **{row.fused: f"{name} with its activation" for name, row in LOSSES.items()},
    **{row.plain: name for name, row in LOSSES.items()},
}


#: Those that only copy, and which of their arrays is copied to the next.
_PASSING = {"linear forward": 0, "linear backward": 1}


class NodeWork(NamedTuple):
    """The work of a node's calls in one step."""

    forward: tuple[CallWork, ...]
    backward: tuple[CallWork, ...]


def node_work(design: Design) -> dict[Node, NodeWork]:
    """Return the work of each node of a plan in a step; the output's includes the criterion.

    GraphError where memory for the plan is too small.
    """
    steps, loss = bind_all(design)
    found = {
        node: NodeWork(tuple(map(work_of, one.forward)), tuple(map(work_of, one.backward)))
        for node, one in steps.items()
    }
    if loss is not None:
        forward, backward = found.get(design.output, NodeWork((), ()))
        found[design.output] = NodeWork((*forward, work_of(loss)), backward)
    return found


def work_of(call: Call) -> CallWork:
    """Return the work of a bound call. Raises KeyError for an unknown function."""
    function: Any = call
    args: tuple[Any, ...] = ()
    if isinstance(call, partial):
        function, args = call.func, call.args
    name = getattr(function, "__name__", "")
    if function in _NAMED:
        return _of_function(_NAMED[function], args)
    if name in _CALLS:
        return _CALLS[name](function, args)
    if isinstance(function, np.ufunc):
        arrays = [*args, *getattr(call, "keywords", {}).values()]
        return _elements("sum" if name in PLAIN else name, arrays)
    raise KeyError(name or repr(function))


def entering(design: Design) -> Iterator[CallWork]:
    """Yield the work of copying a batch of rows into the inputs."""
    for node in design.nodes:
        if node.op == "input" and design.is_rows(node):
            yield CallWork("copy", (node.size, node.size * design.batch), node.size * design.batch)
        elif node.op == "input":
            yield CallWork("turned copy", (node.size * design.batch,), node.size * design.batch)
        elif node.op == "Dropout":
            numbers = node.size * design.batch
            yield CallWork("mask", (numbers,), numbers)


def updating(kind: str, size: int) -> CallWork:
    """Return the work of one step of a rule over ``size`` numbers."""
    return CallWork(f"update {kind}", (size,), size)


def _of_function(kind: str, args: Sequence[Any]) -> CallWork:
    first = args[0]
    array = first if isinstance(first, np.ndarray) else first.last
    # A node that passes its values on in place takes no time.
    passes = kind in _PASSING and args[_PASSING[kind]] is args[_PASSING[kind] + 1]
    return CallWork(kind, (array.size,), 0 if passes else array.size)


def _elements(kind: str, values: Sequence[Any]) -> CallWork:
    """Return the work of one pass over arrays that are broadcast to the shape of the last, the
    result.
    """
    arrays = [one for one in values if isinstance(one, np.ndarray) and one.ndim]
    result = arrays[-1]
    spread = [np.broadcast_to(one, result.shape) for one in arrays]
    run = _run(spread)
    if kind not in ("sum", "copy"):
        return CallWork(kind, (result.size,), result.size)
    if not run:
        return CallWork(f"turned {kind}", (result.size,), result.size)
    if kind == "sum" and any(map(_is_spread, spread)):
        return CallWork("biases", (run, result.size), result.size)
    return CallWork(kind, (run, result.size), result.size)


def _is_spread(array: Array) -> bool:
    """Return whether one number is broadcast to several."""
    pairs = zip(array.shape, array.strides, strict=True)
    return any(extent > 1 and not step for extent, step in pairs)


def _run(arrays: Sequence[Array]) -> int:
    """Return the number of contiguous elements in all arrays of a shape; 0: not even two."""
    run = 1
    steps = [one.itemsize for one in arrays]
    order = sorted(range(arrays[0].ndim), key=lambda axis: -arrays[-1].strides[axis])
    for axis in reversed(order):
        extent = arrays[0].shape[axis]
        if extent == 1:
            continue
        strides = [one.strides[axis] for one in arrays]
        if run == 1:
            if not all(s in (0, one.itemsize) for s, one in zip(strides, arrays, strict=True)):
                return 0
            steps = strides
        elif strides != [step * run for step in steps]:
            break
        run *= extent
    return run


def _product(function: Any, args: Sequence[Any]) -> CallWork:
    """Return the work of a matrix product, or of the sums of rows by a column of ones."""
    left, right, out = args
    if right.ndim == 1:
        return CallWork("row sums", (left.size,), left.size)
    rows, depth = left.shape[-2:]
    columns = right.shape[-1]
    turns = f"{'nt'[_is_turned(left)]}{'nt'[_is_turned(right)]}"
    slices = out.size // (rows * columns)
    return CallWork(f"product {turns}", (rows, depth, columns), slices * rows * depth * columns)


def _is_turned(matrix: Array) -> bool:
    """Return whether a matrix is stored column by column."""
    return matrix.shape[-1] > 1 and matrix.strides[-1] != matrix.itemsize


def _compiled_product(function: Any, args: Sequence[Any]) -> CallWork:
    groups, places, rows, depth, columns, *steps = args[:13]
    turns = f"{'nt'[_is_strided(steps[3], depth)]}{'nt'[_is_strided(steps[7], columns)]}"
    units = groups * places * rows * depth * columns
    return CallWork(f"product {turns} compiled", (rows, depth, columns), units)


def _is_strided(step: int, count: int) -> bool:
    """Return whether the numbers of a row are apart in memory, where there are several."""
    return count > 1 and step != 1


def _reduced(function: Any, args: Sequence[Any]) -> CallWork:
    array, axis, _, out = args
    run = _run([array[(slice(None),) * axis + (0,)], out])
    if not run:
        return CallWork("turned sums of rows", (array.size,), array.size)
    return CallWork("sums of rows", (run, array.size), array.size)


def _copied(function: Any, args: Sequence[Any]) -> CallWork:
    places, values = args
    return _elements("copy", [values, places])


def _filled(function: Any, args: Sequence[Any]) -> CallWork:
    return CallWork("fill", (function.__self__.size,), function.__self__.size)


def _scattered(function: Any, args: Sequence[Any]) -> CallWork:
    rows, made = args
    return CallWork("scattered rows", (made.size // len(rows), made.size), made.size)


def _placed(function: Any, args: Sequence[Any]) -> CallWork:
    return CallWork("placed edges", (len(args[1]),), len(args[1]))


def _taken(function: Any, args: Sequence[Any]) -> CallWork:
    values, places, out = args[0], args[1], args[3]
    if values.ndim == 1 or args[2] is None:
        return CallWork("picked edges", (out.size,), out.size)
    return CallWork("gathered rows", (out.size // len(places), out.size), out.size)


def _cells(args: Sequence[Any]) -> int:
    """Return the number of cells that all windows of a twin's call have, in all samples."""
    _, samples, table, spans = args[:4]
    ends = np.cumsum(table[:, 0])
    lengths = np.split(spans[:, 1] - spans[:, 0], ends[:-1])
    return int(samples * prod(int(one.sum()) for one in lengths))


def _windows(kind: str) -> Callable[[Any, Sequence[Any]], CallWork]:
    def found(function: Any, args: Sequence[Any]) -> CallWork:
        source = next(one for one in args[4:] if isinstance(one, np.ndarray))
        return CallWork(kind, (source.size,), _cells(args))

    return found


def _pooled(back: str) -> Callable[[Any, Sequence[Any]], CallWork]:
    kinds = tuple(f"{what} pool {back}" for what in ("max", "mean"))

    def found(function: Any, args: Sequence[Any]) -> CallWork:
        return CallWork(kinds[bool(args[4])], (args[-1].size,), _cells(args))

    return found


def _dotted(function: Any, args: Sequence[Any]) -> CallWork:
    return CallWork("dot", (args[0].size,), args[0].size)


def _updated(function: Any, args: Sequence[Any]) -> CallWork:
    return updating(args[0].kind, function.__self__.size)


def _sloped(function: Any, args: Sequence[Any]) -> CallWork:
    return CallWork(f"{SLOPES[args[1]]} slope", (args[-1].size,), args[-1].size)


def _applied(function: Any, args: Sequence[Any]) -> CallWork:
    return CallWork(f"{COMPILED[args[1]]} compiled", (args[-1].size,), args[-1].size)


def _transferred(kind: str) -> Callable[[Any, Sequence[Any]], CallWork]:
    """Return the function that gives the work of the methods of a node that is looked up in a
    table.
    """

    def found(function: Any, args: Sequence[Any]) -> CallWork:
        size = function.__self__.x.size
        return CallWork(kind, (size,), size)

    return found


_CALLS: Mapping[str, Callable[[Any, Sequence[Any]], CallWork]] = {
    "matmul": _product,
    "product": _compiled_product,
    "reduce": _reduced,
    "copyto": _copied,
    "fill": _filled,
    "__setitem__": _scattered,
    "put": _placed,
    "take": _taken,
    "dot": _dotted,
    "update": _updated,
    "look_up": _transferred("looked up"),
    "track": _transferred("range of values"),
    "pass_back": _transferred("looked up backward"),
    "draw_mask": lambda function, args: CallWork("mask", (args[1].size,), args[1].size),
    "plan_pooled": _pooled("forward"),
    "plan_pooled_back": _pooled("backward"),
    "plan_normed": _windows("norm forward"),
    "plan_normed_back": _windows("norm backward"),
    "plan_sloped": _sloped,
    "plan_applied": _applied,
}
