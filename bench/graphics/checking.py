"""Whether a device computes what numpy does: gradients by each variant, and losses of steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import peer_torch

from graphics.networks import Workload, graph_of
from netsharp_engine.initial import diameters, initial_values
from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.program import Batch, Job, Program, UpdateRule, drafted
from netsharp_engine.wgpu_backend import DeviceDraft, PlanStyle
from netsharp_engine.wgpu_backend.variants import ALL, VARIANTS

#: A rule whose first memory is the gradient, with another sign.
GRADIENT_STEP = UpdateRule("momentum", 1.0)
#: The course of a training, whose steps stay small.
STEPPING = UpdateRule("momentum", 1e-3, 0.9)
#: How far a device may be from numpy, smooth networks and others.
SMOOTH, BROKEN = 1e-5, 1e-4


class Checked(NamedTuple):
    """What was compared, how far it was, and how far it may be."""

    what: str
    far: float
    bound: float

    @property
    def well(self) -> bool:
        """Return whether the bound holds; a number that is not finite holds none."""
        return self.far <= self.bound


def checked(adapter: str, workload: Workload, steps: int) -> Iterator[Checked]:
    """Compare gradients by each variant, then the losses of steps by the plain one."""
    bound = SMOOTH if workload.smooth else BROKEN
    where = f"{workload.title}, {workload.rows} rows"
    theirs = _gradients(_numpy(workload, GRADIENT_STEP), workload)
    for name in VARIANTS:
        ours = _gradients(_device(adapter, workload, GRADIENT_STEP, name), workload)
        far = max(_apart(ours[key], theirs[key]) for key in theirs)
        yield Checked(f"{where}: gradients, {name}", far, bound)
    courses = [
        _course(program, workload, steps)
        for program in (
            _device(adapter, workload, STEPPING, "plain"),
            _numpy(workload, STEPPING),
        )
    ]
    far = float(np.abs(courses[0] / courses[1] - 1).max())
    yield Checked(f"{where}: loss of each of {steps} steps", far, bound)


def batch_of(workload: Workload) -> Batch:
    """Return the rows that a workload is fed."""
    x, labels = peer_torch.batch_of(workload.peer, workload.rows)
    graph = graph_of(workload.peer)
    inputs: dict[str, npt.NDArray[np.generic]] = {
        graph.inputs[0].name: x.reshape(workload.rows, -1),
        graph.targets[0].name: labels.astype(np.float32),
    }
    return Batch(inputs)


def loaded(program: Program, workload: Workload) -> Program:
    """Return a program with the initial values of a workload."""
    graph = graph_of(workload.peer)
    diameter = diameters(graph, "uniform", 0.1)
    program.load(initial_values(graph.parameters, 0, diameter, "float32"))
    return program


def _device(adapter: str, workload: Workload, rule: UpdateRule, variant: str) -> Program:
    job = Job(graph_of(workload.peer), workload.rows, "float32", rule)
    style = PlanStyle(variants={ALL: variant})
    return loaded(DeviceDraft(job, adapter, style).program(), workload)


def _numpy(workload: Workload, rule: UpdateRule) -> Program:
    job = Job(graph_of(workload.peer), workload.rows, "float64", rule)
    return loaded(drafted(NumpyDraft, job).program(), workload)


def _gradients(program: Program, workload: Workload) -> dict[str, npt.NDArray[np.floating]]:
    program.feed(batch_of(workload))
    program.step()
    program.update(GRADIENT_STEP)
    return program.store_memory().arrays["delta"]


def _course(program: Program, workload: Workload, steps: int) -> npt.NDArray[np.float64]:
    losses, batch, before = [], batch_of(workload), 0.0
    for _ in range(steps):
        program.feed(batch)
        program.step()
        program.update(STEPPING)
        total = program.figures().sums[0]
        losses.append(total - before)
        before = total
    return np.array(losses)


def _apart(ours: npt.NDArray[np.floating], theirs: npt.NDArray[np.floating]) -> float:
    """The largest difference relative to the largest number."""
    most = float(np.abs(theirs).max())
    far = float(np.abs(ours - theirs).max())
    return far / most if most else far
