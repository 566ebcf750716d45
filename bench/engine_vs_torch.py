"""Training samples per CPU-second of the engine beside PyTorch and scikit-learn.

    python bench/engine_vs_torch.py [--workload W1 --batch 32] [--rounds 9] [--seconds 0.2]

One thread each, in one process, rounds interleaved A B A B so that all sides see the same
machine; medians of CPU time, and behind each how far its quartiles are from one another.  A step
of ours includes copying the batch in; the peers' batch is ready.  PyTorch is eager, with its
fused update, and with that and its channels last; the fastest of them is "best".  A peer that is
not installed is left out and named.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import peer_torch
from measure import Command, cost, headline, left_out, verdict
from workloads import NETWORKS

from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import compile_plan, thread_limit
from netsharp_engine.numpy_backend.updates import bind_optimizer
from netsharp_engine.train.rates import rule_of
from netsharp_engine.train.settings import TrainingSettings, read_settings
from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.check import check
from netsharp_lsp.netsharp.lower import lower

Step = Callable[[], object]


class Row(NamedTuple):
    """A network at so many samples a step, and what the quotients with PyTorch have to be."""

    workload: str
    samples: int
    eager: float = 1.0
    best: float = 1.0


ROWS = (
    Row("W1", 1),
    Row("W1", 2),
    Row("W1", 32, 2.5, 2.3),
    Row("W1", 256, 1.6, 1.5),
    Row("W2a", 1, 6.0, 5.5),
    Row("W2a", 32, 3.0, 2.8),
    Row("W2a", 256, 2.2, 2.0),
    Row("W2b", 1, 7.0, 6.0),
    Row("W2b", 32, 4.5, 3.5),
    Row("W2b", 256, 3.5, 2.3),
    Row("W3", 32, 2.0, 1.5),
    Row("W4", 32, 1.8, 1.8),
    Row("W5", 32, 3.5, 3.2),
    Row("1024", 32),
    Row("2048", 32),
)
#: What a step of the wide networks has to do, and of the rate of one large product of numpy's.
WIDE_RATE, WIDE_SHARE = 55.0, 0.62
#: Seconds of CPU from the start of Python to the end of the third step of W3.
THIRD_STEP = 0.30
#: Seconds of steps between two readings of the clock.
LOOK = 0.02


def network(workload: str) -> Graph:
    """The workload, from its text to the engine's graph."""
    checked, diagnostics = check(NETWORKS[workload].encode(), Context())
    assert not any(found.severity == "error" for found in diagnostics)
    return lower(checked)


def engine_step(workload: str, samples: int) -> Step:
    """Ours: feed, forward, loss, backward, update."""
    x, labels = peer_torch.batch_of(workload, samples)
    flat = x.reshape(samples, -1)
    plan = compile_plan(network(workload), samples, "cross entropy")
    assert len(plan.weights) == peer_torch.PARAMETERS.get(workload, len(plan.weights))
    plan.initialise(0, 0.1)
    rule = {"learning_rate": peer_torch.RATE, "momentum": peer_torch.MOMENTUM}
    settings = read_settings({}, rule)
    assert isinstance(settings, TrainingSettings)
    update = rule_of(settings)
    optimizer = bind_optimizer(plan, update.kind)

    def step() -> None:
        plan.feed(flat, labels)
        plan.step()
        optimizer.update(update)

    return step


def rate(step: Step, samples: int, seconds: float) -> float:
    """Samples per CPU-second over at least ``seconds`` of CPU time."""
    start = time.process_time()
    step()
    several = max(1, min(64, int(LOOK / max(time.process_time() - start, 1e-6))))
    start = now = time.process_time()
    steps = 0
    while now - start < seconds:
        for _ in range(several):
            step()
        steps += several
        now = time.process_time()
    return steps * samples / (now - start)


def makers(workload: str) -> dict[str, Callable[[str, int], Step]]:
    """What makes the step of each side."""
    found: dict[str, Callable[[str, int], Step]] = {
        "engine": engine_step,
        "eager": peer_torch.torch_step,
        "fused": partial(peer_torch.torch_step, fused=True),
    }
    if len(peer_torch.SHAPES[workload]) == 3:
        found["channels last"] = partial(peer_torch.torch_step, fused=True, channels_last=True)
    if workload == "W1":
        found["scikit-learn"] = peer_torch.sklearn_step
    return found


