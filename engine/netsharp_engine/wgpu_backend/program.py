"""The back end for graphics devices, as training knows it: a plan that is fed, run and asked.

Losses stay on the device until they are requested; numbers that are not finite are found then,
and what was computed since the last request is undone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netsharp_engine.dropping import Draw
from netsharp_engine.graph import GraphError, Node, Parameter
from netsharp_engine.phases import Phase
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
from netsharp_engine.wgpu_backend.kernels import Buffer
from netsharp_engine.wgpu_backend.planning.describing import SLOTS
from netsharp_engine.wgpu_backend.planning.plan import DevicePlan
from netsharp_engine.wgpu_backend.running import OpenDevice, PlanMachine
from netsharp_engine.wgpu_backend.templates import dropping
from netsharp_engine.wgpu_backend.templates.losses import Goal
from netsharp_engine.wgpu_backend.templates.updates import FIGURES, PLACES, options_of
from netsharp_engine.wgpu_backend.variants import Choices

if TYPE_CHECKING:
    from netsharp_engine.program import Tensors

Floats = npt.NDArray[np.float32]
#: In place of infinity, which programs of devices may take for impossible: below float32's largest,
#: 3.4e38.
LARGEST = 3e38


class _Unread(NamedTuple):
    """A step whose losses are not read yet: their factor, and its samples."""

    factor: float
    weight: float
    rows: int


class DeviceProgram:
    """One machine, what is known of it on the host, and what was true when it was last read."""

    direct = None

    def __init__(
        self,
        job: Job,
        plan: DevicePlan,
        on: OpenDevice,
        beside: DeviceProgram | None,
        choices: Choices | None = None,
    ) -> None:
        self.job, self.choices = job, choices or Choices({})
        self.machine: PlanMachine = PlanMachine(
            plan, on, None if beside is None else beside.machine
        )
        self._graph, self._rule = job.graph, job.rule
        described = plan.described
        self._entrances, self._values = described.entrances, described.values
        self._parameters, self._kept = described.parameters, described.memory
        self._ring, self._slot = described.ring, described.slot
        trains = bool(job.graph.criteria)
        self._step = self.machine.prepare(plan.step if trains else ())
        self._forward = None if job.rule is not None else self.machine.prepare(plan.forward)
        self._check = self.machine.prepare(plan.check)
        self._staging = {
            buffer.number: np.zeros((buffer.rows, buffer.width), np.float32)
            for buffer in (*self._entrances.inputs.values(), *self._goal_buffers())
        }
        self._figures_now = np.zeros(len(FIGURES), np.float32)
        self._figures_there: Floats | None = None
        self._shares_there: tuple[int, float] | None = None
        self._draw_there: list[float] | None = None
        self._target = job.graph.targets[0].name if job.graph.targets else self._label()
        self._rows, self._weight, self._expected = 0, 0.0, 1.0
        self._fed = self._pending = False
        self._unread: list[_Unread] = []
        self._next = 0
        self._figures = Figures((0.0,) * len(job.graph.criteria))
        self._updates = 0
        #: Copies of the parameters and of the figures from the last step without a fault.
        self._safe: list[Any] | None = None
        self._safe_updates = 0
        if beside is None:
            self._zero_memory()

    def _goal_buffers(self) -> tuple[Buffer, ...]:
        goal = self._entrances.goal
        if goal is None:
            return ()
        return tuple(each for each in (goal.codes, goal.numbers, goal.shares) if each is not None)

    def _label(self) -> str:
        """Return the input with the wanted values, where that is not a target."""
        goal = self._entrances.goal
        for name, buffer in self._entrances.inputs.items():
            if goal is not None and buffer == goal.numbers:
                return name
        return ""

    @property
    def variants(self) -> str:
        """Return which variants compute it, for a log; empty where all kernels are plain."""
        return self.choices.summary

    # To the device.

    def feed(self, batch: Batch) -> None:
        """Copy a batch to the device; GraphError for values that are not dense."""
        if batch.adds:
            raise GraphError("a batch is trained whole on a graphics device")
        goal = self._entrances.goal
        for name, buffer in self._entrances.inputs.items():
            if name not in batch.inputs and goal is not None and buffer == goal.numbers:
                continue
            values = batch.inputs[name]
            if isinstance(values, Packed) and values.packing.steps == 1:
                values = values.values
            if isinstance(values, Packed):
                raise GraphError(
                    f"a graphics device computes no sequences, and '{name}' brings some"
                )
            self._rows = len(values.starts) - 1 if isinstance(values, Sparse) else len(values)
            if self._rows > buffer.rows:
                raise GraphError(
                    f"{self._rows:,} rows are fed to a program that was made for {buffer.rows:,}"
                )
            self._enter(buffer, values)
        self._pending, self._fed = False, True
        self._set(rows=self._rows)
        wanted = batch.inputs.get(self._target)
        if wanted is None or goal is None:
            return
        self._draw(batch.draw)
        self._set_weights(goal, batch)
        if goal.numbers not in self._entrances.inputs.values() and self._weight:
            self._set_targets(goal, wanted)

    def _enter(self, buffer: Buffer, values: Any) -> None:
        if isinstance(values, Sparse):
            staged = self._staging[buffer.number][: len(values.starts) - 1]
            staged.fill(0)
            rows = np.repeat(np.arange(len(staged)), np.diff(values.starts))
            staged[rows, values.columns] = values.values
            self.machine.write(buffer, staged)
            return
        staged = self._staging[buffer.number][: len(values)]
        np.copyto(staged, np.asarray(values).reshape(staged.shape), casting="unsafe")
        self.machine.write(buffer, staged)

    def _set_targets(self, goal: Goal, wanted: Any) -> None:
        if goal.codes is None:
            self._enter(goal.numbers, wanted)
            return
        coded = np.ndim(wanted) == 1
        self._enter(goal.codes if coded else goal.numbers, wanted)
        self._set(coded=float(coded))

    def _set_weights(self, goal: Goal, batch: Batch) -> None:
        rows, weights = self._rows, batch.weights
        total = float(rows) if weights is None else float(np.add.reduce(weights))
        self._weight = total
        if not total:
            return
        self._expected = total if batch.expected is None else batch.expected
        known = (rows, self._expected)
        if weights is None and self._shares_there == known:
            return
        shares = self._staging[goal.shares.number]
        shares[rows:] = 0
        shares[:rows, 0] = 1 if weights is None else weights
        shares[:rows] /= self._expected
        self.machine.write(goal.shares, shares)
        self._shares_there = known if weights is None else None

    def _draw(self, draw: Draw | None) -> None:
        """Send what masks follow from, where it is something else than what is there."""
        buffer = self._entrances.draw
        if buffer is None:
            return
        if draw is not None and draw.rows is not None:
            raise GraphError("a graphics device computes whole batches of a training that drops")
        numbers = dropping.numbers_of(draw)
        if numbers != self._draw_there:
            self.machine.write(buffer, np.array(numbers, np.float32))
            self._draw_there = numbers

    def _set(self, **figures: float) -> None:
        for name, value in figures.items():
            self._figures_now[PLACES[name]] = value

    def _send_figures(self) -> None:
        """Copy the numbers of the step, where they differ from those on the device."""
        there = self._figures_there
        if there is None or not np.array_equal(there, self._figures_now):
            self.machine.write(self._entrances.figures, self._figures_now)
            self._figures_there = self._figures_now.copy()

    # Computation.

    def forward(self) -> None:
        """Compute the nodes. Raises GraphError for a network that drops, unless whole batches are
        computed.
        """
        if self._forward is None:
            self._forward = self.machine.prepare(self.machine.plan.forward)
        self._draw(None)
        self._send_figures()
        self.machine.run(self._forward)
        self._pending = False

    def step(self) -> bool:
        """Compute all; what trains is computed together with its update. Raises GraphError for a
        network that drops, unless whole batches are computed.
        """
        if self._figures.fault is not None:
            return False
        if not self._weight:
            if self._rule is None:
                self.forward()
                self._figures = self._figures._replace(steps=self._figures.steps + 1)
            return True
        self._pending = True
        if self._rule is None:
            self._submit()
        return True

    def update(self, rule: UpdateRule) -> bool:
        """Submit the step with the numbers of a rule. Raises GraphError for a rule that the program
        was not made for.
        """
        if self._figures.fault is not None:
            return False
        if not self._weight:
            self._read_ring()
            self._figures = self._figures._replace(steps=self._figures.steps + 1)
            return self._figures.fault is None
        if rule is not self._rule:
            self._require(rule)
        if self._safe is None:
            self._keep()
        self._updates += 1
        self._set(**_numbers(rule, self._updates))
        self._submit()
        return self._figures.fault is None

    def _require(self, rule: UpdateRule) -> None:
        """GraphError where a rule asks for kernels that were not made."""
        assert self._rule is not None
        odd = options_of(rule) - options_of(self._rule)
        if odd:
            raise GraphError(
                f"a graphics device was made ready without {', '.join(sorted(odd))}: say so when "
                "the program is made"
            )
        self._rule = rule

    def _submit(self) -> None:
        self._send_figures()
        self.machine.run(self._step)
        self._pending = False
        self._unread.append(_Unread(self._expected, self._weight, self._rows))
        self._next = (self._next + 1) % SLOTS
        if len(self._unread) == SLOTS:
            self._read_ring()

    def begin(self, phase: Phase) -> None:
        """Set the values of an epoch, none of which affects a device."""

    def lengths(self, node: Node) -> None:
        """Do nothing: no value of a device is one of sequences."""

    # Figures and values.

    def _read_ring(self) -> None:
        """Read the losses of earlier steps, and check them."""
        if not self._unread or self._figures.fault is not None:
            return
        assert self._ring is not None
        if self._rule is not None:
            self.machine.run(self._check)
        checks = self.machine.plan.described.checks if self._rule is not None else {}
        parts = [(self._ring, self._ring.size), *((buffer, 1) for buffer in checks.values())]
        ring, *sums = self.machine.read(parts)
        lines = ring.reshape(SLOTS, -1)
        first = self._next - len(self._unread)
        found = lines[np.arange(first, self._next) % SLOTS].astype(np.float64)
        if not np.isfinite(found).all():
            self._fail(Fault("loss", self._first_node()))
            return
        for parameter, total in zip(checks, sums, strict=True):
            if not np.isfinite(total[0]):
                self._fail(Fault("weight", parameter))
                return
        figures = self._figures
        factors = np.array([each.factor for each in self._unread])
        found[:, 0] *= factors
        sums_ = np.array(figures.sums) + found.sum(axis=0)
        self._figures = figures._replace(
            sums=tuple(map(float, sums_)),
            weight=figures.weight + sum(each.weight for each in self._unread),
            rows=figures.rows + sum(each.rows for each in self._unread),
            steps=figures.steps + len(self._unread),
        )
        self._unread = []
        if self._rule is not None:
            self._keep()

    def _keep(self) -> None:
        """Remember the parameters as they are, on the device."""
        arenas = self.machine.weights()
        if self._safe is None:
            self._safe = [self.machine.on.arena(arena.size // 4) for arena in arenas]
        self.machine.on.copy(zip(arenas, self._safe, strict=True))
        self._safe_updates = self._updates

    def _fail(self, fault: Fault) -> None:
        """Report a fault, in the last valid state."""
        self._figures = self._figures._replace(fault=fault)
        self._unread = []
        self.restore()

    def restore(self) -> None:
        """Restore parameters and optimiser state as they were at the last check without a fault."""
        if self._safe is not None:
            self.machine.on.copy(zip(self._safe, self.machine.weights(), strict=True))
            self._updates = self._safe_updates

    def _first_node(self) -> Node | None:
        """Return the first named node, in computing order, with a value that is not finite."""
        for node in self._graph.nodes:
            if node.name and node in self._values and not np.isfinite(self.read(node)).all():
                return node
        return self._graph.output

    def count(self, figures: Figures) -> None:
        """Go on from these figures."""
        sums = figures.sums or (0.0,) * len(self._graph.criteria)
        self._figures = figures._replace(sums=sums, fault=None)
        self._unread = []

    def figures(self) -> Figures:
        """Return the sums so far, and whether all values are finite."""
        self._read_ring()
        return self._figures

    def read(self, node: Node) -> Floats:
        """Return the values [rows, nodes] of a node. Raises GraphError for a network that drops,
        unless whole batches are computed.
        """
        if self._pending:
            self.forward()
        buffer = self._shown(node)
        (found,) = self.machine.read([(buffer, self._rows * buffer.width)])
        return found.reshape(self._rows, buffer.width)

    def _shown(self, node: Node) -> Buffer:
        """Return the buffer of a node, or of what was computed over it in the same pass."""
        places = self.machine.plan.placement.places
        while self._values[node].number not in places:
            users = [n for n in self._graph.nodes if node in n.inputs and n in self._values]
            if len(users) != 1:
                raise KeyError(node)
            node = users[0]
        return self._values[node]

    # Parameters and what a rule remembers.

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all parameters; GraphError names a misfit."""
        for parameter, buffer in self._parameters.items():
            self._put(parameter, buffer, values)
        self._safe = None

    def _put(self, parameter: Parameter, buffer: Buffer, values: Mapping[str, Any]) -> None:
        if parameter.name not in values:
            raise GraphError(f"there are no values for parameter {parameter.name}")
        given = np.asarray(values[parameter.name], np.float32)
        if given.shape not in (parameter.shape, (parameter.size,)):
            raise GraphError(
                f"parameter {parameter.name}: values of shape {list(given.shape)} given, "
                f"{list(parameter.shape)} needed"
            )
        self.machine.write(buffer, np.ascontiguousarray(given).reshape(-1))

    def store(self) -> Tensors:
        """Return copies of all parameters."""
        self._read_ring()
        return self._copies(self._parameters)

    def _copies(self, buffers: Mapping[Parameter, Buffer]) -> Tensors:
        found = self.machine.read([(buffer, buffer.size) for buffer in buffers.values()])
        return {
            parameter.name: flat.reshape(parameter.shape).copy()
            for parameter, flat in zip(buffers, found, strict=True)
        }

    def load_memory(self, memory: Memory) -> None:
        """Go on from there; without all that the rule remembers, from nothing. Raises GraphError
        where an array is missing or has another shape.
        """
        if not memory.arrays.keys() >= self._kept.keys():
            return
        for name, buffers in self._kept.items():
            for parameter, buffer in buffers.items():
                self._put(parameter, buffer, memory.arrays[name])
        self._updates = memory.updates
        self._safe = None

    def _zero_memory(self) -> None:
        for buffers in self._kept.values():
            for buffer in buffers.values():
                self.machine.write(buffer, np.zeros(buffer.size, np.float32))

    def store_memory(self) -> Memory:
        """Return copies of what ``load_memory`` takes."""
        self._read_ring()
        arrays = {name: self._copies(buffers) for name, buffers in self._kept.items()}
        return Memory(self._updates, arrays)


def _numbers(rule: UpdateRule, steps: int) -> dict[str, float]:
    """Return the figures of an update."""
    shaping, constants = rule.shaping, rule.constants
    found = {
        "rate": rule.rate,
        "momentum": rule.momentum,
        "keep": 1 - rule.rate * rule.decay,
        "limit": min(shaping.limit, LARGEST),
        "total": min(shaping.total, LARGEST),
        "norm": rule.max_norm,
        "l2": shaping.l2,
    }
    if rule.kind == "adadelta":
        keep = constants["decay"]
        found |= {"decay": keep, "rest": 1 - keep, "constant": constants["constant"]}
    elif rule.kind == "adam":
        first, second = constants["beta1"], constants["beta2"]
        found |= {
            "beta1": first,
            "rest1": 1 - first,
            "beta2": second,
            "rest2": 1 - second,
            "epsilon": constants["epsilon"],
            "size": rule.rate / (1 - first**steps),
            "root": 1 / math.sqrt(1 - second**steps),
        }
    return found
