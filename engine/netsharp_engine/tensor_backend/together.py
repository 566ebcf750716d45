"""Nodes that are computed together: values between them are computed only on request.

Each kind has the results of its nodes computed one by one, in arrays that are kept from one call to
the next. It must not know loops or update rules.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from netsharp_engine.graph import Graph, Node
from netsharp_engine.ops.tensors import HELD
from netsharp_engine.ops.tensors.shaping import DELAYS
from netsharp_engine.packing import Packing, single
from netsharp_engine.tensor_backend.kernels import convolution, sequences, sparse
from netsharp_engine.tensor_backend.kernels.elements import exp, log_softmax, one_number
from netsharp_engine.tensor_backend.kernels.rows import Array, Room, total

if TYPE_CHECKING:
    from netsharp_engine.program import Tensors


class Walked(Protocol):
    """The part of a walk that nodes see."""

    found: dict[Node, Array]
    packings: dict[Node, Packing | None]
    values: Tensors

    def dense(self, node: Node) -> Array:
        """Return the value of a node, [columns, *shape]."""

    def entries(self, node: Node) -> sparse.Entries | None:
        """Return the value of an input if it is sparse, else None."""


class Together(ABC):
    """Some nodes: ``shown`` is the one whose value is made, ``hidden`` are the others."""

    shown: Node
    hidden: tuple[Node, ...] = ()

    @abstractmethod
    def forward(self, around: Walked) -> bool:
        """Find the value; False where these samples are to be computed node by node."""

    @abstractmethod
    def backward(self, around: Walked, gradient: Array) -> Iterator[tuple[Node, Any]]:
        """Yield the gradients of sources that learn; only after ``forward`` has computed the value.
        ``gradient`` and what is yielded are [columns, *shape]; a parameter's is [1, *shape].
        """


class Affine(Together):
    """A product with a matrix that all samples share, and a bias.

    ``deferred``: the only reader makes the sums itself, of what is ``given`` after ``forward``
    (rows, matrix and bias; None where they are computed node by node), and their gradients, too.
    """

    def __init__(self, times: Node, plus: Node, bias: Node, learning: set[Node]) -> None:
        self.shown, self.hidden = plus, (times,)
        self.deferred = False
        self.given: tuple[Array, Array, Array] | None = None
        self.weights, self.source = times.inputs
        self.bias, self._learning = bias, learning
        self.inner, self._width = self.source.size, plus.size
        self._names = self.weights.parameters[0].name, bias.parameters[0].name
        self._out, self._back = Room(), Room()

    def forward(self, around: Walked) -> bool:
        """Compute the sums; not those that all samples share, nor those of sparse sources."""
        source, self.given = self.source, None
        packing = around.packings[source]
        if packing is None or (source not in around.found and around.entries(source) is not None):
            return False
        rows = around.dense(source).reshape(-1, self.inner)
        weights, bias = (around.values[name] for name in self._names)
        weights = weights.reshape(self.inner, self._width)
        around.packings[self.shown] = packing
        if self.deferred:
            self.given = rows, weights, bias
            return True
        out = self._out.of((packing.columns, self._width), bias.dtype)
        np.dot(rows, weights, out)
        out += bias.reshape(-1)
        sequences.without_gaps(out, packing)
        around.found[self.shown] = out.reshape(-1, *self.shown.shape)
        return True

    def backward(self, around: Walked, gradient: Array) -> Iterator[tuple[Node, Any]]:
        """Yield the gradients of bias, matrix and source. Gradients are [columns, *shape]; those of
        parameters have their shape after a 1.
        """
        by, back = gradient.reshape(-1, self._width), None
        if self.source in self._learning:
            weights = around.values[self._names[0]].reshape(self.inner, self._width)
            back = self._back.of((len(by), self.inner), by.dtype)
            np.dot(by, weights.T, back)
            sequences.without_gaps(back, around.packings[self.source])
        rows = around.found[self.source].reshape(-1, self.inner)
        yield from self.shared(lambda: total(by, (0,)), lambda: rows.T @ by, back)

    def shared(
        self, by_bias: Callable[[], Array], by_weights: Callable[[], Array], back: Array | None
    ) -> Iterator[tuple[Node, Any]]:
        """Yield gradients for those that learn, computed where they do; ``back`` is that of the
        source.
        """
        if self.bias in self._learning:
            yield self.bias, by_bias().reshape(1, *self.bias.shape)
        if self.weights in self._learning:
            yield self.weights, by_weights().reshape(1, *self.weights.shape)
        if back is not None:
            yield self.source, back.reshape(-1, *self.source.shape)


class Rectified(Together):
    """A convolution with a bias of each map and a rectifier."""

    def __init__(self, filtered: Node, plus: Node, shown: Node, learning: set[Node]) -> None:
        self.shown, self.hidden = shown, (filtered, plus)
        self._filtered, self._learning = filtered, learning
        self._weights, self._source = filtered.inputs
        self._bias = next(one for one in plus.inputs if one is not filtered)

    def forward(self, around: Walked) -> bool:
        """Find the value; not where some columns are gaps, nor where no twin does it."""
        packing = around.packings[self._source]
        if packing is None or len(packing.gaps):
            return False
        weights, bias = (
            around.values[one.parameters[0].name] for one in (self._weights, self._bias)
        )
        images = around.dense(self._source)
        found = convolution.rectified(self._filtered, weights, bias, images)
        if found is None:
            return False
        around.found[self.shown], around.packings[self.shown] = found, packing
        return True

    def backward(self, around: Walked, gradient: Array) -> Iterator[tuple[Node, Any]]:
        """Yield the gradients of biases, weights and images. Gradients are [columns, *shape]."""
        node, value = self._filtered, around.found[self.shown]
        by, sums = convolution.rectified_back(node, value, gradient)
        if self._bias in self._learning:
            yield self._bias, sums.reshape(1, *self._bias.shape)
        weights = around.values[self._weights.parameters[0].name][None]
        sources = weights, around.dense(self._source)
        for source, back in zip(
            node.inputs, convolution.CONVOLUTION["Convolution"].backward, strict=True
        ):
            if source in self._learning and back is not None:
                yield source, back(node, sources, value, by)


class Chosen(Together):
    """Rows of a matrix that sparse samples choose, each sample at most one."""

    def __init__(self, times: Node, learning: set[Node]) -> None:
        self.shown = times
        self._weights, self._source = times.inputs
        self._name, self._inner = self._weights.parameters[0].name, sparse.inner(times)
        self._learns, self._out = self._weights in learning, Room()

    def forward(self, around: Walked) -> bool:
        """Find the rows; not where a sample has several numbers. Raises IndexError for a row that
        the matrix does not have.
        """
        entries, packing = around.entries(self._source), around.packings[self._source]
        if entries is None or packing is None:
            return False
        matrix = around.values[self._name].reshape(self._inner, -1)
        out = self._out.of((packing.columns, matrix.shape[1]), matrix.dtype)
        if not sparse.rows_of(matrix, entries, out):
            return False
        around.found[self.shown] = out.reshape(-1, *self.shown.shape)
        around.packings[self.shown] = packing
        return True

    def backward(self, around: Walked, gradient: Array) -> Iterator[tuple[Node, Any]]:
        """Yield the gradient of the rows that were chosen. Gradients are [columns, *shape]."""
        entries = around.entries(self._source)
        if self._learns and entries is not None:
            yield self._weights, sparse.times_back(entries, gradient)


class Ends(Together):
    """The last or the first step of each sequence, gathered where a delay has its border's
    value.
    """

    def __init__(self, gather: Node, hidden: Sequence[Node], flags: Node, zero: Node) -> None:
        self.shown, self.hidden = gather, tuple(hidden)
        self._source, self._last = gather.inputs[1], flags.op == DELAYS[1]
        self._width = self._source.size
        self._zero = zero.parameters[0].name
        outside = (one for node in hidden for one in node.inputs if one not in hidden)
        self._along = [one for one in outside if one.op not in HELD]
        self._back = Room()
        self._filled: tuple[Array, Array] | None = None
        self._columns = np.zeros(0, np.intp)

    def forward(self, around: Walked) -> bool:
        """Find the steps; not where a sequence is cut or empty, or flags are other ones."""
        packing = around.packings[self._source]
        if packing is None or packing.before is not None or not packing.length.all():
            return False
        apart = any(around.packings[one] is not packing for one in self._along)
        if apart or around.values[self._zero].any():
            return False
        step = packing.begin + packing.length - 1 if self._last else packing.begin
        self._columns = step * packing.rows + packing.row
        around.found[self.shown] = around.dense(self._source)[self._columns]
        around.packings[self.shown] = single(len(packing.length))
        return True

    def backward(self, around: Walked, gradient: Array) -> Iterator[tuple[Node, Any]]:
        """Yield the gradient of the source that was gathered from. Gradients are [columns,
        *shape].
        """
        packing = around.packings[self._source]
        assert packing is not None
        width = self._width
        if self._filled is not None:  # The buffer is 0 except for this.
            array, columns = self._filled
            array[columns] = 0
        back = self._back.of((packing.columns, width), gradient.dtype)
        back[self._columns] = gradient.reshape(-1, width)
        self._filled = back, self._columns
        yield self._source, back.reshape(-1, *self._source.shape)


class Entropy(Together):
    """A cross entropy of labels and a softmax, whose logarithm is kept for the gradient."""

    def __init__(self, criterion: Node, learning: set[Node]) -> None:
        self.shown = criterion
        self._learns = criterion.inputs[1] in learning
        self._labels, self._source = criterion.inputs
        self._kept: tuple[Array, Array] | None = None

    def forward(self, around: Walked) -> bool:
        """Find the sum; not where sequences have gaps between them."""
        labels, source = (around.packings[one] for one in (self._labels, self._source))
        if labels is None or source is None or len(source.gaps) or not source.same(labels):
            return False
        logs = log_softmax(around.dense(self._source))
        known = around.dense(self._labels).reshape(logs.shape)
        self._kept = known, logs
        around.found[self.shown] = one_number(total(-(known * logs)))
        around.packings[self.shown] = None
        return True

    def backward(self, around: Walked, gradient: Array) -> Iterator[tuple[Node, Any]]:
        """Yield the gradient by the softmax's source, by CNTK's rule. Gradients are [columns,
        *shape].
        """
        if self._kept is None or not self._learns:
            return
        labels, logs = self._kept
        found = exp(logs)
        found -= labels
        found *= gradient[0]
        yield self._source, found


def together(graph: Graph, nodes: Sequence[Node], learning: set[Node]) -> list[Together]:
    """Return the groups of ``nodes``, which are in no loop, that can be computed together."""
    users: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        for source in node.inputs:
            users.setdefault(source, []).append(node)
    ends = {*graph.criteria, *(() if graph.output is None else (graph.output,))}
    inside = set(nodes)

    def only_for(node: Node, others: Collection[Node]) -> bool:
        return node in inside and node not in ends and all(one in others for one in users[node])

    found: list[Together] = []
    for node in nodes:
        kind = _KINDS.get(node.op)
        one = None if kind is None else kind(node, only_for, learning)
        if one is not None:
            found.append(one)
    return found


def _is_held(node: Node) -> bool:
    return node.op == HELD[0]


def _affine(node: Node, only_for: OnlyFor, learning: set[Node]) -> Together | None:
    for times, bias in (node.inputs, node.inputs[::-1]):
        if times.op != "Times" or not _is_held(bias) or bias.size != node.size:
            continue
        weights, source = times.inputs
        alone = int(times.attributes.get("outputRank", 1)) == len(times.shape)
        plain = alone and _is_held(weights) and weights.size == source.size * times.size
        if plain and times.shape == node.shape and only_for(times, (node,)):
            return Affine(times, node, bias, learning)
    return None


def _rectified(node: Node, only_for: OnlyFor, learning: set[Node]) -> Together | None:
    plus = node.inputs[0]
    if plus.op != "Plus" or not only_for(plus, (node,)):
        return None
    for one, bias in (plus.inputs, plus.inputs[::-1]):
        if one.op != "Convolution" or not convolution.is_plain(one):
            continue
        if not _is_held(bias) or not _is_held(one.inputs[0]):
            continue
        attributes, a_map = one.attributes, (one.shape[0], *(1,) * (len(one.shape) - 1))
        plain = not attributes["transpose"] and not attributes["channels_last"]
        of_maps = (
            attributes["maps"] == a_map and attributes["axes"][0].count == 1 and bias.shape == a_map
        )
        if plain and of_maps and one.shape == node.shape and only_for(one, (plus,)):
            return Rectified(one, plus, node, learning)
    return None


def _chosen(node: Node, only_for: OnlyFor, learning: set[Node]) -> Together | None:
    weights, source = node.inputs
    plain = source.op == "input" and _is_held(weights) and sparse.takes_sparse(node)
    return Chosen(node, learning) if plain and sparse.inner(node) == source.size else None


def _entropy(node: Node, only_for: OnlyFor, learning: set[Node]) -> Together | None:
    labels, source = node.inputs
    fits = labels not in learning and labels.size == source.size
    return Entropy(node, learning) if fits else None


#: What flags of a border may be made of: nothing of it acts, or is anything but 0 before the delay.
_FLAGS = ("PackedIndex", "Where", *DELAYS, "SumColumnElements", "ElementTimes", "Slice")


def _ends(node: Node, only_for: OnlyFor, learning: set[Node]) -> Together | None:
    index = node.inputs[0]
    if index.op != "PackedIndex" or index.inputs[1].op != "Where":
        return None
    flags = index.inputs[1].inputs[0]
    plain = flags.op in DELAYS and abs(sequences.offset(flags)) == 1 and len(flags.inputs) == 1
    if not plain or not flags.attributes.get("initial", 0.0):
        return None
    at, between = flags.inputs[0], [flags, index.inputs[1], index]
    while at.op in ("SumColumnElements", "Slice"):
        between.append(at)
        at = at.inputs[0]
    zeros = [one for one in at.inputs if _is_held(one) and not one.parameters[0].trained]
    if at.op != "ElementTimes" or not zeros:
        return None
    hidden: list[Node] = []
    waiting = [index]
    while waiting:
        one = waiting.pop()
        if one.op in _FLAGS and only_for(one, (*hidden, node)):
            hidden.append(one)
            waiting += one.inputs
    if not {at, *between} <= set(hidden):
        return None
    return Ends(node, hidden[::-1], flags, zeros[0])


OnlyFor = Callable[[Node, Collection[Node]], bool]
_KINDS: Mapping[str, Callable[[Node, OnlyFor, set[Node]], Together | None]] = {
    "Plus": _affine,
    "RectifiedLinear": _rectified,
    "Times": _chosen,
    "LookupTable": _chosen,
    "CrossEntropyWithSoftmax": _entropy,
    "GatherPacked": _ends,
}
