"""Compiling: graph -> layouts -> flat vectors -> buffers -> lists of bound calls."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from netsharp_engine.graph import Graph, GraphError, Node
from netsharp_engine.kernels import KERNELS
from netsharp_engine.kernels.arrays import Array, aligned
from netsharp_engine.kernels.layout import Layout
from netsharp_engine.kernels.losses import LOSSES, LossArrays
from netsharp_engine.kernels.site import Call, Site, Slot, Steps, Tensor
from netsharp_engine.kernels.threads import limit_threads
from netsharp_engine.plan.layouts import choose_layouts
from netsharp_engine.plan.running import Entrance, Plan, Program, Targets
from netsharp_engine.plan.vectors import Vectors

DTYPES: dict[str, Any] = {"float32": np.float32, "float64": np.float64}


def compile_plan(
    graph: Graph,
    batch: int = 32,
    loss: str | None = None,
    dtype: str = "float32",
    training: bool = True,
    threads: int = 1,
) -> Plan:
    """Make a runnable plan of a graph for batches of up to ``batch`` samples.

    ``loss`` is "softmax", "logistic", "squared" or None (no targets, forward only).
    Without ``training`` there is no gradient; with a loss, ``step`` still computes it.
    ``threads`` is that of the matrix products, in the whole process and from now on (see
    ``thread_limit``); with another number sums may round otherwise.  GraphError where the graph
    has no output, or nothing to train.
    """
    if graph.output is None:
        raise GraphError("the graph has no output")
    if loss is not None and loss not in LOSSES:
        raise GraphError(f"there is no loss '{loss}'; known are {', '.join(LOSSES)}")
    limit_threads(threads)
    return _Builder(graph, graph.output, batch, loss, DTYPES[dtype], training).plan()


def _reached(graph: Graph, output: Node) -> list[Node]:
    """The nodes that the output depends on, in topological order."""
    wanted = {output}
    for node in reversed(graph.nodes):
        if node in wanted:
            wanted.update(node.inputs)
    return [node for node in graph.nodes if node in wanted]


class _Builder:
    """The state of one compilation."""

    def __init__(
        self, graph: Graph, output: Node, batch: int, loss: str | None, dtype: Any, training: bool
    ) -> None:
        self.graph, self.output, self.batch = graph, output, batch
        self.loss, self.dtype = loss, dtype
        self.training = training and loss is not None
        self.nodes = _reached(graph, output)
        self.uses = Counter(source for node in self.nodes for source in node.inputs)
        self.layouts = choose_layouts(self.nodes, output)
        self.vectors = Vectors(graph, self.nodes, self.layouts)
        self.weights = aligned((self.vectors.size,), dtype)
        self.gradient = aligned((self.vectors.size,), dtype) if self.training else None
        self.learning = self._learning()
        self.fused = self._fused()
        self.values = self._values()
        self.gradients = self._gradients() if self.training else {}
        self.written: set[object] = set()

    def _learning(self) -> set[Node]:
        """Nodes whose gradient is needed: a parameter lies at or above them."""
        found: set[Node] = set()
        for node in self.nodes:
            if node.parameters or found.intersection(node.inputs):
                found.add(node)
        if self.training and self.output not in found:
            raise GraphError("the network has no weights to train")
        return found if self.training else set()

    def _fused(self) -> bool:
        if self.loss is None or self.output.op != "activation":
            return False
        return bool(self.output.attributes["function"] == LOSSES[self.loss].fuses)

    def _values(self) -> dict[Node, Array]:
        values: dict[Node, Array] = {}
        for node in self.nodes:
            if self._overwrites(node):
                values[node] = values[node.inputs[0]]
            elif node.op == "input" and self._read_by_products_only(node):
                values[node] = aligned((self.batch, node.size), self.dtype).T
            else:
                values[node] = aligned((node.size, self.batch), self.dtype)
        return values

    def _read_by_products_only(self, node: Node) -> bool:
        """Whether the samples of an input may stay rows: a matrix product reads both ways."""
        return all(user.op == "full" for user in self.nodes if node in user.inputs)

    def _overwrites(self, node: Node) -> bool:
        """Whether an elementwise node may write over its first source's values."""
        if node.op == "input" or not KERNELS[node.op].in_place:
            return False
        source = node.inputs[0]
        if self.uses[source] > 1 or source.op == "input" or (self.fused and node is self.output):
            return False
        if node.op == "activation" and not KERNELS[node.op].keeps_output(node):
            return False
        return not (self.training and KERNELS[source.op].keeps_output(source))

    def _gradients(self) -> dict[Node, Array]:
        """A gradient for each learning node; elementwise ones pass theirs on in place."""
        gradients: dict[Node, Array] = {}
        for node in reversed(self.nodes):
            if node not in self.learning:
                continue
            if node not in gradients:
                gradients[node] = aligned((node.size, self.batch), self.dtype)
            if not KERNELS[node.op].in_place:
                continue
            alone = [s for s in node.inputs if self.uses[s] == 1 and s in self.learning]
            for source in alone:
                if len(node.inputs) == 1 or not KERNELS[source.op].in_place:
                    gradients[source] = gradients[node]
        return gradients

    def plan(self) -> Plan:
        """Bind every node and assemble the plan."""
        targets = self._targets() if self.loss is not None else None
        return Plan(
            batch=self.batch,
            weights=self.weights,
            gradient=self.gradient,
            vectors=self.vectors,
            entrances=self._entrances(),
            targets=targets,
            output=self.values[self.output],
            named=self._named(),
            program=self._program(targets),
        )

    def _program(self, targets: Targets | None) -> Program:
        """The calls; in reverse order, for the first writer of a gradient overwrites it."""
        steps = {node: self._bind(node) for node in reversed(self.nodes) if node.op != "input"}
        last = steps.pop(self.output) if self.fused else Steps([], [])
        backward = [call for step in steps.values() for call in step.backward]
        return Program(
            forward=tuple(call for step in reversed(steps.values()) for call in step.forward),
            finish=tuple(last.forward),
            loss=None if targets is None else self._loss_call(targets),
            backward=tuple(backward if self.training else ()),
        )

    def _bind(self, node: Node) -> Steps:
        adds: list[Call] = []
        out = Tensor(self.values[node], self.gradients.get(node), self.layouts[node])
        sources = tuple(self._source(source, adds) for source in node.inputs)
        slots = tuple(self._slot(parameter.name, adds) for parameter in node.parameters)
        site = Site(node.attributes, sources, out, slots, self.dtype, self.batch)
        forward, backward = KERNELS[node.op].bind(site)
        return Steps(forward, backward + adds)

    def _source(self, source: Node, adds: list[Call]) -> Tensor:
        """A source as its consumer sees it; later writers of a gradient get their own."""
        target = self.gradients.get(source)
        if target is not None and self.uses[source] > 1:
            target = self._turn(source, target, adds)
        return Tensor(self.values[source], target, self.layouts[source])

    def _slot(self, name: str, adds: list[Call]) -> Slot:
        span = self.vectors.places[name].slice
        if self.gradient is None:
            return Slot(self.weights[span], None)
        return Slot(self.weights[span], self._turn(name, self.gradient[span], adds))

    def _turn(self, key: object, target: Array, adds: list[Call]) -> Array:
        """The target itself for its first writer; a new array, added to it, for others."""
        if key not in self.written:
            self.written.add(key)
            return target
        own = aligned(target.shape, self.dtype)
        adds.append(partial(np.add, target, own, target))
        return own

    def _entrances(self) -> tuple[Entrance, ...]:
        found, start = [], 0
        for node in self.graph.inputs:
            columns = slice(start, start + node.size)
            start = columns.stop
            if node in self.values:
                found.append(Entrance(self.values[node], columns))
        return tuple(found)

    def _targets(self) -> Targets:
        outputs = self.output.size
        return Targets(
            goal=aligned((outputs, self.batch), self.dtype),
            share=aligned((self.batch,), self.dtype),
            mass=aligned((self.batch,), self.dtype),
            labels=np.zeros(self.batch, dtype=np.int64),
            classes=np.arange(outputs, dtype=np.int64)[:, None],
        )

    def _loss_call(self, targets: Targets) -> Any:
        assert self.loss is not None
        row = LOSSES[self.loss]
        last = self.output.inputs[0] if self.fused else self.output
        shape = (self.output.size, self.batch)
        arrays = LossArrays(
            last=self.values[last],
            output=self.values[self.output] if self.fused else aligned(shape, self.dtype),
            gradient=self.gradients.get(last),
            goal=targets.goal,
            share=targets.share,
            mass=targets.mass,
            spare=aligned(shape, self.dtype),
            line=aligned((self.batch,), self.dtype),
        )
        return partial(row.fused if self.fused else row.plain, arrays)

    def _named(self) -> dict[str, Any]:
        return {
            node.name: partial(_canonical, self.values[node], self.layouts[node])
            for node in self.nodes
            if node.name
        }


def _canonical(values: Array, layout: Layout) -> Array:
    """Values [nodes, samples] of any layout as a copy [samples, nodes] in canonical order."""
    rows = layout.rows
    result = np.empty(values.shape[::-1], dtype=values.dtype)
    result.T[slice(None) if rows is None else rows] = values
    return result
