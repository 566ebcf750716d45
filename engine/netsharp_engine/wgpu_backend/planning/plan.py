"""The plan of a job: passes in order, where everything lies, and what crosses; plain data.

It needs no device, so that it can be printed, and compared, anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from netsharp_engine.graph import GraphError
from netsharp_engine.program import Job
from netsharp_engine.wgpu_backend import proving, writing
from netsharp_engine.wgpu_backend.kernels import CHECK, FORWARD, UPDATE, DeviceKernel
from netsharp_engine.wgpu_backend.planning.describing import Described, Describer
from netsharp_engine.wgpu_backend.planning.facts import GraphFacts
from netsharp_engine.wgpu_backend.planning.joining import Pass, join, levels, needed
from netsharp_engine.wgpu_backend.planning.placing import ARENA, Placement, placed
from netsharp_engine.wgpu_backend.planning.splitting import MOST_TRIPS, split
from netsharp_engine.wgpu_backend.variants import PLAIN, variant_of, with_variant


class PlanStyle(NamedTuple):
    """How far kernels are put together, how much one arena holds, and by what each is computed.

    ``variants`` has the names of variants by the words of kernels, under ``*`` for all others;
    where one does not apply, and where none is named, a kernel is computed plainly.
    """

    joined: bool = True
    side_by_side: bool = True
    arena: int = ARENA
    variants: Mapping[str, str] = {}


SHIPPED = PlanStyle()


class DevicePlan(NamedTuple):
    """All passes of a step; ``forward`` are those that compute the nodes alone, ``check`` those
    that sum every parameter, to check whether it is finite.
    """

    described: Described
    placement: Placement
    step: tuple[Pass, ...]
    forward: tuple[Pass, ...]
    check: tuple[Pass, ...]

    def text(self, one: Pass) -> str:
        """Return the program of a pass."""
        return writing.PassText(one, self.described.building.buffers, self.placement).text()

    def dispatch(self, one: Pass) -> tuple[int, int]:
        """Return the number of workgroups of a pass, in two dimensions."""
        width = writing.threads(one)
        return writing.folded(sum(writing.groups(kernel, width) for kernel in one.kernels))

    @property
    def trains(self) -> bool:
        """Return whether a step changes parameters."""
        return any(kernel.role == UPDATE for one in self.step for kernel in one.kernels)

    def allows(self, kernel: DeviceKernel) -> bool:
        """Return whether a kernel alone in a pass is within the bounds that all devices have."""
        try:
            proving.prove([Pass((kernel,))], self.placement)
        except GraphError:
            return False
        return True

    def bytes(self) -> int:
        """Return the bytes of all arenas."""
        return 4 * sum(self.placement.arenas.values())


def planned(job: Job, facts: GraphFacts, style: PlanStyle = SHIPPED) -> DevicePlan:
    """Return the plan of a job without unsupported nodes; GraphError where a bound is broken."""
    described = Describer(job, facts).described()
    build = described.building
    kernels = split(build, build.kernels)
    step = _passes([k for k in kernels if k.role != CHECK], described, style)
    check = _passes([k for k in kernels if k.role == CHECK], described, style)
    # A step that trains computes the nodes as well: what computes them alone is another plan.
    forward = _passes([k for k in kernels if k.role == FORWARD], described, style)
    every = [kernel for one in (*step, *forward, *check) for kernel in one.kernels]
    used = {b for kernel in every for b in kernel.reads() | kernel.writes()}
    placement = placed(build.buffers, used, style.arena)
    proving.prove([*step, *forward, *check], placement)
    return DevicePlan(described, placement, tuple(step), tuple(forward), tuple(check))


def _passes(kernels: list[DeviceKernel], described: Described, style: PlanStyle) -> list[Pass]:
    buffers = described.building.buffers
    found = needed(kernels, buffers)
    if style.joined:
        found = needed(join(found), buffers)
    found = [_varied(kernel, style.variants) for kernel in found]
    return levels(found, side_by_side=style.side_by_side)


def _varied(kernel: DeviceKernel, choices: Mapping[str, str]) -> DeviceKernel:
    """Return a kernel by the variant chosen for it, plain where its loops turn too often."""
    made = with_variant(kernel, choices)
    fits = proving.trips(made, variant_of(made).threads) <= MOST_TRIPS
    return made if fits else made._replace(variant=PLAIN)


def shown(plan: DevicePlan) -> dict[str, Any]:
    """Return a plan as JSON: passes, what is joined in them, offsets, loop trips, bytes a step."""
    buffers, places = plan.described.building.buffers, plan.placement.places
    return {
        "arenas": {name: 4 * size for name, size in plan.placement.arenas.items()},
        "buffers": [
            {
                "name": buffer.label,
                "arena": places[buffer.number].arena,
                "offset": places[buffer.number].offset,
                "flat": [buffer.rows, buffer.width],
            }
            for buffer in buffers
            if buffer.number in places
        ],
        "passes": [_shown_pass(plan, one) for one in plan.step],
        "bytes_per_step": crossing(plan),
    }


def _shown_pass(plan: DevicePlan, one: Pass) -> dict[str, Any]:
    width = writing.threads(one)
    return {
        "groups": list(plan.dispatch(one)),
        "threads": width,
        "group_bytes": proving.group_bytes(one),
        "kernels": [
            {
                "template": kernel.family,
                "variant": kernel.variant,
                "role": kernel.role,
                "formulas": list(kernel.joined),
                "numbers": kernel.elements,
                "parts": kernel.pieces,
                "turns": proving.trips(kernel, width),
            }
            for kernel in one.kernels
        ],
    }


def crossing(plan: DevicePlan) -> int:
    """Return the bytes sent to the device in a step: samples, targets and the draw of dropout."""
    entrances = plan.described.entrances
    total = sum(buffer.size for buffer in entrances.inputs.values())
    total += 0 if entrances.draw is None else entrances.draw.size
    goal = entrances.goal
    if goal is not None:
        fed = goal.numbers in entrances.inputs.values()
        total += 0 if fed else (goal.codes or goal.numbers).size
    return 4 * total
