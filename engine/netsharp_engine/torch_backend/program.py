"""The torch back end: a network with its gradients and its update rule, as training knows it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from netsharp_engine.analysis import Analysis
from netsharp_engine.distributed.comm import AveragingComm, Exchange
from netsharp_engine.graph import GraphError, Node
from netsharp_engine.program import (
    Batch,
    Fault,
    Figures,
    Job,
    Memory,
    Packed,
    Sparse,
    UpdateRule,
)
from netsharp_engine.torch_backend.averaging import AveragedGradient
from netsharp_engine.torch_backend.kernels.criteria import COUNTS
from netsharp_engine.torch_backend.kernels.rows import Tensor, matrix
from netsharp_engine.torch_backend.masks import masks_of
from netsharp_engine.torch_backend.network import TorchCalls
from netsharp_engine.torch_backend.numbers import TorchNumbers
from netsharp_engine.torch_backend.updates import TorchUpdates, clip

Array = npt.NDArray[np.floating[Any]]


class Setting(NamedTuple):
    """The settings of a program: threads, and whether products are of bfloat16."""

    threads: int = 1
    halved: bool = False


class TorchProgram:
    """One network on one device and, where there is a rule, what it remembers."""

    def __init__(self, job: Job, facts: Analysis, numbers: TorchNumbers, setting: Setting) -> None:
        self.numbers, self._graph, self._facts = numbers, job.graph, facts
        self._network = TorchCalls(facts, numbers)
        self._drops = [node for node in facts.nodes if node.op == "Dropout"]
        self._threads = setting.threads if numbers.device.type == "cpu" else 0
        self._halved = setting.halved
        self._target = job.graph.targets[0].name if job.graph.targets else ""
        self._counts = [COUNTS[criterion.op] for criterion in job.graph.criteria[1:]]
        self._learns = job.rule is not None
        if job.rule is not None:
            self._updates = TorchUpdates(job.rule.kind, numbers, facts)
        self._values: dict[Node, Tensor] = {}
        self._inputs: dict[Node, Tensor] = {}
        self._targets: Tensor = None
        self._codes: Tensor = None
        self._shares: Tensor = None
        self._factor = 1.0
        self._rows, self._weight = 0, 0.0
        self._loss = 0.0
        self._gradients: list[Tensor] = []
        self._square = 0.0
        self._fault: Fault | None = None
        self._figures = Figures((0.0,) * len(job.graph.criteria))
        self.exchange: Exchange | None = None
        self._averaged: AveragedGradient | None = None
        #: Of a step that is exchanged: loss by weight, weight, rows, and what criteria count.
        self._sums = np.zeros(3 + len(self._counts))

    def feed(self, batch: Batch) -> None:
        """Take a batch; GraphError for values that are not dense."""
        for name, value in batch.inputs.items():
            if isinstance(value, (Sparse, Packed)):
                raise GraphError(f"torch takes dense values alone here; those of '{name}' are not")
        if batch.adds:
            raise GraphError("a batch is trained whole")
        given: Mapping[str, Any] = batch.inputs
        self._inputs = {
            node: matrix(self._on_device(given[node.name])) for node in self._graph.inputs
        }
        self._rows = len(given[self._graph.inputs[0].name])
        self._network.masks.clear()
        if batch.draw is not None:
            self._network.masks.update(masks_of(self._drops, batch.draw, self._rows, self.numbers))
        target = given.get(self._target)
        self._targets = None if target is None else self._target_of(target)
        if target is not None:
            self._set_weights(batch.weights, batch.expected)

    def _on_device(self, values: Any, dtype: torch.dtype | None = None) -> Tensor:
        """Return numbers of the host on the device, in its type by default."""
        array = np.asarray(values)
        if not array.flags.writeable:
            array = array.copy()
        return torch.from_numpy(array).to(self.numbers.device, dtype or self.numbers.dtype)

    def _target_of(self, target: Any) -> Tensor:
        """Return the target as codes [rows] where there are several nodes, else [rows, nodes]."""
        size = self._facts.output.size
        array = np.asarray(target)
        is_coded = size > 1 and array.ndim == 1
        codes = self._on_device(array, torch.int64) if is_coded or self._counts else None
        self._codes = codes if self._counts else None
        return codes if is_coded else self._on_device(array).reshape(self._rows, size)

    def _set_weights(self, weights: Any, expected: float | None) -> None:
        self._shares, self._factor = None, 1.0
        if weights is None:
            self._weight = float(self._rows)
            if expected is not None:
                self._factor = self._weight / expected
            return
        self._weight = float(np.add.reduce(weights))
        if self._weight:
            self._factor = 1.0 if expected is None else self._weight / expected
            self._shares = self._on_device(np.asarray(weights) / self._weight)

    def _computed(self) -> Tensor:
        """Return all nodes but a late output; the values of the node that the loss reads."""
        if self._threads and torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        self._values = dict(self._inputs)
        device = self.numbers.device.type
        with torch.autocast(device, torch.bfloat16) if self._halved else nullcontext():
            self._network.run(self._values)
        return self._values[self._network.last]

    def forward(self) -> None:
        """Compute the nodes."""
        with torch.no_grad():
            self._computed()

    def step(self) -> bool:
        """Compute nodes, loss and gradient."""
        if self._fault is not None:
            return False
        if self.exchange is not None:
            return self._step_together(self.exchange)
        if not self._weight:
            if not self._learns:
                self.forward()
                self._count_step(0)
            return True
        if not self._learns:
            with torch.no_grad():
                self._loss = self._mean_loss().item()
            self._count_step(self._rows)
            return True
        mean = self._mean_loss()
        self._loss = mean.detach().item()
        if not math.isfinite(self._loss):
            self._fault = Fault("loss", self._first_node())
            return False
        found = torch.autograd.grad(mean, self.numbers.leaves, allow_unused=True)
        self._gradients = gradients = self._updates.gathered(found)
        if not self._checked(gradients):
            return False
        if self._factor != 1.0:
            for each in gradients:
                each.mul_(self._factor)
        return True

    def _step_together(self, exchange: Exchange) -> bool:
        """Compute the gradient of the rows of all programs."""
        sums, averaged = self._sums, self._averaged
        assert averaged is not None
        weight, rows, factor = self._weight, self._rows, self._factor
        sums[:] = 0.0
        if rows and not weight:
            self.forward()
        loss = averaged.loss(has_rows=bool(weight))
        if weight:
            sums[:2] = loss.detach().item() * weight, weight
        if rows:
            sums[2], sums[3:] = rows, self._counted()
        exchange((), sums)
        self._weight, self._rows = float(sums[1]), int(sums[2])
        if not math.isfinite(sums[0]):
            self._fault = Fault("loss", self._first_node() if self._values else None)
            return False
        if not self._weight:
            return True
        averaged.gradient(loss, factor if weight else 0.0)
        self._gradients = self._updates.gathered([leaf.grad for leaf in self.numbers.leaves])
        return self._checked(self._gradients)

    def average_by(self, comm: AveragingComm) -> None:
        """Train on rows of which each process has a part."""
        leaves = self.numbers.leaves_of(self._facts.nodes)
        self._averaged = AveragedGradient(self._mean_loss, leaves, comm)

    def _checked(self, gradients: list[Tensor]) -> bool:
        """Return whether all numbers of a gradient are finite."""
        self._square = sum(float(torch.dot(each, each)) for each in gradients)
        if not math.isfinite(self._square) and not all(
            bool(each.isfinite().all()) for each in gradients
        ):
            self._fault = Fault("gradient", self._updates.first_parameter(gradients))
            return False
        return True

    def _mean_loss(self) -> Tensor:
        """Return the weighted mean of the rows' losses."""
        last = matrix(self._computed())
        if self._halved:
            last = last.to(self.numbers.dtype)
        judge = self._network.judge
        assert judge is not None
        return judge(last, self._targets, self._shares)

    def update(self, rule: UpdateRule) -> bool:
        """Update the trained parameters, which are saved first where the step may fail."""
        if self._fault is not None:
            return False
        if not self._weight:
            self._count_step(0)
            return True
        weights = self.numbers.trained
        with torch.no_grad():
            gradients = clip(rule.shaping, self._gradients)
            before = None if self._updates.calm(rule, self._square) else weights.clone()
            self._updates.update(rule, gradients)
            if before is not None and not bool(weights.isfinite().all()):
                self._fault = Fault("weight", self._updates.first_parameter([weights]))
                weights.copy_(before)
                return False
        self._count_step(self._rows)
        return True

    def _first_node(self) -> Node | None:
        """Return the first named node, in computing order, with a value that is not finite."""
        for node in self._facts.nodes:
            if node.name and not np.isfinite(self.read(node)).all():
                return node
        return self._graph.output

    def _count_step(self, rows: int) -> None:
        """Count a finished step."""
        known = self._figures
        if not rows:
            self._figures = known._replace(steps=known.steps + 1)
            return
        own = (
            [self._loss * self._weight, *self._counted()]
            if self.exchange is None
            else [self._sums[0].item(), *self._sums[3:].tolist()]
        )
        sums = tuple(before + new for before, new in zip(known.sums, own, strict=True))
        self._figures = Figures(
            sums, known.weight + self._weight, known.rows + rows, known.steps + 1
        )

    def _counted(self) -> list[float]:
        """Return the values of the further criteria on the rows of this step."""
        with torch.no_grad():
            said = [self._network.read(self._values, self._facts.output) for _ in self._counts]
            counts = zip(self._counts, said, strict=True)
            return [float(count(each, self._codes)) for count, each in counts]

    def count(self, figures: Figures) -> None:
        """Go on from these sums."""
        sums = figures.sums or (0.0,) * (1 + len(self._counts))
        self._figures, self._fault = figures._replace(sums=sums, fault=None), None

    def figures(self) -> Figures:
        """Return the sums so far."""
        return self._figures._replace(fault=self._fault)

    def read(self, node: Node) -> Array:
        """Return the values [rows, nodes] of a node."""
        values = matrix(self._network.read(self._values, node).detach())
        found: Array = values.to("cpu", self.numbers.dtype).numpy()
        return found

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all parameters from canonical arrays; GraphError names a misfit."""
        self.numbers.load(values)

    def store(self) -> dict[str, Array]:
        """Canonical copies of all parameters by name."""
        return self.numbers.store()

    def load_memory(self, memory: Memory) -> None:
        """Go on from there; where a vector of the rule is missing, from zero."""
        state = self._updates.state
        if memory.arrays.keys() >= state.keys():
            for name, vector in state.items():
                vector.copy_(self.numbers.vector(memory.arrays[name]))
            self._updates.steps = memory.updates

    def store_memory(self) -> Memory:
        """Canonical copies of the optimiser state."""
        state = self._updates.state
        arrays = {name: self.numbers.arrays(vector) for name, vector in state.items()}
        return Memory(self._updates.steps, arrays)
