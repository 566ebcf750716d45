"""A network of CNTK on one device with its update rule, as training knows it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from netsharp_engine.graph import GraphError, Node, Parameter
from netsharp_engine.ops.tensors import COUNTING
from netsharp_engine.phases import Phase, gathered
from netsharp_engine.program import (
    REMEMBERS,
    SINGLE,
    Batch,
    Fault,
    Figures,
    Job,
    Memory,
    UpdateRule,
)
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.updates import (
    TorchBefore,
    TorchChange,
    changed,
    joined,
    shorten,
)
from netsharp_engine.torch_backend.tensors.walk import Gradient, TorchRows, TorchWalk

if TYPE_CHECKING:
    from netsharp_engine.packing import Indices
    from netsharp_engine.program import Tensors

Array = npt.NDArray[Any]


class TorchTensorProgram:
    """The values of a graph's nodes for the samples that were fed, and of its parameters.

    Sums of criteria are rounded to the type of the numbers, as on the processor.
    """

    def __init__(
        self,
        job: Job,
        device: torch.device,
        *,
        threads: int = 1,
        halved: bool = False,
        values: dict[str, Tensor] | None = None,
    ) -> None:
        self.values: dict[str, Tensor] = {} if values is None else values
        self._graph, self._rule, self._device, self._halved = job.graph, job.rule, device, halved
        self._threads = threads if device.type == "cpu" else 0
        self._type: Any = np.dtype(job.dtype).type
        self._trained = [one for one in job.graph.parameters if one.trained]
        #: What counts samples is read in each step, and stays on the host.
        self._counters = {
            one.name for node in job.graph.nodes if node.op in COUNTING for one in node.parameters
        }
        self._walk = TorchWalk(job, self.values, device)
        self._gathered = gathered(job.graph)
        self._gradients: dict[str, Gradient] = {}
        self._adds = False
        self._updates = 0
        self._memory: dict[str, dict[str, Any]] = {}
        self._sums: list[Any] = []
        self._rows = self._steps = 0
        self._fault: Fault | None = None
        self.load_memory(Memory(0, {}))
        self.count(Figures())

    def begin(self, phase: Phase) -> None:
        """Set the values of an epoch."""
        self._walk.begin(phase)

    def feed(self, batch: Batch) -> None:
        """Take values [rows, nodes] for every input; GraphError for others."""
        self._walk.feed(batch)
        self._adds = batch.adds

    def forward(self) -> None:
        """Compute all nodes."""
        self._compute(learns=False)

    def _compute(self, *, learns: bool) -> None:
        if self._threads and torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        kind = self._device.type
        with torch.autocast(kind, torch.bfloat16) if self._halved else nullcontext():
            self._walk.forward(learns=learns)

    def step(self) -> bool:
        """Compute nodes and gradient, and count the criteria."""
        if self._fault is not None:
            return False
        self._compute(learns=self._rule is not None)
        criteria = self._graph.criteria
        told = self._walk.sums()
        if criteria and not math.isfinite(told[0]):
            self._fault = Fault("loss", self._walk.first_fault())
            return False
        if self._rule is not None:
            before, self._gradients = self._gradients, self._walk.gradients()
            for name, gradient in before.items() if self._adds else ():
                self._gradients[name] = joined(gradient, self._gradients[name], self.values[name])
        self._sums = [
            self._type(new if one in self._gathered else known + self._type(new))
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
        ends = np.cumsum([0, *(one.size for one in self._trained)])
        whole = np.zeros(ends[-1], self._type)
        kinds = np.zeros((2, len(self._trained)))
        parts = [whole[begin:end] for begin, end in pairwise(ends)]
        for place, (one, part) in enumerate(zip(self._trained, parts, strict=True)):
            gradient = self._gradients.get(one.name) if fresh else None
            if isinstance(gradient, TorchRows):
                width = gradient.values.shape[1]
                part.reshape(-1, width)[gradient.places] = gradient.values.cpu().numpy()
                kinds[:, place] = 1, width
            elif gradient is not None:
                part[:] = gradient.reshape(-1).cpu().numpy()
        exchange((whole, kinds.reshape(-1)))
        for one, part, (some, columns) in zip(self._trained, parts, kinds.T.tolist(), strict=True):
            given = torch.from_numpy(part.copy())
            if some:
                rows = part.reshape(-1, int(columns / some))
                places = np.flatnonzero(rows.any(axis=1))
                given = torch.from_numpy(rows[places])
                self._gradients[one.name] = TorchRows(places, given.to(self._device))
            else:
                self._gradients[one.name] = given.to(self._device).reshape(one.shape)

    def update(self, rule: UpdateRule) -> bool:
        """Change the parameters as the rule says; none where a number is not finite."""
        if self._fault is not None:
            return False
        with torch.no_grad():
            if rule.shaping.total < math.inf:
                shorten(rule.shaping.total, self._gradients)
            found = {one: self._changed(rule, one) for one in self._trained}
            wrong = _first_infinite(found)
            if wrong is not None:
                self._fault = Fault("weight", wrong)
                return False
            for parameter, change in found.items():
                change.put(parameter.name, self.values, self._memory)
        self._updates += 1
        return True

    def _changed(self, rule: UpdateRule, parameter: Parameter) -> TorchChange:
        name = parameter.name
        known = {kind: found[name] for kind, found in self._memory.items()}
        gradient, values = self._gradients[name], self.values[name]
        before = TorchBefore(values, values, rule.rate, known, not self._updates)
        return changed(rule, before, gradient, name)

    def count(self, figures: Figures) -> None:
        """Go on counting from these figures."""
        self._sums = [self._type(one) for one in figures.sums or (0.0,) * len(self._graph.criteria)]
        self._rows, self._steps = figures.rows, figures.steps
        self._fault = None

    def figures(self) -> Figures:
        """Return the sums so far."""
        sums = tuple(map(float, self._sums))
        return Figures(sums, float(self._rows), self._rows, self._steps, self._fault)

    def read(self, node: Node) -> Array:
        """Return the values [rows, nodes] of a node; one row of what all samples share."""
        found: Array = self._walk.read(node)
        return found.astype(self._type, copy=False)

    def lengths(self, node: Node) -> Indices | None:
        """Return the samples of each sequence in ``read`` [sequences]; None where all share one."""
        self._walk.dense(node)
        packing = self._walk.packings[node]
        return None if packing is None else packing.length

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all parameters; GraphError names a misfit."""
        for parameter in self._graph.parameters:
            self.values[parameter.name] = self._canonical(parameter, values)

    def store(self) -> Tensors:
        """Return copies of all parameters."""
        return {one.name: _host(self.values[one.name]) for one in self._graph.parameters}

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
        """Return copies of the optimiser state."""
        arrays = {
            kind: {name: _host(one) for name, one in found.items()}
            for kind, found in self._memory.items()
        }
        return Memory(self._updates, arrays)

    def _recalled(self, kind: str, parameter: Parameter, given: Mapping[str, Any]) -> Any:
        """Return the optimiser state of a parameter; zeros where none is given."""
        if kind in SINGLE:
            return np.array(given.get(parameter.name, 0.0), np.float64).reshape(1)
        if not given:
            given = {parameter.name: np.zeros(parameter.shape, self._type)}
        return self._canonical(parameter, given)

    def _canonical(self, parameter: Parameter, values: Mapping[str, Any]) -> Tensor:
        if parameter.name not in values:
            raise GraphError(f"there are no values for parameter {parameter.name}")
        given = np.array(values[parameter.name], self._type)
        if given.size != parameter.size:
            raise GraphError(
                f"parameter {parameter.name}: values of shape {list(given.shape)} given, "
                f"{list(parameter.shape)} needed"
            )
        tensor = torch.from_numpy(given.reshape(parameter.shape))
        return tensor if parameter.name in self._counters else tensor.to(self._device)


def _host(one: Any) -> Array:
    """Return a copy on the host."""
    found: Array = one if isinstance(one, np.ndarray) else one.detach().cpu().numpy()
    return found.copy()


def _first_infinite(found: Mapping[Parameter, TorchChange]) -> Parameter | None:
    """Return the first parameter with a number that is not finite; one look at the device."""
    if not found:
        return None
    sums = torch.stack([change.values.sum() for change in found.values()])
    if bool(sums.isfinite().all()):
        return None
    for parameter, change in found.items():
        if not bool(change.values.isfinite().all()):
            return parameter
    return None