def compare(workload: str, samples: int, rounds: int, seconds: float) -> dict[str, list[float]]:
    """Samples per CPU-second by side, in rising order, rounds interleaved."""
    steps: dict[str, Step] = {}
    for side, make in makers(workload).items():
        try:
            steps[side] = make(workload, samples)
        except ImportError as error:
            left_out(side, error)
    seen: dict[str, list[float]] = {side: [] for side in steps}
    for _ in range(rounds):
        for side, step in steps.items():
            seen[side].append(rate(step, samples, seconds))
    return {side: sorted(rates) for side, rates in seen.items()}


def meets_bound(row: Row, found: Mapping[str, Sequence[float]]) -> bool:
    """Print the figures of a row; whether its bounds are met."""
    name, middle = f"{row.workload} b{row.samples}", {}
    print(f"  {name}  [load {os.getloadavg()[0]:.1f}]")
    for side, rates in found.items():
        middle[side] = statistics.median(rates)
        spread = (rates[len(rates) * 3 // 4] - rates[len(rates) // 4]) / middle[side]
        took = 1e6 * row.samples / middle[side]
        print(f"    {side:<14} {middle[side]:10,.0f} a second, {took:9,.0f} us (+- {spread:.0%})")
    ours, met = middle.pop("engine"), True
    if "scikit-learn" in middle:
        theirs = middle.pop("scikit-learn")
        met &= verdict(f"{name}, engine / scikit-learn", ours / theirs, 1, at_most=False)
    if "eager" in middle:
        met &= verdict(f"{name}, engine / eager", ours / middle["eager"], row.eager, at_most=False)
        best = max(middle, key=lambda side: middle[side])
        what = f"{name}, engine / best ({best})"
        met &= verdict(what, ours / middle[best], row.best, at_most=False)
    return met


def meets_bound_of_width(width: str, samples_per_second: float) -> bool:
    """Whether a wide network gets as much out of the processor as it has to."""
    one = np.random.default_rng(0).standard_normal((1024, 1024), dtype=np.float32)
    other, out = one.copy(), np.empty_like(one)
    library = rate(lambda: np.matmul(one, other, out), 1, 0.3) * 2 * 1024**3 / 1e9
    weights = sum(one.size for one in network(width).parameters)
    ours = samples_per_second * 6 * weights / 1e9
    print(f"    {width}: {ours:.0f} GFLOP/s in a step, {library:.0f} in a product of numpy's")
    met = verdict(f"{width}, GFLOP/s", ours, WIDE_RATE, at_most=False)
    return (
        verdict(f"{width}, of numpy's product", ours / library, WIDE_SHARE, at_most=False) and met
    )


def third_step(rounds: int) -> bool:
    """Whether a process is fast enough from its start to the third step of W3."""
    words = [sys.executable, os.path.abspath(__file__), "--three-steps", "W3"]
    spent = [cost(Command(words)).cpu for _ in range(rounds)]
    took = statistics.median(spent)
    return verdict("W3, start to third step", took, THIRD_STEP, at_most=True, unit=" s")


def measure(rows: Sequence[Row] = ROWS, rounds: int = 9, seconds: float = 0.2) -> bool:
    """Print the figures; whether all bounds are met."""
    headline("Training, float32, one thread each, samples per CPU-second (medians, quartiles)")
    met, took = True, {}
    with thread_limit(1):
        for row in rows:
            found = compare(row.workload, row.samples, rounds, seconds)
            met &= meets_bound(row, found)
            ours = statistics.median(found["engine"])
            took[row.workload, row.samples] = row.samples / ours
            if row.workload.isdigit():
                met &= meets_bound_of_width(row.workload, ours)
    if {("W1", 1), ("W1", 2)} <= took.keys():
        quotient = took["W1", 1] / took["W1", 2]
        met &= verdict("W1, a step of b1 / of b2", quotient, 1, at_most=True)
    return third_step(rounds) and met


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--workload", choices=NETWORKS, action="append")
    parser.add_argument("--batch", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--three-steps", choices=NETWORKS, help="do these, and measure nothing")
    options = parser.parse_args()
    if options.three_steps:
        step = engine_step(options.three_steps, 32)
        for _ in range(3):
            step()
        return
    chosen = [row for row in ROWS if row.workload in (options.workload or NETWORKS)]
    known = {(row.workload, row.samples): row for row in chosen}
    if options.batch:
        names = dict.fromkeys(row.workload for row in chosen)
        pairs = [(name, batch) for name in names for batch in options.batch]
        chosen = [known.get(pair, Row(*pair)) for pair in pairs]
    measure(chosen, options.rounds, options.seconds)


if __name__ == "__main__":
    main()
