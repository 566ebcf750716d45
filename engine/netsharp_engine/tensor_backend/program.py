"""A graph of tensors with its update rule, as training knows it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from netsharp_engine.graph import GraphError
from netsharp_engine.ops.tensors import GATHERING, HELD
from netsharp_engine.phases import reaching
from netsharp_engine.planned import Planned
from netsharp_engine.program import REMEMBERS, SINGLE, Fault, Job, Program, Unsupported, UpdateRule
from netsharp_engine.tensor_backend.compiled_updates import CompiledUpdates
from netsharp_engine.tensor_backend.counting import CountingProgram
from netsharp_engine.tensor_backend.kernels.acting import ACTING, STEPWISE
from netsharp_engine.tensor_backend.kernels.rows import Array
from netsharp_engine.tensor_backend.kernels.sparse import TouchedRows, joined
from netsharp_engine.tensor_backend.kernels.table import COMPUTED
from netsharp_engine.tensor_backend.loops import Loop, scheduled
from netsharp_engine.tensor_backend.plan_description import describe_plan
from netsharp_engine.tensor_backend.updates import (
    BeforeUpdate,
    ChangedRows,
    changed,
    finite,
    shorten,
)
from netsharp_engine.tensor_backend.walk import GraphWalk, learning

if TYPE_CHECKING:
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
        """Return the nodes that cannot be computed, with sentences. Raises GraphError where nodes
        depend on themselves in one step.
        """
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

    def planned(self) -> Planned:
        """Return the calls of a step, and memory that is made once. Raises GraphError for a loop
        that cannot be run.
        """
        return describe_plan(self.job)

    def program(self, threads: int = 1, beside: Program | None = None) -> TensorProgram:
        """Make it, with the parameters of ``beside``; products take the threads that there are.
        GraphError where ``beside`` is another back end's.
        """
        if beside is not None and not isinstance(beside, TensorProgram):
            raise GraphError("a graph of tensors shares values with one of its own kind alone")
        return TensorProgram(self.job, None if beside is None else beside.values)


class TensorProgram(CountingProgram):
    """The values of a graph's nodes for the samples that were fed, and of its parameters."""

    _touched = TouchedRows

    def __init__(self, job: Job, values: Tensors | None = None) -> None:
        own: Tensors = {} if values is None else values
        super().__init__(job, GraphWalk(job, own), own)
        self._compiled = CompiledUpdates(self._trained, self._type)
        # The GNU library keeps freed memory up to twice the largest block that ever was; beyond it
        # gives arrays back to the system, which clears each page of the next ones again.
        np.empty(_KEPT, np.uint8)

    def _compute(self, *, learns: bool) -> None:
        self._walk.forward()

    def _differentiated(self) -> dict[str, Gradient]:
        found: dict[str, Gradient] = self._walk.backward()
        return found

    def _joined(self, first: Gradient, second: Gradient, name: str) -> Gradient:
        return joined(first, second, self.values[name].shape)

    def _placed(self, name: str, array: Array) -> Array:
        return array

    def _host(self, value: Array) -> Array:
        return value.copy()

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
