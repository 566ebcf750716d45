"""A plan of passes in the form of all back ends: calls in order, buffers, bytes that cross."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from netsharp_engine.nodes import Node
from netsharp_engine.planned import Planned, PlannedBuffer, PlannedCall, place_of
from netsharp_engine.program import Job
from netsharp_engine.wgpu_backend import proving, writing
from netsharp_engine.wgpu_backend.kernels import COUNTING, GRADIENT, LOSS, SUM, DeviceKernel
from netsharp_engine.wgpu_backend.planning.joining import Pass
from netsharp_engine.wgpu_backend.planning.plan import DevicePlan, crossing
from netsharp_engine.wgpu_backend.variants import PLAIN

#: Bytes of a number.
_WIDTH = 4
#: The stage of a step that passes for these are part of; others are stages themselves.
_STAGES = {GRADIENT: "backward", SUM: "backward", COUNTING: LOSS}


def describe_plan(plan: DevicePlan, job: Job) -> Planned:
    """Return a plan of passes; nothing comes back in a step, for figures wait until asked."""
    places = plan.placement.places
    buffers = tuple(
        PlannedBuffer(
            buffer.label,
            places[buffer.number].arena,
            _WIDTH * places[buffer.number].offset,
            _WIDTH * buffer.size,
            (buffer.rows, buffer.width),
        )
        for buffer in plan.described.building.buffers
        if buffer.number in places
    )
    labels = {each.number: each.label for each in plan.described.building.buffers}
    origins = {node.name: node for node in job.graph.nodes}
    calls = tuple(_call(labels, origins, one) for one in plan.step)
    return Planned(job.rows, job.dtype, calls, buffers, crossing(plan), 0)


def _computing(kernel: DeviceKernel) -> str:
    """Return a kernel's family, with the variant that computes it unless that is the plain one."""
    return kernel.family if kernel.variant == PLAIN else f"{kernel.family} by {kernel.variant}"


def _nodes_of(formulas: Iterable[str], nodes: Mapping[str, Node]) -> Iterator[Node]:
    """Yield the named nodes that formulas, or their parameters, belong to: once each, in order."""
    seen: dict[str, Node] = {}
    for formula in formulas:
        name = formula.rpartition(": ")[0]
        for known in (name, name.partition("/")[0]):
            if known in nodes:
                seen.setdefault(known, nodes[known])
                break
    yield from seen.values()


def _call(labels: dict[int, str], named: Mapping[str, Node], one: Pass) -> PlannedCall:
    kernels, width = one.kernels, writing.threads(one)
    role = kernels[0].role
    reads = sorted({number for kernel in kernels for number in kernel.reads()})
    writes = sorted({number for kernel in kernels for number in kernel.writes()})
    formulas = tuple(name for kernel in kernels for name in (kernel.joined or (kernel.what,)))
    nodes = list(_nodes_of(formulas, named))
    return PlannedCall(
        _STAGES.get(role, role),
        " | ".join(dict.fromkeys(map(_computing, kernels))),
        formulas,
        tuple(dict.fromkeys(labels[number] for number in reads)),
        tuple(dict.fromkeys(labels[number] for number in writes)),
        layer=nodes[0].name if nodes else "",
        origin="; ".join(dict.fromkeys(filter(None, map(place_of, nodes)))),
        trips=max(proving.trips(kernel, width) for kernel in kernels),
    )
