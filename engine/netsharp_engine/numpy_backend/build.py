"""Compiling: graph -> layouts -> flat vectors -> buffers -> lists of bound calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from netsharp_engine.analysis import Analysis
from netsharp_engine.dropping import Draw
from netsharp_engine.graph import Graph, GraphError, Node
from netsharp_engine.numpy_backend.design import Design, unsupported
from netsharp_engine.numpy_backend.kernels import KERNELS
from netsharp_engine.numpy_backend.kernels.arrays import Array, aligned
from netsharp_engine.numpy_backend.kernels.joining import joined
from netsharp_engine.numpy_backend.kernels.layout import Layout
from netsharp_engine.numpy_backend.kernels.site import Call, Site, Slot, Steps, Tensor
from netsharp_engine.numpy_backend.kernels.threads import limit_threads
from netsharp_engine.numpy_backend.losses import LOSSES, LossArrays
from netsharp_engine.numpy_backend.running import Calls, Entrance, Plan, Targets
from netsharp_engine.numpy_backend.vectors import Vectors
from netsharp_engine.room import require_room

DTYPES: dict[str, Any] = {"float32": np.float32, "float64": np.float64}
SMALLER = "Make the layers or the kernels smaller."


class Weighing(Protocol):
    """A plan's weights, as another plan may share them; see ``Plan``."""

    weights: Array

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the dtype of the weights."""

    @property
    def vectors(self) -> Vectors:
        """Return the places of the parameters."""


def compile_plan(
    graph: Graph,
    batch: int = 32,
    criterion: str | None = None,
    dtype: str = "float32",
    training: bool = True,
    threads: int = 1,
) -> Plan:
    """Make a runnable plan of a graph for batches of up to ``batch`` samples.

    ``criterion`` of the output is an operation, or None (no targets, forward only).
    Without ``training`` there is no gradient; ``step`` still computes the criterion.
    ``threads``: see ``build_plan``.  GraphError where the graph has no output, nothing to train, or
    takes more memory than there is.
    """
    design = design_plan(graph, batch, criterion, dtype, training)
    require_room("The network", [design.needs()], SMALLER)
    return build_plan(design, threads)


def design_plan(
    graph: Graph,
    batch: int = 32,
    criterion: str | None = None,
    dtype: str = "float32",
    training: bool = True,
) -> Design:
    """Return the decisions for a plan of ``compile_plan``. GraphError as there."""
    if criterion is not None:
        graph = graph.with_criteria(criterion)
    analysis = Analysis(graph, training and bool(graph.criteria))
    for found in unsupported(analysis):
        raise GraphError(found.reason, found.node.origin)
    return Design(analysis, batch, dtype)


def build_plan(design: Design, threads: int = 1, beside: Weighing | None = None) -> Plan:
    """Make the plan that was designed; whether it has room is the caller's question.

    ``beside`` is a plan whose weights it shares; GraphError where they lie in another order there.

    ``threads`` is that of the matrix products, in the whole process and from now on (see
    ``thread_limit``); with another number sums may round otherwise.
    """
    limit_threads(threads)
    return _Builder(design, beside).plan()


def bind_all(design: Design) -> tuple[dict[Node, Steps], Callable[[], float] | None]:
    """Return the calls of each node of a design, and that of its criterion, on memory that no
    caller reads.

    No page of it is touched: the calls serve to predict their cost.
    """
    builder = _Builder(design, None)
    targets = builder.targets() if design.loss is not None else None
    steps = builder.steps()
    if design.fused:
        del steps[design.output]
    return steps, None if targets is None else builder.loss_call(targets)


class _Builder:
    """The arrays of one design."""

    def __init__(self, design: Design, beside: Weighing | None) -> None:
        self.design = design
        self.graph, self.output, self.batch = design.graph, design.output, design.batch
        self.nodes, self.uses, self.layouts = design.nodes, design.uses, design.layouts
        self.loss, self.fused, self.training = design.loss, design.fused, design.training
        self.dtype = DTYPES[design.dtype]
        self.vectors = Vectors(self.graph, self.nodes, self.layouts)
        if beside is None:
            self.weights = aligned((self.vectors.size,), self.dtype)
        elif beside.dtype == self.dtype and beside.vectors.same(self.vectors):
            self.weights = beside.weights
        else:
            raise GraphError("the weights of these plans lie in different orders")
        self.gradient = aligned((self.vectors.size,), self.dtype) if self.training else None
        self.trained = slice(0, self.vectors.trained)
        self.masked: list[Callable[[Draw | None, int], object]] = []
        own = {node: self._own(node) for node, place in design.values.items() if place is node}
        self.values = {node: own[place] for node, place in design.values.items()}
        own = {
            node: aligned((node.size, self.batch), self.dtype)
            for node, place in design.gradients.items()
            if place is node
        }
        self.gradients = {node: own[place] for node, place in design.gradients.items()}
        self.written: set[object] = set()

    def _own(self, node: Node) -> Array:
        """Return the array of a node's values."""
        if self.design.is_rows(node):
            return aligned((self.batch, node.size), self.dtype).T
        return aligned((node.size, self.batch), self.dtype)

    def plan(self) -> Plan:
        """Bind every node and assemble the plan."""
        targets = self.targets() if self.loss is not None else None
        return Plan(
            batch=self.batch,
            weights=self.weights,
            gradient=None if self.gradient is None else self.gradient[self.trained],
            vectors=self.vectors,
            entrances=self._entrances(),
            targets=targets,
            node=self.output,
            output=self.values[self.output],
            shown=self._shown(),
            calls=self._calls(targets),
            masked=self.masked,
        )

    def _calls(self, targets: Targets | None) -> Calls:
        """Return the calls; in reverse order, because the first writer of a gradient overwrites
        it.
        """
        steps = self.steps()
        last = steps.pop(self.output) if self.fused else Steps([], [])
        backward = [call for step in steps.values() for call in step.backward]
        return Calls(
            forward=tuple(
                joined(call for step in reversed(steps.values()) for call in step.forward)
            ),
            finish=tuple(last.forward),
            loss=None if targets is None else self.loss_call(targets),
            backward=tuple(backward if self.training else ()),
        )

    def steps(self) -> dict[Node, Steps]:
        """Return the calls of each node, the last first."""
        return {node: self._bind(node) for node in reversed(self.nodes) if node.op != "input"}

    def _bind(self, node: Node) -> Steps:
        adds: list[Call] = []
        out = Tensor(self.values[node], self.gradients.get(node), self.layouts[node])
        sources = tuple(self._source(source, adds) for source in node.inputs)
        slots = tuple(self._slot(parameter.name, adds) for parameter in node.parameters)
        site = Site(node.attributes, sources, out, slots, self.dtype, self.batch)
        forward, backward, masked = KERNELS[node.op].bind(site)
        if masked is not None:
            self.masked.append(masked)
        return Steps(forward, backward + adds)

    def _source(self, source: Node, adds: list[Call]) -> Tensor:
        """Return a source as its consumer sees it; later writers of a gradient get buffers of their
        own.
        """
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
        """Return the target itself for its first writer; for others a new array that is added to
        it.
        """
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
                found.append(Entrance(node.name, self.values[node], columns))
        return tuple(found)

    def targets(self) -> Targets:
        """Return the arrays that the criterion compares outputs with."""
        outputs = self.output.size
        return Targets(
            goal=aligned((outputs, self.batch), self.dtype),
            share=aligned((self.batch,), self.dtype),
            mass=aligned((self.batch,), self.dtype),
            labels=np.zeros(self.batch, dtype=np.int64),
            classes=np.arange(outputs, dtype=np.int64)[:, None],
        )

    def loss_call(self, targets: Targets) -> Any:
        """Return the call that computes the criterion, and the gradient where there is one."""
        assert self.loss is not None
        row = LOSSES[self.loss.op]
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

    def _shown(self) -> dict[Node, Any]:
        return {
            node: partial(_canonical, self.values[node], self.layouts[node]) for node in self.nodes
        }


def _canonical(values: Array, layout: Layout) -> Array:
    """Return values [nodes, samples] of any layout as a copy [samples, nodes] in canonical
    order.
    """
    rows = layout.rows
    result = np.empty(values.shape[::-1], dtype=values.dtype)
    result.T[slice(None) if rows is None else rows] = values
    return result
