"""The variants of a network's kernels tried on a device, one after the other, most work first.

Each is compared with the plain form before it is measured: one whose numbers are others is left
out, whatever the driver says.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from netsharp_engine.graph import GraphError
from netsharp_engine.program import Batch, Job
from netsharp_engine.wgpu_backend.kernels import Buffer, DeviceKernel
from netsharp_engine.wgpu_backend.planning.joining import Pass
from netsharp_engine.wgpu_backend.planning.plan import DevicePlan
from netsharp_engine.wgpu_backend.program import DeviceProgram
from netsharp_engine.wgpu_backend.proving import trips
from netsharp_engine.wgpu_backend.running import Floats, PlanMachine
from netsharp_engine.wgpu_backend.variants import PLAIN, THREADS, VARIANTS, offered

#: Seconds that trying may take, about; what was not tried until then stays plain.
SECONDS = 1.0
#: A variant is worth it from here on, as a share of the plain form's time.
WORTH = 0.9
#: Runs of a program in one submission, submissions, of which the shortest counts.
RUNS, TIMES = 4, 3
#: Seconds from which a single run of a kernel is measured well enough.
LONG = 0.05
#: Numbers of a buffer that are compared, and how far they may be from the plain form's.
COMPARED, NEAR = 1 << 16, 1e-3
#: In place of a time of 0, by which nothing can be divided.
LEAST_SECONDS = 1e-12


class TriedVariant(NamedTuple):
    """A variant of a kernel: its time as a share of the plain form's, or why it was left out."""

    kernel: str
    variant: str
    share: float
    fault: str = ""


class Tuned(NamedTuple):
    """The variants that are worth it, by kernel, all that were tried, and how long that took."""

    variants: dict[str, str]
    tried: tuple[TriedVariant, ...]
    seconds: float


def tuned(program: DeviceProgram, seconds: float = SECONDS) -> Tuned:
    """Try variants on a program of plain kernels, whose numbers are lost by it."""
    began = time.perf_counter()
    end = began + seconds
    _fill(program)
    kernels = {kernel.what: kernel for one in program.machine.plan.step for kernel in one.kernels}
    best: dict[str, str] = {}
    tried: list[TriedVariant] = []
    for what, kernel in sorted(kernels.items(), key=lambda each: _work(each[1]), reverse=True):
        shortest = WORTH
        for found in _tried(program, kernel, end):
            tried.append(found)
            if not found.fault and found.share < shortest:
                best[what], shortest = found.variant, found.share
    return Tuned(best, tuple(tried), time.perf_counter() - began)


def _work(kernel: DeviceKernel) -> int:
    """Estimate how much a kernel does: trips of all its loops."""
    return kernel.elements * kernel.pieces * trips(kernel, THREADS)


def _tried(program: DeviceProgram, kernel: DeviceKernel, end: float) -> Iterator[TriedVariant]:
    names = [name for name in offered(kernel) if name != PLAIN]
    if not names or time.perf_counter() > end:
        return
    machine = program.machine
    wanted, plain = _numbers(program, kernel), _seconds(machine, kernel)
    for name in names:
        made = kernel._replace(variant=name)
        if time.perf_counter() > end:
            break
        if not machine.plan.allows(made):
            continue
        try:
            far = _apart(_numbers(program, made), wanted)
        except GraphError as error:
            yield TriedVariant(kernel.what, name, 0.0, str(error))
            continue
        if not far <= NEAR:
            yield TriedVariant(
                kernel.what, name, 0.0, f"its numbers are {far:.1g} from the plain form's"
            )
            continue
        yield TriedVariant(kernel.what, name, _seconds(machine, made) / max(plain, LEAST_SECONDS))
    # Kernels tried later read what the plain form writes, and no parameters of many updates.
    _numbers(program, kernel)
    program.restore()


def _seconds(machine: PlanMachine, kernel: DeviceKernel) -> float:
    """Return the time of a kernel, alone in its pass, in the device's own unit."""
    programs = machine.prepare([Pass((kernel,))])
    began = time.perf_counter()
    once = machine.timed(programs)
    if time.perf_counter() - began > LONG:
        return once
    return min(machine.timed(programs * RUNS) for _ in range(TIMES)) / RUNS


def _written(machine: PlanMachine, kernel: DeviceKernel) -> list[Buffer]:
    buffers = machine.plan.described.building.buffers
    return [buffers[number] for number in sorted(kernel.writes())]


def _numbers(program: DeviceProgram, kernel: DeviceKernel) -> list[Floats]:
    """Return the values that a kernel writes over zeros, and over kept ones that it also reads.

    Over zeros, a program that writes nothing is found out, and of an update nothing else is seen.
    """
    machine = program.machine
    programs, buffers = machine.prepare([Pass((kernel,))]), _written(machine, kernel)
    for buffer in buffers:
        machine.write(buffer, np.zeros(buffer.size, np.float32))
    machine.run(programs)
    found = _read(machine, buffers)
    if kernel.writes() & kernel.reads():
        program.restore()
        machine.run(programs)
        found += _read(machine, buffers)
    return found


def _read(machine: PlanMachine, buffers: list[Buffer]) -> list[Floats]:
    return machine.read([(buffer, min(buffer.size, COMPARED)) for buffer in buffers])


def _apart(found: list[Floats], wanted: list[Floats]) -> float:
    """Return the largest difference relative to the largest number of each buffer."""
    far = 0.0
    for one, other in zip(found, wanted, strict=True):
        most = float(np.abs(other).max(initial=0.0))
        least = float(np.abs(one - other).max(initial=0.0))
        far = max(far, least / most if most else least)
    return far


def _fill(program: DeviceProgram) -> None:
    """Fill all buffers with numbers as a training has them: two steps of noise."""
    random = np.random.default_rng(0)
    # Parameters of the magnitude of initial weights, so that no activation saturates.
    program.load(
        {
            each.name: random.uniform(-0.1, 0.1, each.shape).astype(np.float32)
            for each in program.job.graph.parameters
        }
    )
    batch = _noise(program.job, program.machine.plan, random)
    for _ in range(2):
        program.feed(batch)
        program.step()
        if program.job.rule is not None:
            program.update(program.job.rule)


def _noise(job: Job, plan: DevicePlan, random: np.random.Generator) -> Batch:
    entrances = plan.described.entrances
    inputs: dict[str, Floats] = {
        name: random.uniform(-1, 1, (job.rows, buffer.width)).astype(np.float32)
        for name, buffer in entrances.inputs.items()
    }
    goal = entrances.goal
    if goal is not None and job.graph.targets:
        width = goal.numbers.width
        wanted = random.integers(0, width, job.rows) if goal.codes else random.random(job.rows)
        if not goal.codes and width > 1:
            wanted = random.random((job.rows, width))
        inputs[job.graph.targets[0].name] = wanted.astype(np.float32)
    return Batch(inputs)


def known(variants: Mapping[str, str]) -> dict[str, str]:
    """Return the variants that the table still has."""
    return {what: name for what, name in variants.items() if name in VARIANTS}
