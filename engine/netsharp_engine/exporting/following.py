"""The traversal of a graph that is written in a format: order, loops, folded constants, chosen
steps.

It must not know formats: a class for each writes the values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from netsharp_engine.exporting.choosing import ChosenSteps, chosen_steps, part_of
from netsharp_engine.exporting.refusal import ExportError, refused
from netsharp_engine.exporting.values import STEPWISE, Array, ExportedValue
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors import ENVIRONMENT, HELD
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_engine.tensor_backend.kernels.table import TABLE
from netsharp_engine.tensor_backend.loops import Loop, scheduled

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from netsharp_engine.exporting.portable import Portable

_GATHER, _INDEX, _RECONCILE = "GatherPacked", "PackedIndex", "ReconcileDynamicAxis"

#: Where values of a format are written: a graph or a text that grows.
W = TypeVar("W")
Values = dict[Node, ExportedValue]


def part_that_is_needed(portable: Portable) -> Graph:
    """Return the graph of what the outputs depend on; the choice of steps is not part of it."""
    graph = portable.graph
    gathers = {node: node.inputs[1:] for node in graph.nodes if node.op == _GATHER}
    return part_of(graph, list(portable.outputs), gathers)


def simplified(portable: Portable) -> Portable:
    """Return the same network without nodes that only pass values on, such as the frames of blocks:
    they would hide the operation of a loop. Outputs keep their names.
    """
    passing = ("Pass", "Dropout")
    known: dict[Node, Node] = {}
    copies: list[Node] = []
    for node in portable.graph.nodes:
        copy = Node(node.op, (), node.parameters, node.attributes, node.shape, node.name)
        known[node] = copy
        copies.append(copy)

    def source_of(node: Node) -> Node:
        while node.op in passing:
            node = node.inputs[0]
        return known[node]

    for node in portable.graph.nodes:
        known[node].inputs = tuple(map(source_of, node.inputs))
    outputs = set(portable.outputs)
    graph = Graph()
    graph.nodes = [
        known[node] for node in portable.graph.nodes if node in outputs or node.op not in passing
    ]
    graph.inputs = [known[node] for node in portable.graph.inputs]
    graph.parameters = list(portable.graph.parameters)
    return portable._replace(graph=graph, outputs=tuple(known[one] for one in portable.outputs))


class Following(ABC, Generic[W]):
    """One export of the nodes in ``part``; ``values`` are those that are written.

    ``lead`` is how many axes stand before those of a sample at an input.
    """

    def __init__(self, portable: Portable, part: Graph) -> None:
        self.portable, self.part = portable, part
        self.values: Values = {}
        self.readers: dict[Node, list[Node]] = {}
        for node in part.nodes:
            for source in node.inputs:
                self.readers.setdefault(source, []).append(node)
        along = (*DELAYS, *COLUMNS)
        self.lead = STEPWISE if any(node.op in along for node in part.nodes) else 1

    @abstractmethod
    def top(self) -> W:
        """Return where values outside of loops are written."""

    @abstractmethod
    def begin(self, out: W, node: Node) -> None:
        """Name what follows after a node."""

    @abstractmethod
    def held(self, out: W, node: Node, numbers: Array) -> ExportedValue:
        """Write numbers that all samples share, of the shape of the node."""

    @abstractmethod
    def row(self, out: W, node: Node, sources: Sequence[ExportedValue], lead: int) -> ExportedValue:
        """Write an operation on samples; ExportError where the format has none."""

    @abstractmethod
    def delayed(self, out: W, node: Node, values: Mapping[Node, ExportedValue]) -> ExportedValue:
        """Write a delay outside of loops."""

    @abstractmethod
    def chosen(
        self, out: W, node: Node, source: ExportedValue, steps: ChosenSteps
    ) -> ExportedValue:
        """Write some steps of sequences."""

    @abstractmethod
    def looped(self, loop: Loop, shown: Collection[Node]) -> None:
        """Write a loop, of which these nodes are read outside."""

    @abstractmethod
    def why_not(self, operation: str) -> str:
        """Return why an operation is not written, after its name."""

    def follow(self) -> None:
        """Write all nodes, each after its sources. ExportError where the format cannot hold one.
        Raises GraphError where nodes depend on themselves in one step.
        """
        try:
            order = scheduled(self.portable.graph)
        except GraphError as error:
            raise ExportError(f"{error}.") from None
        wanted = set(self.part.nodes)
        for part in order:
            if isinstance(part, Loop):
                if wanted.intersection(part.nodes):
                    self.looped(part, self._shown(part))
            elif part in wanted and part.op != "input":
                self.values[part] = self.emitted(self.top(), part, self.values)

    def emitted(self, out: W, node: Node, values: Values) -> ExportedValue:
        """Write a node outside of loops, where the values that it reads are known. Raises
        ExportError for a node that the format cannot hold.
        """
        self.begin(out, node)
        if node.op in HELD:
            return self.held(out, node, np.asarray(self._numbers(node)))
        if node.op == ENVIRONMENT:
            return self.held(out, node, np.zeros(node.shape))
        if node.op in COLUMNS:
            return self._columns(out, node, values)
        sources = [values[one] for one in node.inputs]
        if all(one.constant is not None for one in sources) and node.op in TABLE:
            return self.held(out, node, self._folded(node, sources))
        if node.op in DELAYS:
            if sources[0].lead != STEPWISE:
                raise refused(node, f"'{node.inputs[0].name}' has no steps.")
            return self.delayed(out, node, values)
        leads = {one.lead for one in sources if one.lead}
        if len(leads) > 1:
            raise refused(node, "it joins what each step has with what each sequence has once.")
        return self.row(out, node, sources, max(leads, default=0))

    def _shown(self, loop: Loop) -> list[Node]:
        """Return the nodes of a loop that others read, or that are requested."""
        inside, outputs = set(loop.nodes), self.portable.outputs
        return [
            node
            for node in loop.nodes
            if node in outputs or any(one not in inside for one in self.readers.get(node, ()))
        ]

    def _numbers(self, node: Node) -> Array:
        return np.asarray(self.portable.tensors[node.parameters[0].name])

    def _folded(self, node: Node, sources: Sequence[ExportedValue]) -> Array:
        """Return a value that is computed from parameters alone."""
        given = [one.constant[None] for one in sources if one.constant is not None]
        with np.errstate(all="ignore"):
            return TABLE[node.op].forward(node, given)

    def _columns(self, out: W, node: Node, values: Values) -> ExportedValue:
        """Return some steps of sequences; with one of each there is no axis of steps left."""
        if node.op == _RECONCILE:
            first, second = (values[one] for one in node.inputs)
            if first.lead != second.lead:
                raise refused(node, "its sources have other sequences.")
            return first
        if node.op != _GATHER:
            raise refused(node, self.why_not(node.op))
        index, source = node.inputs[0], values[node.inputs[1]]
        if index.op != _INDEX or source.lead != STEPWISE:
            raise refused(node, "its places are not computed by a PackedIndex of its source.")
        found = chosen_steps(self.portable.graph, index.inputs[1], self.portable.tensors)
        return self.chosen(out, node, source, found)
