"""Which device computes a network: the one that is named, or the first that can and is worth it.

Nothing falls back in parts: a device computes the whole network, or says which nodes it cannot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from netsharp_engine.backends.families import FAMILIES, SOFTWARE, UNLOADABLE, DeviceFamily
from netsharp_engine.backends.naming import AUTO, CPU, WORDS, parsed
from netsharp_engine.excerpt import excerpt
from netsharp_engine.graph import GraphError
from netsharp_engine.ops import OPERATIONS
from netsharp_engine.program import Backend, Job, Unusable, require_computed

#: Multiply-adds a second of one thread of numpy, as far as `auto` needs to know.
PROCESSOR_RATE = 5e9
#: Dispatches of wgpu for a node and step.
DISPATCHES = 3
#: Multiply-adds of a training step as a multiple of those of a forward pass.
PASSES = 3


class DeviceRates(NamedTuple):
    """Multiply-adds a second, the seconds of a dispatch whatever it computes, and who says so."""

    multiply_adds: float
    seconds_a_pass: float
    source: str

    def seconds(self, work: float, nodes: int) -> float:
        """Return the time of a number of multiply-adds and nodes, in seconds."""
        return nodes * DISPATCHES * self.seconds_a_pass + work / self.multiply_adds


#: The assumed rates of a device of wgpu that has not been measured.
ESTIMATE = DeviceRates(math.inf, 40e-6, "by an estimate, which netsharp doctor replaces")


class Device(NamedTuple):
    """What computes: its name, its back end, what it is called, and why it was chosen."""

    name: str
    backend: Backend
    title: str
    why: str


def backend(name: str, precision: str = "") -> Backend | Unusable:
    """Return the back end of a device by its name (``cpu``, ``torch:cuda``, ``wgpu:NAME``).

    ``precision`` "bf16" asks for products of that type.
    """
    device = parsed(name)
    if device is None or device.family == AUTO:
        return Unusable(f"There is no device '{excerpt(name)}'.", f"Name {WORDS}.")
    return FAMILIES[device.family].made(device.kind, precision)


def planner(name: str, precision: str = "", processor: Backend | None = None) -> Backend | Unusable:
    """Return the planner for a device name, which need not be present; ``auto`` has none.

    ``processor`` is that of the processor where the usual back end there does not know the jobs.
    """
    device = parsed(name)
    if device is None or device.family == AUTO:
        return Unusable(f"There is no device '{excerpt(name)}'.", f"Name {WORDS}.")
    made = FAMILIES[device.family].planned(device.kind, precision)
    return made if isinstance(made, Unusable) else _by(made, device.family, processor)


def choose(
    name: str, jobs: Sequence[Job], precision: str = "", processor: Backend | None = None
) -> Device | Unusable:
    """Return the device that a name means for these jobs, or why it cannot do them.

    ``processor`` computes on the processor where these are jobs that the usual back end there does
    not know.
    """
    device = parsed(name)
    if device is None:
        return Unusable(f"There is no device '{excerpt(name)}'.", f"Name {WORDS}.")
    if device.family != AUTO:
        made = backend(name, precision)
        if isinstance(made, Unusable):
            return made
        made = _by(made, device.family, processor)
        refusal = refused(made, jobs)
        chosen = Device(str(device), made, title_of(made), "requested")
        return named(chosen) if refusal is None else Unusable(refusal, "Or choose --device auto.")
    return _first(jobs, precision, processor)


def _by(made: Backend, family: str, processor: Backend | None) -> Backend:
    """Return the back end of a family, another one for the processor where one is given."""
    return processor if processor is not None and family == CPU else made


def named(device: Device) -> Device:
    """Return it under the name that its back end has, where it has one."""
    return device._replace(name=str(getattr(device.backend, "name", device.name)))


def refused(made: Backend, jobs: Sequence[Job]) -> str | None:
    """Return why a back end cannot do one of the jobs, as a sentence; None where it can."""
    try:
        for job in jobs:
            require_computed(made(job))
    except GraphError as error:
        return str(error)
    return None


def title_of(made: Backend) -> str:
    """Return the title of a back end."""
    title = getattr(made, "title", "")
    return str(title) if isinstance(title, str) and title else "numpy"


def _first(jobs: Sequence[Job], precision: str, processor: Backend | None) -> Device | Unusable:
    """Return the first device that can do the jobs and is worth it, and why none before it."""
    reasons: list[str] = []
    for row in FAMILIES.values():
        made = _tried(row, jobs, precision, processor)
        if isinstance(made, str):
            reasons.append(made)
            continue
        why = "; ".join(
            [*reasons, f"{made.title} is there {made.why}".rstrip()]
            if row.name != CPU
            else [*reasons, "so cpu is used"]
        )
        return named(made._replace(why=why))
    return Unusable(f"No device can do this: {'; '.join(reasons)}.", "")


def _tried(
    row: DeviceFamily, jobs: Sequence[Job], precision: str, processor: Backend | None
) -> Device | str:
    """Return a device of one family, or why it is skipped."""
    if row.missing is not None:
        return f"{row.name} is not installed"
    if not row.likely():
        return f"{row.name} is unlikely to find a device"
    try:
        found = [each for each in row.devices() if _is_device(each.name, each.title)]
    except UNLOADABLE as error:
        return row.unloadable(error).reason.rstrip(".")
    if row.name != CPU and not found:
        return f"{row.name} finds no device but the processor"
    made = row.made("", precision)
    if isinstance(made, Unusable):
        return made.reason.rstrip(".")
    made = _by(made, row.name, processor)
    refusal = refused(made, jobs)
    if refusal is not None:
        return f"{row.name} cannot do it: {refusal.rstrip('.')}"
    if row.name != "wgpu":
        return Device(row.name, made, title_of(made), "")
    rates = rates_of(made)
    if not all(is_faster(job, rates) for job in jobs):
        return (
            "wgpu is there, and steps of this network are shorter than its dispatches "
            f"({rates.source})"
        )
    return Device(row.name, made, title_of(made), f"and worth it {rates.source}")


def _is_device(name: str, title: str) -> bool:
    """Return whether a device is more than a processor that plays one."""
    return not (name.endswith(":cpu") or title.endswith(f", {SOFTWARE}"))


def rates_of(made: Backend) -> DeviceRates:
    """Return the stored measurements of a back end's device, else an estimate."""
    ask: Callable[[], tuple[float, ...] | None] | None = getattr(made, "speed", None)
    found = None if ask is None else ask()
    if found is None:
        return ESTIMATE
    rate, seconds = found[:2]
    figures = (
        f"as measured: {seconds * 1e6:.2g} microseconds a pass, {rate / 1e9:.2g} G multiply-adds"
    )
    return DeviceRates(rate, seconds, f"{figures} a second")


def is_faster(job: Job, rates: DeviceRates = ESTIMATE) -> bool:
    """Return whether a processor takes longer for a call than a device of such rates does."""
    rows = job.rows * (1 if job.rule is None else PASSES)
    nodes = [node for node in job.graph.nodes if node.op != "input"]
    work = sum(OPERATIONS[node.op].cost(node).multiply_adds for node in nodes) * rows
    return work / PROCESSOR_RATE > rates.seconds(work, len(nodes))


def survey() -> Iterator[str]:
    """Yield a line for each device that can be used here, and how others are had."""
    for row in reversed(FAMILIES.values()):
        if row.missing is not None:
            yield f"{row.name}: {row.missing.reason} {row.missing.remedy}"
            continue
        try:
            yield from list(_surveyed(row))
        except UNLOADABLE as error:
            yield f"{row.name}: {row.unloadable(error)}"


def _surveyed(row: DeviceFamily) -> Iterator[str]:
    found = list(row.devices())
    for name, title in found:
        yield f"{name}: {title}"
    if not found:
        yield f"{row.name}: installed, and finds no device."
    for line in row.details():
        yield f"  {line}"
