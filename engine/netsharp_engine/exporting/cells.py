"""Loops that are plain or gated recurrences, recognised by their nodes.

It must not know formats. A plain one is f(inputs + R h); of gated ones h' = (1 - z) c + z h, where
the candidate c reads the state after the gate r, or r is multiplied with the product (Cho and
others, 2014; cuDNN has the second form).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.exporting.values import ExportedValue
from netsharp_engine.ops.tensors.shaping import DELAYS

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node
    from netsharp_engine.tensor_backend.loops import Loop

#: What a plain recurrence may be bounded by.
_BOUNDS = ("Tanh", "Sigmoid", "RectifiedLinear")


class CellPart(NamedTuple):
    """Elements ``begin`` to ``end`` of the vector of a node."""

    node: Node
    begin: int
    end: int


class Gate(NamedTuple):
    """A sum of values outside of the loop and of the state times weights [size, width], of which
    columns are taken.
    """

    outside: tuple[CellPart, ...]
    weights: CellPart


class PlainCell(NamedTuple):
    """A recurrence of one sum, bounded by an operation."""

    bound: str
    gate: Gate
    outputs: Node
    before: Node
    backwards: bool


class GatedCell(NamedTuple):
    """A gated recurrent unit.  Where ``resets_products`` holds, the gate r is multiplied with the
    product, and with ``inner``, which is added to it before.
    """

    update: Gate
    reset: Gate
    candidate: Gate
    inner: tuple[CellPart, ...]
    resets_products: bool
    outputs: Node
    before: Node
    backwards: bool


class _MismatchError(Exception):
    """The loop is something else."""


def recognised_cell(
    loop: Loop, shown: Collection[Node], values: Mapping[Node, ExportedValue]
) -> PlainCell | GatedCell | None:
    """Return the recurrence that a loop is; ``shown`` are its nodes that others read, ``values``
    what is known of the nodes outside.
    """
    delays = [one for one in loop.nodes if one.op in DELAYS]
    if len(delays) != 1 or int(delays[0].attributes.get("timeStep", 1)) != 1:
        return None
    (past,) = delays
    outputs = past.inputs[0]
    if len(past.shape) != 1 or not set(shown) <= {outputs}:
        return None
    for kind in (_Reading.plain, _Reading.gated):
        reading = _Reading(loop, past, values)
        try:
            found = kind(reading, outputs)
        except _MismatchError:
            continue
        if reading.met == set(loop.nodes):
            return found
    return None


class _Reading:
    """One attempt to read a loop's nodes; ``met`` are those that were read."""

    def __init__(self, loop: Loop, past: Node, values: Mapping[Node, ExportedValue]) -> None:
        self._inside, self._past, self._values = set(loop.nodes), past, values
        self._backwards = loop.backwards
        self.met = {past}

    def plain(self, outputs: Node) -> PlainCell:
        """Return the parts of a plain recurrence."""
        if outputs.op not in _BOUNDS:
            raise _MismatchError
        (inner,) = self._sources(outputs, outputs.op)
        return PlainCell(outputs.op, self._gate(inner), outputs, self._past, self._backwards)

    def gated(self, outputs: Node) -> GatedCell:
        """Return the parts of a gated unit."""
        candidate, update = self._mixed(outputs)
        (keep,) = self._sources(update, "Sigmoid")
        (inner,) = self._sources(candidate, "Tanh")
        outside, product = self._terms(inner)
        resets = product.node.op == "ElementTimes"
        if resets:
            reset, given = self._by(product.node, lambda one: one.op == "Sigmoid")
            beside, again = self._terms(given)
            weights = self._weights(again)
        else:
            beside = ()
            matrix, given = self._sources(product.node, "Times")
            reset, _ = self._by(given, lambda one: one is not self._past)
            if self._past not in given.inputs:
                raise _MismatchError
            weights = self._columns(matrix, product.begin, product.end)
        (again_inner,) = self._sources(reset, "Sigmoid")
        return GatedCell(
            self._gate(keep),
            self._gate(again_inner),
            Gate(outside, weights),
            beside,
            resets,
            outputs,
            self._past,
            self._backwards,
        )

    def _mixed(self, outputs: Node) -> tuple[Node, Node]:
        """Return the candidate and the gate of (1 - z) c + z h, or of c + z (h - c)."""
        pair = self._sources(outputs, "Plus")
        for one, other in (pair, pair[::-1]):
            if one.op != "ElementTimes":
                continue
            if self._past in one.inputs:
                update, _ = self._by(one, lambda node: node is not self._past)
                rest, candidate = self._by(other, lambda node: node.op == "Minus")
                whole, again = self._sources(rest, "Minus")
                if again is update and self._is_one(whole):
                    return candidate, update
            elif other.op == "Tanh":
                change, update = self._by(one, lambda node: node.op == "Minus")
                if self._sources(change, "Minus") == (self._past, other):
                    return other, update
        raise _MismatchError

    def _is_one(self, node: Node) -> bool:
        known = self._values.get(node)
        numbers = None if known is None else known.constant
        return numbers is not None and bool((numbers == 1).all())

    def _sources(self, node: Node, op: str) -> tuple[Node, ...]:
        if node.op != op or node not in self._inside:
            raise _MismatchError
        self.met.add(node)
        return node.inputs

    def _by(self, node: Node, is_first: Callable[[Node], bool]) -> tuple[Node, Node]:
        """Return both factors of a product, the one that satisfies ``is_first`` in front."""
        one, other = self._sources(node, "ElementTimes")
        if is_first(one) == is_first(other):
            raise _MismatchError
        return (one, other) if is_first(one) else (other, one)

    def _gate(self, node: Node) -> Gate:
        outside, product = self._terms(node)
        return Gate(outside, self._weights(product))

    def _weights(self, product: CellPart) -> CellPart:
        matrix, given = self._sources(product.node, "Times")
        if given is not self._past:
            raise _MismatchError
        return self._columns(matrix, product.begin, product.end)

    def _columns(self, matrix: Node, begin: int, end: int) -> CellPart:
        size, known = self._past.size, self._values.get(matrix)
        if known is None or known.constant is None or matrix.shape[:1] != (size,):
            raise _MismatchError
        if len(matrix.shape) != 2 or end - begin != size:
            raise _MismatchError
        return CellPart(matrix, begin, end)

    def _terms(self, node: Node) -> tuple[tuple[CellPart, ...], CellPart]:
        """Return the terms of sums of sums and of slices of them: those outside, and the one
        inside.
        """
        found, waiting = [], [CellPart(node, 0, node.size)]
        while waiting:
            one = waiting.pop()
            if len(one.node.shape) != 1:
                raise _MismatchError
            if one.node in self._inside and one.node.op == "Plus":
                terms = self._sources(one.node, "Plus")
                if any(term.shape != one.node.shape for term in terms):
                    raise _MismatchError
                waiting += [CellPart(term, one.begin, one.end) for term in terms]
            elif one.node in self._inside and one.node.op == "Slice":
                (source,) = self._sources(one.node, "Slice")
                begin = int(one.node.attributes["beginIndex"])
                begin += source.size if begin < 0 else 0
                waiting.append(CellPart(source, begin + one.begin, begin + one.end))
            else:
                found.append(one)
        inside = [one for one in found if one.node in self._inside]
        if len(inside) != 1:
            raise _MismatchError
        return tuple(one for one in found if one.node not in self._inside), inside[0]
