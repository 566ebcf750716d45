"""Steps of two threads beside steps of one: wall time, and what is left of it on idle cores.

    python bench/sharded.py [--batch 64] [--threads 2] [--seconds 10]

Steps take turns.  Wall time says what a person waits for, on the machine as it is: a machine that
others use gives two threads little more than one.  The path is the processor time of a step in the
order in which parts wait for each other: what one thread does alone, and the longest part of each
pair of parts.  It is what the wall time comes down to where each thread has a core to itself.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import ClassVar

import numpy as np
import peer_torch
from engine_vs_torch import network
from measure import headline

from netsharp_engine.numpy_backend import NumpyDraft, sharding
from netsharp_engine.program import Batch, Job, Program, UpdateRule
from netsharp_engine.train import TrainingSettings, read_settings
from netsharp_engine.train.rates import rule_of

#: How many times faster two threads are to be on two idle cores.
BOUNDS = {"W3": 1.4, "W4": 1.3}


class Timed(sharding.Errand):
    """A part of a step that keeps how long its thread computed."""

    seen: ClassVar[list[float]] = []

    def make(self) -> None:
        """Make the call and keep its time, where nobody has taken it."""
        before, done = time.thread_time(), self.done.locked()
        taken = self.taken.locked()
        super().make()
        if done and not taken:
            Timed.seen.append(time.thread_time() - before)


def programs(workload: str, batch: int, threads: int) -> tuple[dict[int, Program], Batch]:
    """A program of one thread and one of several, with the same weights, and what they are fed."""
    graph = network(workload).with_criteria("cross entropy", "right answers")
    found = {
        count: NumpyDraft(Job(graph, batch, "float32", rule())).program(count)
        for count in (1, threads)
    }
    random = np.random.default_rng(0)
    values = {one.name: random.normal(0, 0.05, one.shape) for one in graph.parameters}
    for program in found.values():
        program.load(values)
    x, labels = peer_torch.batch_of(workload, batch)
    inputs = {graph.inputs[0].name: x.reshape(batch, -1), graph.targets[0].name: labels}
    return found, Batch(inputs)


def rule() -> UpdateRule:
    """SGD with momentum."""
    settings = read_settings({}, {"optimizer": "sgd", "momentum": 0.9, "learning_rate": 0.001})
    assert isinstance(settings, TrainingSettings)
    return rule_of(settings)


def compare(workload: str, batch: int, threads: int, seconds: float) -> None:
    """Print wall times, processor times and paths."""
    found, fed = programs(workload, batch, threads)
    walls: dict[int, list[float]] = {count: [] for count in found}
    paths: dict[int, list[float]] = {count: [] for count in found}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(paths[1]) < 5:
        for count, program in found.items():
            Timed.seen = []
            start, spent = time.perf_counter(), time.process_time()
            program.feed(fed)
            program.step()
            program.update(rule())
            walls[count].append(time.perf_counter() - start)
            spent = time.process_time() - spent
            parts = Timed.seen
            pairs = [parts[at : at + threads] for at in range(0, len(parts), threads)]
            paths[count].append(spent - sum(parts) + sum(map(max, pairs)))
    one, many = (statistics.median(walls[count]) * 1e3 for count in found)
    alone, path = (statistics.median(paths[count]) * 1e3 for count in found)
    print(
        f"  {workload}  wall {one:8.2f} and {many:8.2f} ms: {one / many:.2f} times   "
        f"path {alone:8.2f} and {path:8.2f} ms: {alone / path:.2f} times "
        f"(on idle cores at least {BOUNDS[workload]})",
        flush=True,
    )


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    sharding.Errand = Timed  # type: ignore[misc]
    headline(f"Steps of {options.batch} rows by one thread and by {options.threads}")
    for workload in BOUNDS:
        compare(workload, options.batch, options.threads, options.seconds)


if __name__ == "__main__":
    main()
