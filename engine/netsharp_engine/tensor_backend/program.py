"""A graph of tensors with its update rule, as training knows it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.graph import GraphError, Node, Parameter
from netsharp_engine.ops.tensors import GATHERING, HELD
from netsharp_engine.phases import Phase, gathered, reaching
from netsharp_engine.program import (
    REMEMBERS,
    SINGLE,
    Batch,
    Fault,
    Figures,
    Job,
    Memory,
    Program,
    Unsupported,
    UpdateRule,
)
from netsharp_engine.tensor_backend.compiled_updates import CompiledUpdates
from netsharp_engine.tensor_backend.kernels.acting import ACTING, STEPWISE
from netsharp_engine.tensor_backend.kernels.rows import Array
from netsharp_engine.tensor_backend.kernels.sparse import TouchedRows, joined
from netsharp_engine.tensor_backend.kernels.table import COMPUTED
from netsharp_engine.tensor_backend.loops import Loop, scheduled
from netsharp_engine.tensor_backend.updates import (
    BeforeUpdate,
    ChangedRows,
    changed,
    finite,
    shorten,
)
from netsharp_engine.tensor_backend.walk import GraphWalk, learning

if TYPE_CHECKING:
    from netsharp_engine.packing import Indices
    from netsharp_engine.program import Tensors
    from netsharp_engine.tensor_backend.kernels.sparse import Gradient

#: Bytes: the largest block that counts there is 32 MiB with its head.
_KEPT = 31 << 20
_WIDTHS = {"float32": 4, "float64": 8}


class TensorDraft:
    """The facts of a job."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def unsupported(self) -> Sequence[Unsupported]:
        """Return the nodes that cannot be computed, with sentences."""
        found = [
            Unsupported(node, f"{node.name or node.op}: '{node.op}' cannot be computed yet.")
            for node in self.job.graph.nodes
            if node.op != "input" and node.op not in COMPUTED
        ]
        loops = (part for part in scheduled(self.job.graph) if isinstance(part, Loop))
        return [*found, *self._without_gradient()] + [
            Unsupported(
                node,
                f"{node.name}: '{node.op}' in a loop over time joins samples of one step, and CNTK "
                "does not compute it there. Put it in front of the loop.",
            )
            for loop in loops
            for node in loop.nodes
            if node.op in ACTING and node.op not in STEPWISE
        ]

    def _without_gradient(self) -> Iterator[Unsupported]:
        """Yield the nodes that are computed forward only and that training would have to pass."""
        graph = self.job.graph
        if (
            self.job.rule is None
            or not graph.criteria
            or not any(node.op in GATHERING for node in graph.nodes)
        ):
            return
        learns, way = learning(graph), reaching(graph.criteria[0])
        for node in graph.nodes:
            if node.op in GATHERING and node in learns and node in way:
                yield Unsupported(
                    node,
                    f"{node.name}: '{node.op}' has no gradient, as in CNTK, and the criterion that "
                    "is trained depends on it. Make it part of an evaluation node.",
                )

    def needs(self, *, shares: bool = False, threads: int = 1) -> Counter[str]:
        """Return the bytes of values and gradients, and of parameters with the rule's memory."""
        job, width = self.job, _WIDTHS[self.job.dtype]
        found = Counter[str]()
        for node in job.graph.nodes:
            # The values of parameters are there once, and counted below.
            rows = 0 if node.op in HELD else job.rows
            found[f"node '{node.name}'"] += node.size * rows * width * (1 + bool(job.rule))
        kept = set(REMEMBERS[job.rule.kind]) - SINGLE if job.rule else ()
        copies = (not shares) + bool(job.rule) + len(kept)
        for parameter in job.graph.parameters:
            found[f"node '{parameter.name}'"] += parameter.size * width * copies
        return found

    def program(self, threads: int = 1, beside: Program | None = None) -> TensorProgram:
        """Make it, with the parameters of ``beside``; products take the threads that there are.
        GraphError where ``beside`` is another back end's.
        """
        if beside is not None and not isinstance(beside, TensorProgram):
            raise GraphError("a graph of tensors shares values with one of its own kind alone")
        return TensorProgram(self.job, None if beside is None else beside.values)


