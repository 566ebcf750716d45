"""What programs of CNTK's networks share on every device: sums of criteria, gradients that several
processes add up, parameters and the state of the rule.

It must not know where values are: a back end computes them, and says how it keeps an array.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.graph import GraphError, Node, Parameter
from netsharp_engine.phases import Phase, gathered
from netsharp_engine.program import REMEMBERS, SINGLE, Batch, Fault, Figures, Job, Memory
from netsharp_engine.tensor_backend.kernels.rows import Array

if TYPE_CHECKING:
    from netsharp_engine.packing import Indices
    from netsharp_engine.program import Tensors


class CountingProgram(ABC):
    """A graph of tensors whose nodes a ``walk`` computes, with the parameters' ``values``.

    Sums of criteria are in the type of the numbers, as CNTK counts them: in float32 a reported
    figure has seven digits.
    """

    #: The type of a gradient that is 0 except for some rows: ``places`` and ``values``.
    _touched: type[Any]

    def __init__(self, job: Job, walk: Any, values: dict[str, Any]) -> None:
        self.values = values
        self._graph, self._rule, self._walk = job.graph, job.rule, walk
        self._type: Any = np.dtype(job.dtype).type
        self._trained = [one for one in job.graph.parameters if one.trained]
        self._gathered = gathered(job.graph)
        self._gradients: dict[str, Any] = {}
        self._adds = False
        self._updates = 0
        self._memory: dict[str, dict[str, Any]] = {}
        self._sums: list[Any] = []
        self._rows = self._steps = 0
        self._fault: Fault | None = None
        self.load_memory(Memory(0, {}))
        self.count(Figures())

    @abstractmethod
    def _compute(self, *, learns: bool) -> None:
        """Compute all nodes; ``learns``: gradients are needed afterwards."""

    @abstractmethod
    def _differentiated(self) -> dict[str, Any]:
        """Return the gradient of the first criterion by each trained parameter."""

    @abstractmethod
    def _joined(self, first: Any, second: Any, name: str) -> Any:
        """Return the sum of two gradients of a parameter."""

    @abstractmethod
    def _placed(self, name: str, array: Array) -> Any:
        """Return a host's array of a parameter as this back end keeps it."""

    @abstractmethod
    def _host(self, value: Any) -> Array:
        """Return a copy of values on the host."""

    def begin(self, phase: Phase) -> None:
        """Take the settings of an epoch."""
        self._walk.begin(phase)

    def feed(self, batch: Batch) -> None:
        """Take values [rows, nodes] for every input; GraphError for others."""
        self._walk.feed(batch)
        self._adds = batch.adds

    def forward(self) -> None:
        """Compute all nodes."""
        self._compute(learns=False)

    def step(self) -> bool:
        """Compute nodes and gradient, and count the criteria."""
        if self._fault is not None:
            return False
        self._compute(learns=self._rule is not None)
        criteria, sums = self._graph.criteria, self._walk.sums()
        if criteria and not math.isfinite(sums[0]):
            self._fault = Fault("loss", self._walk.first_fault())
            return False
        if self._rule is not None:
            before, self._gradients = self._gradients, self._differentiated()
            for name, gradient in before.items() if self._adds else ():
                self._gradients[name] = self._joined(gradient, self._gradients[name], name)
        self._sums = [
            self._type(new if one in self._gathered else known + self._type(new))
            for one, known, new in zip(criteria, self._sums, sums, strict=True)
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
        ends = np.cumsum([0, *(one.size for one in self._trained)])
        flat = np.zeros(ends[-1], self._type)
        kinds = np.zeros((2, len(self._trained)))
        parts = [flat[begin:end] for begin, end in pairwise(ends)]
        for place, (one, part) in enumerate(zip(self._trained, parts, strict=True)):
            gradient = self._gradients.get(one.name) if fresh else None
            if isinstance(gradient, self._touched):
                width = gradient.values.shape[1]
                part.reshape(-1, width)[gradient.places] = self._host(gradient.values)
                kinds[:, place] = 1, width
            elif gradient is not None:
                part[:] = self._host(gradient).reshape(-1)
        exchange((flat, kinds.reshape(-1)))
        for one, part, (some, columns) in zip(self._trained, parts, kinds.T.tolist(), strict=True):
            if some:
                rows = part.reshape(-1, int(columns / some))
                places = np.flatnonzero(rows.any(axis=1))
                values = self._placed(one.name, rows[places])
                self._gradients[one.name] = self._touched(places, values)
            else:
                self._gradients[one.name] = self._placed(one.name, part.reshape(one.shape))

    def count(self, figures: Figures) -> None:
        """Continue counting from these figures."""
        self._sums = [self._type(one) for one in figures.sums or (0.0,) * len(self._graph.criteria)]
        self._rows, self._steps = figures.rows, figures.steps
        self._fault = None

    def figures(self) -> Figures:
        """Return the figures that were counted."""
        sums = tuple(map(float, self._sums))
        return Figures(sums, float(self._rows), self._rows, self._steps, self._fault)

    def read(self, node: Node) -> Array:
        """Return the values [rows, nodes] of a node; one row of a value that all samples share."""
        found: Array = self._walk.read(node)
        return found

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
        return {one.name: self._host(self.values[one.name]) for one in self._graph.parameters}

    def load_memory(self, memory: Memory) -> None:
        """Continue from there; without all of the rule's state, from nothing. Raises GraphError
        where an array is missing or has another shape.
        """
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
        """Return copies of the rule's state."""
        arrays = {
            kind: {name: self._host(one) for name, one in found.items()}
            for kind, found in self._memory.items()
        }
        return Memory(self._updates, arrays)

    def _recalled(self, kind: str, parameter: Parameter, given: Mapping[str, Any]) -> Any:
        """Return the rule's state of a parameter; zeros where none is given."""
        if kind in SINGLE:
            return np.array(given.get(parameter.name, 0.0), np.float64).reshape(1)
        if not given:
            given = {parameter.name: np.zeros(parameter.shape, self._type)}
        return self._canonical(parameter, given)

    def _canonical(self, parameter: Parameter, values: Mapping[str, Any]) -> Any:
        if parameter.name not in values:
            raise GraphError(f"there are no values for parameter {parameter.name}")
        given = np.array(values[parameter.name], self._type)
        if given.size != parameter.size:
            raise GraphError(
                f"parameter {parameter.name}: values of shape {list(given.shape)} given, "
                f"{list(parameter.shape)} needed"
            )
        return self._placed(parameter.name, given.reshape(parameter.shape))
