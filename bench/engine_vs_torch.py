"""Training samples per CPU-second of the engine beside PyTorch eager and scikit-learn.

    python bench/engine_vs_torch.py [--batch 32] [--rounds 9] [--seconds 0.4]

One thread each, in one process, rounds interleaved A B A B so that both sides see the same
machine; medians of CPU time.  A step of ours includes copying the batch in; the peers' batch
is ready.  A peer that is not installed is left out and named.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import peer_torch
from measure import headline, left_out, verdict
from workloads import NETWORKS

from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import compile_plan
from netsharp_engine.numpy_backend.updates import bind_optimizer
from netsharp_engine.train.rates import rule_of
from netsharp_engine.train.settings import TrainingSettings, read_settings
from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.check import check
from netsharp_lsp.netsharp.lower import lower

Step = Callable[[], object]
#: What the quotient engine / PyTorch has to be at 32 samples; 1 at others, and beside scikit-learn.
BOUNDS = {"W1": 2.5, "W2a": 3.0, "W2b": 4.5, "W3": 2.0, "W4": 1.8, "W5": 3.5}


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
    step()
    start = now = time.process_time()
    steps = 0
    while now - start < seconds:
        for _ in range(8):
            step()
        steps += 8
        now = time.process_time()
    return steps * samples / (now - start)


def compare(workload: str, samples: int, rounds: int, seconds: float) -> dict[str, float]:
    """Median samples per CPU-second by side, rounds interleaved."""
    makers = {"engine": engine_step, "torch": peer_torch.torch_step}
    if workload == "W1":
        makers["scikit-learn"] = peer_torch.sklearn_step
    steps: dict[str, Step] = {}
    for side, make in makers.items():
        try:
            steps[side] = make(workload, samples)
        except ImportError as error:
            left_out(side, error)
    seen: dict[str, list[float]] = {side: [] for side in steps}
    for _ in range(rounds):
        for side, step in steps.items():
            seen[side].append(rate(step, samples, seconds))
    return {side: statistics.median(rates) for side, rates in seen.items()}


def measure(samples: int = 32, rounds: int = 9, seconds: float = 0.4) -> bool:
    """Print the figures; whether the engine is at least as fast as every peer."""
    headline(f"Training, batch {samples}, float32, one thread each, samples per CPU-second")
    met = True
    for workload in peer_torch.SHAPES:
        found = compare(workload, samples, rounds, seconds)
        ours = found.pop("engine")
        for side, theirs in found.items():
            print(f"  {workload:<4} engine {ours:10,.0f}   {side} {theirs:10,.0f}")
            bound = BOUNDS[workload] if samples == 32 and side == "torch" else 1
            met &= verdict(f"{workload}, engine / {side}", ours / theirs, bound, at_most=False)
    return met


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.4)
    options = parser.parse_args()
    measure(options.batch, options.rounds, options.seconds)


if __name__ == "__main__":
    main()
