"""Steps a second of the back end beside PyTorch's eager mode on CUDA, in turns; medians of rounds.

A step of ours includes copying its rows to the device, theirs lie there.  Both wait for the device
at the end of a round.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import peer_torch

from graphics.checking import STEPPING, batch_of, loaded
from graphics.networks import Workload, graph_of
from netsharp_engine.program import Job, Program
from netsharp_engine.wgpu_backend import DeviceDraft, backend

Step = Callable[[], object]
#: Steps between two readings of the clock.
LOOK = 8


class Rounds(NamedTuple):
    """How many rounds, of how many seconds for each side, and steps between looks at the clock."""

    count: int
    seconds: float
    look: int


class Raced(NamedTuple):
    """Rows a second of the plain form, of the chosen variants and, where it is here, of PyTorch.

    ``quotient`` is the median of those of neighbouring rounds; ``variants`` tells what was chosen.
    """

    workload: Workload
    plain: float
    chosen: float
    torch: float | None
    quotient: float | None
    variants: str


def raced(adapter: str, workload: Workload, rounds: Rounds, cuda: bool) -> Raced:
    """Measure one workload."""
    job = Job(graph_of(workload.peer), workload.rows, "float32", STEPPING)
    program = loaded(backend(adapter)(job).program(), workload)
    sides = {
        "plain": _ours(loaded(DeviceDraft(job, adapter).program(), workload), workload),
        "chosen": _ours(program, workload),
    }
    if cuda:
        sides["torch"] = _theirs(workload)
    for step, wait in sides.values():
        for _ in range(min(rounds.look, 3)):
            step()
        wait()
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds.count):
        for name, (step, wait) in sides.items():
            rates[name].append(workload.rows * _rate(step, wait, rounds))
    quotient = None
    if cuda:
        pairs = zip(rates["chosen"], rates["torch"], strict=True)
        quotient = statistics.median(ours / theirs for ours, theirs in pairs)
    middle = {name: statistics.median(each) for name, each in rates.items()}
    variants: str = getattr(program, "variants", "")
    return Raced(
        workload, middle["plain"], middle["chosen"], middle.get("torch"), quotient, variants
    )


def _ours(program: Program, workload: Workload) -> tuple[Step, Step]:
    batch = batch_of(workload)

    def step() -> None:
        program.feed(batch)
        program.step()
        program.update(STEPPING)

    return step, program.figures


def _theirs(workload: Workload) -> tuple[Step, Step]:
    """The network by hand on CUDA, float32 without TF32."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    batch = peer_torch.batch_of(workload.peer, workload.rows)
    x, labels = (torch.from_numpy(part).cuda() for part in batch)
    net = peer_torch.network(workload.peer).cuda()
    return peer_torch.stepping(net, x, labels, rate=STEPPING.rate), torch.cuda.synchronize


def _rate(step: Step, wait: Step, rounds: Rounds) -> float:
    """Steps a second."""
    count, began = 0, time.perf_counter()
    while True:
        for _ in range(rounds.look):
            step()
        count += rounds.look
        if time.perf_counter() - began >= rounds.seconds:
            break
    wait()
    return count / (time.perf_counter() - began)
