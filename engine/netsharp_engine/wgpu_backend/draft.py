"""A program on a graphics device before it is made: what it needs, what it cannot do, its plan.

It knows plans and the program, and no device before that is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

from netsharp_engine.graph import GraphError, Node
from netsharp_engine.planned import Planned
from netsharp_engine.program import Job, Program, Unsupported
from netsharp_engine.wgpu_backend.plan_description import describe_plan
from netsharp_engine.wgpu_backend.planning.facts import facts_of
from netsharp_engine.wgpu_backend.planning.plan import SHIPPED, DevicePlan, PlanStyle, planned
from netsharp_engine.wgpu_backend.planning.support import unsupported
from netsharp_engine.wgpu_backend.program import DeviceProgram
from netsharp_engine.wgpu_backend.running import device
from netsharp_engine.wgpu_backend.variants import Choices

SHARED = (
    "A graphics device trains in one process alone. Leave --procs and --nodes out, or choose "
    "--device torch or --device cpu."
)


class Tuning(Protocol):
    """What knows variants for a plain plan: of a device that is here, and for printing a plan."""

    def chosen(self, plan: DevicePlan, make: Callable[[], DeviceProgram]) -> Choices:
        """Return the choices, measured on a program of the plan where none are stored."""

    def planned(self, plan: DevicePlan) -> Choices:
        """Return the stored choices, without measuring."""


class DeviceDraft:
    """The facts of a job, and its plan from the first question that needs it.

    The plan is plain, or of a given style; ``tuning`` has variants for what is computed by it.
    """

    def __init__(
        self,
        job: Job,
        adapter: str | None = None,
        style: PlanStyle = SHIPPED,
        tuning: Tuning | None = None,
    ) -> None:
        if job.dtype != "float32":
            raise GraphError(
                f"A graphics device computes float32 alone, and {job.dtype} is asked for: set "
                'dtype = "float32", or another device.'
            )
        if job.shared:
            raise GraphError(SHARED)
        self.job, self.adapter, self._style, self._tuning = job, adapter, style, tuning
        self.facts = facts_of(job)

    @cached_property
    def plan(self) -> DevicePlan:
        """Return the passes of a step and the places of buffers. Raises GraphError where it does
        not fit into a device.
        """
        return planned(self.job, self.facts, self._style)

    def planned(self) -> Planned:
        """Return the calls of a step; the device need not be present. Raises GraphError where it
        does not fit into any device.
        """
        known = Choices({}) if self._tuning is None else self._tuning.planned(self.plan)
        return describe_plan(self._by(known), self.job)

    def _by(self, choices: Choices) -> DevicePlan:
        """Return the plan with variants."""
        if not choices.variants:
            return self.plan
        return planned(self.job, self.facts, self._style._replace(variants=choices.variants))

    def unsupported(self) -> Sequence[Unsupported]:
        """Return the nodes that the table of operations does not support, else why the network does
        not fit.
        """
        found = list(unsupported(self.facts, self.job.rule))
        if found:
            return found
        try:
            self.plan.bytes()
        except GraphError as error:
            return [Unsupported(self.facts.output, str(error))]
        return []

    def unreadable(self, nodes: Sequence[Node]) -> Sequence[Unsupported]:
        """Return those of some nodes whose values cannot be read: all except the output, since
        buffers are used again within a call.
        """
        return [
            Unsupported(
                node,
                f"{node.name or node.op}: a graphics device keeps the values of the last node "
                f"only, '{self.facts.output.name}'.",
            )
            for node in nodes
            if node is not self.facts.output
        ]

    def needs(self, *, shares: bool = False, threads: int = 1) -> Counter[str]:
        """Return the bytes on the host: rows in transfer, and a copy of the parameters."""
        found = Counter[str]()
        for buffer in self.plan.described.entrances.inputs.values():
            found[f"layer '{buffer.label}'"] += 4 * buffer.size
        if not shares:
            for parameter in self.job.graph.parameters:
                found[f"layer '{parameter.name.partition('/')[0]}'"] += 4 * parameter.size
        return found

    def program(self, threads: int = 1, beside: Program | None = None) -> DeviceProgram:
        """Make the program on the device, which ignores ``threads``.

        Raises GraphError where ``beside`` is of another back end.
        """
        if beside is not None and not isinstance(beside, DeviceProgram):
            raise GraphError("a device shares parameters with a program of its own alone")
        on = device(self.adapter) if beside is None else beside.machine.on
        choices = Choices({}) if beside is None else beside.choices
        if self._tuning is not None and beside is None:
            choices = self._tuning.chosen(
                self.plan, lambda: DeviceProgram(self.job, self.plan, on, None)
            )
        return DeviceProgram(self.job, self._by(choices), on, beside, choices)
