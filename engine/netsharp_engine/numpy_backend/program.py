"""The numpy back end: a plan with its update rule, as training knows it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from netsharp_engine.analysis import Analysis
from netsharp_engine.distributed.comm import Exchange
from netsharp_engine.graph import GraphError, Node, Parameter
from netsharp_engine.numpy_backend.build import build_plan
from netsharp_engine.numpy_backend.design import WIDTHS, Design, unsupported
from netsharp_engine.numpy_backend.forward import Forward, forward_of
from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.losses import COUNTS
from netsharp_engine.numpy_backend.plan_description import describe_plan
from netsharp_engine.numpy_backend.running import Plan
from netsharp_engine.numpy_backend.sharding import ShardedPlan, require_shards
from netsharp_engine.numpy_backend.updates import bind_optimizer, clip_gradient, kept_bytes
from netsharp_engine.planned import Planned
from netsharp_engine.program import (
    Batch,
    Fault,
    Figures,
    Job,
    Memory,
    Packed,
    Program,
    Sparse,
    Unsupported,
    UpdateRule,
)
from netsharp_engine.room import require_room

#: Sums of squares of weights and of steps below this are far from float32's end (3.4e38): an update
#: of such weights cannot overflow. Above it the weights before the update are kept.
RISKY_SQUARE = 1e30


class NumpyDraft:
    """The facts of a job, and its design from the first question that needs it."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.facts = Analysis(job.graph, job.rule is not None)

    @cached_property
    def design(self) -> Design:
        """Return the layouts and the memory."""
        return Design(self.facts, self.job.rows, self.job.dtype)

    def unsupported(self) -> Sequence[Unsupported]:
        """Return the nodes that the tables do not have."""
        return list(unsupported(self.facts))

    def needs(self, *, shares: bool = False, threads: int = 1) -> Counter[str]:
        """Return the bytes of all plans and of the rule."""
        shards = self._shards(threads)
        found = self.design.needs(shares=shares) if shards == 1 else Counter()
        for number in range(shards if shards > 1 else 0):
            found.update(self._shard(shards).needs(shares=shares or number > 0))
        if self.job.rule is not None:
            found.update(kept_bytes(self.job.graph, self.job.rule.kind, WIDTHS[self.job.dtype]))
        return found

    def planned(self) -> Planned:
        """Return the calls of a step on one thread, and its buffers."""
        return describe_plan(self.design, self.job)

    def _shards(self, threads: int) -> int:
        """Return the number of parts in which the rows of a training step are computed, of one row
        or more each.
        """
        return 1 if self.job.rule is None else max(min(threads, self.job.rows), 1)

    def _shard(self, shards: int) -> Design:
        """Return the design of one of ``shards`` parts."""
        return Design(self.facts, -(-self.job.rows // shards), self.job.dtype)

    def program(self, threads: int = 1, beside: Program | None = None) -> NumpyProgram:
        """Make it, with the weights of ``beside``; training is computed by ``threads`` threads.

        Matrix products take one thread each, in the whole process and from now on: more of them
        wait for each other by spinning. GraphError where a layer computes all rows together.
        """
        if beside is not None and not isinstance(beside, NumpyProgram):
            raise GraphError("numpy shares weights with a program of its own alone")
        shards = self._shards(threads)
        plan: Plan | ShardedPlan
        if shards == 1:
            plan = build_plan(self.design, 1, None if beside is None else beside.plan)
        else:
            require_shards(self.facts, shards)
            design = self._shard(shards)
            first = build_plan(design, 1, None if beside is None else beside.plan)
            others = [build_plan(design, 1, first) for _ in range(shards - 1)]
            plan = ShardedPlan([first, *others], self.job.rows)
        alone = beside is None and self.job.rule is None
        return NumpyProgram(self.job, plan, self._direct() if alone else None)

    def _direct(self) -> Forward | None:
        """Return the forward pass that computes rows without the plan; None where it cannot, or
        memory is too small.
        """
        found = forward_of(Analysis(self.job.graph.with_criteria(), False), self.job.dtype)
        if found is None:
            return None
        try:
            require_room("Packed weights", [Counter({"": found.needs})], "")
        except GraphError:
            return None
        return found


class NumpyProgram:
    """One plan and, where there is a rule, its memory.

    For predictions alone ``direct`` may compute outputs without the plan.
    """

    def __init__(self, job: Job, plan: Plan | ShardedPlan, direct: Forward | None = None) -> None:
        self.plan, self.direct = plan, direct
        self._graph = job.graph
        self._target = job.graph.targets[0].name if job.graph.targets else ""
        self._counts = [COUNTS[criterion.op] for criterion in job.graph.criteria[1:]]
        self._learns = job.rule is not None
        if job.rule is not None:
            self._optimizer = bind_optimizer(plan, job.rule.kind)
            self._before = np.empty_like(plan.trained)
        self._codes: Array | None = None
        self._seen: object = None
        self._weight, self._factor, self._square = 0.0, 1.0, 0.0
        self._large = False
        self._fault: Fault | None = None
        self._loss = self._total = 0.0
        self._further = [0.0] * len(self._counts)
        self._rows = self._steps = self._fed = 0
        self.exchange: Exchange | None = None
        #: Of a step that is exchanged: loss by weight, weight, rows, and what criteria count.
        self._sums = np.zeros(3 + len(self._counts))

    def feed(self, batch: Batch) -> None:
        """Copy a batch in; GraphError for values that are not dense."""
        values: Mapping[str, Any] = batch.inputs
        if values is not self._seen:
            for name, value in values.items():
                if isinstance(value, (Sparse, Packed)):
                    raise GraphError(f"numpy takes dense values alone; those of '{name}' are not")
            if batch.adds:
                raise GraphError("a batch is trained whole")
            self._seen = values
        self._codes = values.get(self._target)
        self._fed = len(next(iter(values.values())))
        if not self._fed:
            self._weight = 0.0
            return
        self.plan.enter(values)
        if self._codes is None:
            return
        self.plan.mask(batch.draw)
        weights = batch.weights
        if weights is None:
            self._weight = float(self.plan.samples)
        else:
            self._weight = float(np.add.reduce(weights))
        if not self._weight:
            return
        self._factor = 1.0 if batch.expected is None else self._weight / batch.expected
        self.plan.set_targets(self._codes, weights)

    def forward(self) -> None:
        """Compute the output."""
        self.plan.forward()

    def step(self) -> bool:
        """Compute output, loss and gradient."""
        if self._fault is not None:
            return False
        if self.exchange is not None:
            return self._step_together(self.exchange)
        if not self._weight:
            if not self._learns:
                self.plan.forward()
                self._count_step(0)
            return True
        with np.errstate(all="ignore"):
            self.plan.run()
            if not self._learns:
                self._count_step(self.plan.samples)
                return True
            self._fault = self._check_gradient(self.plan.loss)
            if self._fault is None and self._factor != 1.0:
                assert self.plan.gradient is not None
                np.multiply(self.plan.gradient, self._factor, out=self.plan.gradient)
        return self._fault is None

    def _step_together(self, exchange: Exchange) -> bool:
        """Compute the gradient of these rows, and take that of all programs in its place."""
        gradient, sums = self.plan.gradient, self._sums
        assert gradient is not None
        with np.errstate(all="ignore"):
            sums[:] = 0.0
            if self._weight:
                self.plan.run()
                np.multiply(gradient, self._factor, out=gradient)
                sums[:2] = self.plan.loss * self._weight, self._weight
            else:
                gradient.fill(0.0)
            if self._fed:
                if not self._weight:
                    self.plan.forward()
                sums[2], sums[3:] = self._fed, self._counted()
            exchange((gradient,), sums)
            self._weight = float(sums[1])
            if self._weight:
                self._fault = self._check_gradient(float(sums[0]))
        return self._fault is None

    def update(self, rule: UpdateRule) -> bool:
        """Change the weights, which are kept before where the step is risky."""
        if self._fault is not None:
            return False
        if not self._weight:
            self._count_step(0)
            return True
        clip_gradient(rule.shaping, self.plan.gradient)
        rate = max(rule.rate, 1.0)
        if self._large or not self._square * rate * rate < RISKY_SQUARE:
            np.copyto(self._before, self.plan.trained)
            with np.errstate(all="ignore"):
                self._optimizer.update(rule)
                self._fault = self._check_weights()
        else:
            self._optimizer.update(rule)
            self._fault = self._check_weights()
        if self._fault is not None:
            return False
        self._count_step(self.plan.samples)
        return True

    def _check_gradient(self, loss: float) -> Fault | None:
        plan = self.plan
        assert plan.gradient is not None
        if not math.isfinite(loss):
            return Fault("loss", self._first_node())
        self._square = float(np.dot(plan.gradient, plan.gradient))
        if not math.isfinite(self._square) and not np.isfinite(plan.gradient).all():
            return Fault("gradient", self._first_parameter(plan.gradient))
        return None

    def _check_weights(self) -> Fault | None:
        weights = self.plan.trained
        square = float(np.dot(weights, weights))
        self._large = not square < RISKY_SQUARE
        if math.isfinite(square) or np.isfinite(weights).all():
            return None
        fault = Fault("weight", self._first_parameter(weights))
        np.copyto(weights, self._before)
        return fault

    def _first_node(self) -> Node | None:
        """Return the first named node, in the order of computation, with a value that is not
        finite.
        """
        for node in self._graph.nodes:
            if not node.name:
                continue
            try:
                values = self.plan.read(node)
            except KeyError:
                continue  # the output does not depend on this node
            if not np.isfinite(values).all():
                return node
        return self._graph.output

    def _first_parameter(self, vector: Array) -> Parameter | None:
        """Return the first parameter with a number in ``vector`` that is not finite."""
        values = self.plan.store(vector)
        for parameter in self._graph.parameters:
            if parameter.name in values and not np.isfinite(values[parameter.name]).all():
                return parameter
        return None

    def _count_step(self, rows: int) -> None:
        """Count a finished step."""
        self._steps += 1
        if not rows:
            return
        if self.exchange is not None:
            loss, weight, others, *counted = self._sums.tolist()
            rows = int(others)
        else:
            loss, weight, counted = self.plan.loss * self._weight, self._weight, self._counted()
        self._loss += loss
        self._total += weight
        self._rows += rows
        self._further = [value + more for value, more in zip(self._further, counted, strict=True)]

    def _counted(self) -> list[float]:
        """Return the values of the further criteria for the rows of this step."""
        if not self._counts:
            return []
        assert self._codes is not None
        return [count(self.plan.output, self._codes) for count in self._counts]

    def count(self, figures: Figures) -> None:
        """Go on from these sums."""
        self._loss, *further = figures.sums or (0.0,)
        self._further = further or [0.0] * len(self._counts)
        self._total, self._rows, self._steps = figures.weight, figures.rows, figures.steps
        self._fault = None

    def figures(self) -> Figures:
        """Return the sums so far."""
        sums = (self._loss, *self._further)
        return Figures(sums, self._total, self._rows, self._steps, self._fault)

    def read(self, node: Node) -> Array:
        """Return the values [rows, nodes] of a node; those of the output are a view."""
        return self.plan.read(node)

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all weights from canonical arrays; GraphError names a misfit."""
        self.plan.load(values)
        if self.direct is not None:
            self.direct.load(values)

    def store(self) -> dict[str, Array]:
        """Return canonical copies of all weights by name, each in its parameter's shape."""
        return self.plan.store()

    def load_memory(self, memory: Memory) -> None:
        """Go on from there; where a vector of the rule is missing, from zero."""
        kinds = self._optimizer.state
        if memory.arrays.keys() >= kinds.keys():
            vectors = {name: self.plan.vector(memory.arrays[name]) for name in kinds}
            self._optimizer.restore(memory.updates, vectors)

    def store_memory(self) -> Memory:
        """Return canonical copies of the rule's memory."""
        state = self._optimizer.state
        arrays = {name: self.plan.store(vector) for name, vector in state.items()}
        return Memory(self._optimizer.steps, arrays)
