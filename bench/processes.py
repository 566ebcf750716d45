"""A step of two processes that add up their gradients, beside a step of one with all rows.

    python bench/processes.py [--batch 512] [--procs 2] [--seconds 20] [--device torch]

It starts itself through torchrun. Efficiency is the processor time of the step alone, divided by
that of all processes together: what is left of it where each has a core to itself, whatever else
the machine does. Beside it stands the wall time of the sum alone, least and median: a step should
take ten times as long before another process is worth it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np

from netsharp_engine.distributed.ranks import Ranks
from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.program import Backend, Batch, Job, Program, drafted
from netsharp_engine.train.rates import rule_of
from netsharp_engine.train.settings import TrainingSettings, read_settings

#: The share of a step's rate that has to remain if the step takes ten times the sum.
BOUND = 0.8
WORKLOADS = ("W3", "W4")


def program(workload: str, rows: int, device: str) -> Program:
    """A program that trains on so many rows, by numpy (`cpu`) or torch."""
    from engine_vs_torch import network

    settings = read_settings({}, {"optimizer": "sgd", "momentum": 0.9, "learning_rate": 0.001})
    assert isinstance(settings, TrainingSettings)
    graph = network(workload).with_criteria("cross entropy", "right answers")
    backend: Backend = NumpyDraft
    if device == "torch":
        from netsharp_engine.torch_backend import TorchBackend

        backend = TorchBackend("cpu")
    made = drafted(backend, Job(graph, rows, "float32", rule_of(settings))).program(1)
    random = np.random.default_rng(0)
    made.load({one.name: random.normal(0, 0.05, one.shape) for one in graph.parameters})
    return made


def batch_of(workload: str, rows: int, ranks: Ranks | None = None) -> Batch:
    """All rows of a step, or the share of a rank."""
    import peer_torch
    from engine_vs_torch import network

    graph = network(workload).with_criteria("cross entropy", "right answers")
    x, labels = peer_torch.batch_of(workload, rows)
    share = slice(None) if ranks is None else ranks.share
    inputs = {
        graph.inputs[0].name: np.ascontiguousarray(x.reshape(rows, -1)[share]),
        graph.targets[0].name: np.ascontiguousarray(labels[share]),
    }
    return Batch(inputs, None, None if ranks is None else float(rows))


def spent(step: Program, batch: Batch) -> tuple[float, float]:
    """Processor time and wall time of a step, in milliseconds."""
    settings = read_settings({}, {"optimizer": "sgd", "momentum": 0.9, "learning_rate": 0.001})
    assert isinstance(settings, TrainingSettings)
    rule = rule_of(settings)
    wall, cpu = time.perf_counter(), time.process_time()
    step.feed(batch)
    step.step()
    step.update(rule)
    return 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)


def measured(batch: int, seconds: float, device: str) -> None:
    """What each process does: the first tells."""
    from netsharp_engine.distributed.group import TorchComm

    ranks = Ranks(TorchComm())
    for workload in WORKLOADS:
        shared, own = program(workload, ranks.most(batch), device), batch_of(workload, batch, ranks)
        ranks.join(shared)
        alone, whole = program(workload, batch, device), batch_of(workload, batch)
        gradient = np.zeros(sum(one.size for one in shared.store().values()), np.float32)
        seen: list[tuple[float, float, float, float, float]] = []
        goes_on = np.ones(1)
        end = time.perf_counter() + seconds
        while goes_on[0] or len(seen) < 5:
            one, wall_one = spent(alone, whole) if ranks.leads else (0.0, 0.0)
            ranks.comm.barrier()
            mine, wall = spent(shared, own)
            started = time.perf_counter()
            ranks.comm.all_reduce_(gradient)
            reduced = 1e3 * (time.perf_counter() - started)
            together = np.array([mine])
            ranks.comm.all_reduce_(together)
            seen.append((one, float(together[0]), wall_one, wall, reduced))
            goes_on[0] = time.perf_counter() < end
            ranks.comm.broadcast(goes_on)
        if ranks.leads:
            told(workload, seen[1:])


def told(workload: str, seen: list[tuple[float, float, float, float, float]]) -> None:
    """Print what was seen of a workload."""
    one, many, wall_one, wall, reduced = (list(each) for each in zip(*seen, strict=True))
    efficiency = statistics.median(one) / statistics.median(many)
    print(
        f"  {workload}  processor time {statistics.median(one):.2f} alone, "
        f"{statistics.median(many):.2f} ms in all: efficiency {efficiency:.2f} "
        f"(at least {BOUND})   wall, least: {min(wall_one):.2f} and {min(wall):.2f} ms, the sum "
        f"{min(reduced):.2f} (median {statistics.median(reduced):.2f})",
        flush=True,
    )


def main() -> None:
    """Start the processes, or be one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--procs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--device", choices=("cpu", "torch"), default="cpu")
    options = parser.parse_args()
    if "RANK" in os.environ:
        measured(options.batch, options.seconds, options.device)
        return
    from measure import headline

    headline(
        f"Steps of {options.batch} rows by one process and by {options.procs}, on {options.device}"
    )
    launcher = (sys.executable, "-m", "torch.distributed.run", "--standalone")
    started = (*launcher, f"--nproc-per-node={options.procs}", __file__, *sys.argv[1:])
    subprocess.run(started, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True)


if __name__ == "__main__":
    main()