class TensorProgram:
    """The values of a graph's nodes for the samples that were fed, and of its parameters.

    Sums of criteria are in the type of the numbers, as CNTK counts them: in float32 a reported
    figure has seven digits.
    """

    def __init__(self, job: Job, values: Tensors | None = None) -> None:
        self.values: Tensors = {} if values is None else values
        self._graph, self._rule = job.graph, job.rule
        self._type: Any = np.dtype(job.dtype).type
        self._trained = [one for one in job.graph.parameters if one.trained]
        self._walk = GraphWalk(job, self.values)
        self._compiled = CompiledUpdates(self._trained, self._type)
        # The GNU library keeps freed memory up to twice the largest block that ever was; beyond it
        # gives arrays back to the system, which clears each page of the next ones again.
        np.empty(_KEPT, np.uint8)
        self._gathered = gathered(job.graph)
        self._gradients: dict[str, Gradient] = {}
        self._adds = False
        self._updates = 0
        self._memory: dict[str, Tensors] = {}
        self._sums: list[Any] = []
        self._rows = self._steps = 0
        self._fault: Fault | None = None
        self.load_memory(Memory(0, {}))
        self.count(Figures())

    def begin(self, phase: Phase) -> None:
        """Take the settings of an epoch."""
        self._walk.begin(phase)

    def feed(self, batch: Batch) -> None:
        """Take values [rows, nodes] for every input; GraphError for others."""
        self._walk.feed(batch)
        self._adds = batch.adds

    def forward(self) -> None:
        """Compute all nodes."""
        self._walk.forward()

    def step(self) -> bool:
        """Compute nodes and gradient, and count the criteria."""
        if self._fault is not None:
            return False
        self.forward()
        criteria = self._graph.criteria
        told = self._walk.sums()
        if criteria and not np.isfinite(told[0]):
            self._fault = Fault("loss", self._walk.first_fault())
            return False
        if self._rule is not None:
            before, self._gradients = self._gradients, self._walk.backward()
            if self._adds:
                for name, gradient in before.items():
                    shape = self.values[name].shape
                    self._gradients[name] = joined(gradient, self._gradients[name], shape)
        self._sums = [
            self._type(new if one in self._gathered else known + new)
            for one, known, new in zip(criteria, self._sums, told, strict=True)
        ]
        self._rows += self._walk.samples
        self._steps += 1
        return True

    def exchange_gradient(
        self, exchange: Callable[[Sequence[Array]], object], *, fresh: bool
    ) -> None:
        """Let the gradient be replaced by the sum of those of several programs.

        Of one that touches few rows those are touched that any of them has.
        """
        given = [self._gradients.get(one.name) if fresh else None for one in self._trained]
        sizes = [one.size for one in self._trained]
        ends = np.cumsum(sizes)
        flat = np.zeros(ends[-1] if sizes else 0, self._type)
        kinds = np.zeros((2, len(sizes)))
        parts = np.split(flat, ends[:-1])
        for place, (one, part) in enumerate(zip(given, parts, strict=True)):
            if isinstance(one, TouchedRows):
                part.reshape(-1, one.values.shape[1])[one.places] = one.values
                kinds[:, place] = 1, one.values.shape[1]
            elif one is not None:
                part[:] = one.reshape(-1)
        exchange((flat, kinds.reshape(-1)))
        for parameter, part, (sparse, columns) in zip(
            self._trained, parts, kinds.T.tolist(), strict=True
        ):
            self._gradients[parameter.name] = part.reshape(parameter.shape)
            if sparse:
                rows = part.reshape(-1, int(columns / sparse))
                places = np.flatnonzero(rows.any(axis=1))
                self._gradients[parameter.name] = TouchedRows(places, rows[places])

    def update(self, rule: UpdateRule) -> bool:
        """Change the parameters by the rule."""
        if self._fault is not None:
            return False
        if rule.shaping.total < math.inf:
            shorten(rule.shaping.total, self._gradients)
        if self._compiled.takes(rule, self._gradients):
            fresh = not self._updates
            given = self.values, self._gradients, self._memory
            with np.errstate(all="ignore"):
                wrong = self._compiled.apply(rule, *given, fresh)
            if wrong is not None:
                self._fault = Fault("weight", wrong)
                return False
            self._updates += 1
            return True
        return self._update_plainly(rule)

    def _update_plainly(self, rule: UpdateRule) -> bool:
        """Update in numpy, parameter by parameter; return whether all numbers are finite."""
        moved: Tensors = {}
        rows: dict[str, ChangedRows] = {}
        kept: dict[str, Tensors] = {}
        with np.errstate(all="ignore"):
            for parameter in self._trained:
                name = parameter.name
                known = {kind: found[name] for kind, found in self._memory.items()}
                gradient, touched = self._gradients[name], None
                if isinstance(gradient, TouchedRows):
                    touched, gradient = gradient
                before = BeforeUpdate(
                    self.values[name], gradient, rule.rate, known, not self._updates, touched
                )
                found = changed(rule, before, name)
                if isinstance(found, ChangedRows):
                    rows[name], values = found, found.values
                else:
                    values, kept[name] = found
                    moved[name] = values
                if not finite(values):
                    self._fault = Fault("weight", parameter)
                    return False
        self.values.update(moved)
        for name, remembered in kept.items():
            for kind, one in remembered.items():
                self._memory[kind][name] = one
        for name, some in rows.items():
            some.put(self.values[name], {kind: one[name] for kind, one in self._memory.items()})
        self._updates += 1
        return True

    def count(self, figures: Figures) -> None:
        """Go on counting from these figures."""
        self._sums = [self._type(one) for one in figures.sums or (0.0,) * self._criteria]
        self._rows, self._steps = figures.rows, figures.steps
        self._fault = None

    def figures(self) -> Figures:
        """Return the figures that were counted."""
        sums = tuple(map(float, self._sums))
        return Figures(sums, float(self._rows), self._rows, self._steps, self._fault)

    @property
    def _criteria(self) -> int:
        return len(self._graph.criteria)

    def read(self, node: Node) -> Array:
        """Return the values [rows, nodes] of a node; one row of a value that all samples share."""
        return self._walk.read(node)

    def lengths(self, node: Node) -> Indices | None:
        """Return the number of samples of ``read`` for each sequence, [sequences]; None for a value
        that all share.
        """
        packing = self._walk.packing_of(node)
        return None if packing is None else packing.length

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all parameters; GraphError names a misfit."""
        for parameter in self._graph.parameters:
            self.values[parameter.name] = self._canonical(parameter, values)

    def store(self) -> Tensors:
        """Return copies of all parameters."""
        return {one.name: self.values[one.name].copy() for one in self._graph.parameters}

    def load_memory(self, memory: Memory) -> None:
        """Go on from there; without all that the rule remembers, from nothing."""
        kinds = REMEMBERS[self._rule.kind] if self._rule is not None else ()
        known = memory.arrays.keys() >= set(kinds)
        self._updates = memory.updates if known else 0
        self._memory = {
            kind: {
                one.name: self._recalled(kind, one, memory.arrays[kind] if known else {})
                for one in self._trained
            }
            for kind in kinds
        }

    def store_memory(self) -> Memory:
        """Return copies of the rule's memory."""
        arrays = {
            kind: {name: one.copy() for name, one in found.items()}
            for kind, found in self._memory.items()
        }
        return Memory(self._updates, arrays)

    def _recalled(self, kind: str, parameter: Parameter, given: Mapping[str, Any]) -> Array:
        """Return the rule's memory of a parameter; zeros where none is given."""
        if kind in SINGLE:
            return np.array(given.get(parameter.name, 0.0), np.float64).reshape(1)
        if not given:
            return np.zeros(parameter.shape, self._type)
        return self._canonical(parameter, given)

    def _canonical(self, parameter: Parameter, values: Mapping[str, Any]) -> Array:
        if parameter.name not in values:
            raise GraphError(f"there are no values for parameter {parameter.name}")
        given = np.array(values[parameter.name], self._type)
        if given.size != parameter.size:
            raise GraphError(
                f"parameter {parameter.name}: values of shape {list(given.shape)} given, "
                f"{list(parameter.shape)} needed"
            )
        return given.reshape(parameter.shape)
