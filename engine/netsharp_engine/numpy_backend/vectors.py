"""The place of each parameter in the flat vectors, and its order there.

Parameters follow each other in order of creation; inside, the back end chooses an order ("plan
order"). Canonical order is that of files and of the language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.graph import Graph, GraphError, Node, Parameter
from netsharp_engine.numpy_backend.kernels import KERNELS
from netsharp_engine.numpy_backend.kernels.arrays import Array, IntArray
from netsharp_engine.numpy_backend.kernels.layout import Layout


class ParameterSlice(NamedTuple):
    """A parameter's slice, and the canonical index of each number in it (None: the same)."""

    parameter: Parameter
    slice: slice
    order: IntArray | None
    user: Node | None


class Vectors:
    """The parameters of a graph in one flat vector, the ``trained`` numbers first."""

    __slots__ = ("places", "size", "trained")

    def __init__(self, graph: Graph, nodes: list[Node], layouts: Mapping[Node, Layout]) -> None:
        orders: dict[Parameter, tuple[IntArray | None, Node]] = {}
        for node in nodes:
            for parameter in node.parameters:
                order = KERNELS[node.op].weight_order(node, layouts[node.inputs[0]], layouts[node])
                if parameter in orders:
                    _check_shared(parameter, orders[parameter], order, node)
                else:
                    orders[parameter] = (order, node)
        self.trained = sum(each.size for each in graph.parameters if each.trained)
        self.places: dict[str, ParameterSlice] = {}
        starts = {True: 0, False: self.trained}
        for parameter in graph.parameters:
            chosen, user = orders.get(parameter, (None, None))
            start = starts[parameter.trained]
            span = slice(start, start + parameter.size)
            self.places[parameter.name] = ParameterSlice(parameter, span, chosen, user)
            starts[parameter.trained] = span.stop
        self.size = starts[False]

    def same(self, other: Vectors) -> bool:
        """Return whether a flat vector of one is one of the other."""
        return self.places.keys() == other.places.keys() and all(
            mine.slice == theirs.slice
            and (mine.order is theirs.order or np.array_equal(_listed(mine), _listed(theirs)))
            for mine, theirs in zip(self.places.values(), other.places.values(), strict=True)
        )

    def flatten(self, values: Mapping[str, Any], out: Array) -> None:
        """Write canonical arrays to a flat vector in plan order; GraphError on a misfit.

        A vector of the trained numbers takes those alone.
        """
        for name, place in self._inside(out):
            if name not in values:
                raise GraphError(f"there are no values for parameter {name}")
            self.put(place, values[name], out)

    def put(self, place: ParameterSlice, values: Any, out: Array) -> None:
        """Write one parameter's canonical array to its place; GraphError on a misfit. ``out`` is
        [numbers], of all parameters; values have the parameter's shape or are flat.
        """
        given = np.asarray(values)
        if given.shape not in (place.parameter.shape, (place.parameter.size,)):
            raise GraphError(
                f"parameter {place.parameter.name}: values of shape {list(given.shape)} given, "
                f"{list(place.parameter.shape)} needed"
            )
        flat = given.reshape(-1)
        out[place.slice] = flat if place.order is None else flat[place.order]

    def restore(self, vector: Array) -> dict[str, Array]:
        """Return canonical copies, by name, of a flat vector in plan order."""
        found = {}
        for name, place in self._inside(vector):
            flat = np.empty(place.parameter.size, dtype=vector.dtype)
            flat[slice(None) if place.order is None else place.order] = vector[place.slice]
            found[name] = flat.reshape(place.parameter.shape)
        return found

    def _inside(self, vector: Array) -> Iterator[tuple[str, ParameterSlice]]:
        """Return the parameters that a vector holds: all of them, or those that are trained."""
        whole = len(vector) == self.size
        return ((n, p) for n, p in self.places.items() if whole or p.parameter.trained)

    def incoming(self, vector: Array) -> Iterator[Array]:
        """Yield views [rows, fan-in] of the incoming weight vectors, biases left out."""
        for _, place in self._inside(vector):
            kind, shape = place.parameter.kind, place.parameter.shape
            part = vector[place.slice]
            if kind == "kernels":
                yield part[: shape[0] * (shape[1] - 1)].reshape(shape[0], shape[1] - 1)
            elif kind == "weights" and len(shape) == 1:
                yield from _ragged(part, place.user)
            elif kind == "weights":
                yield part.reshape(shape[0], prod(shape[1:]))


def _check_shared(
    parameter: Parameter, known: tuple[IntArray | None, Node], order: IntArray | None, node: Node
) -> None:
    same_kind = known[1].op == node.op
    if not same_kind or not np.array_equal(_whole(known[0], parameter), _whole(order, parameter)):
        raise GraphError(
            f"parameter {parameter.name} is shared by two operations of different structure"
        )


def _listed(place: ParameterSlice) -> IntArray:
    return _whole(place.order, place.parameter)


def _whole(order: IntArray | None, parameter: Parameter) -> IntArray:
    return np.arange(parameter.size, dtype=np.intp) if order is None else order


def _ragged(part: Array, user: Node | None) -> Iterator[Array]:
    """Yield rows of a filtered parameter: neighbours with equally many edges make one view."""
    if user is None:
        return
    owners = np.asarray(user.attributes["edges"][0])
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    lengths = np.diff(starts, append=len(owners))
    blocks = np.flatnonzero(np.diff(lengths, prepend=-1))
    for first, last in zip(blocks, np.append(blocks[1:], len(lengths)), strict=True):
        begin = starts[first]
        end = begin + (last - first) * lengths[first]
        yield part[begin:end].reshape(last - first, lengths[first])
