"""Training samples per CPU-second of the torch back end beside the same networks by hand in torch.

    python bench/torch_backend.py [--batch 32] [--rounds 15] [--seconds 0.2]

One thread each, in one process, rounds interleaved; what counts is the median of the quotients of
neighbouring rounds.  A step of ours includes feeding the batch, and asking whether loss, gradient
and weights are finite; the peer's batch is ready, and it asks nothing.
"""

from __future__ import annotations

import argparse
import statistics

import peer_torch
from engine_vs_torch import Step, network, rate
from measure import headline, left_out, verdict

from netsharp_engine.backends import backend
from netsharp_engine.initial import diameters, initial_values
from netsharp_engine.program import Batch, Job, Unusable, UpdateRule, drafted

#: What the quotient has to be at least.
BOUND = 0.95


def backend_step(workload: str, samples: int) -> Step:
    """Ours through the seam: feed, step, update."""
    x, labels = peer_torch.batch_of(workload, samples)
    flat, graph = x.reshape(samples, -1), network(workload)
    trained = graph.with_criteria("cross entropy")
    rule = UpdateRule("momentum", peer_torch.RATE, peer_torch.MOMENTUM)
    made = backend("torch:cpu")
    if isinstance(made, Unusable):
        raise ImportError(str(made))
    program = drafted(made, Job(trained, samples, "float32", rule)).program()
    diameter = diameters(graph, "uniform", 0.1)
    program.load(initial_values(graph.parameters, 0, diameter, "float32"))
    inputs, start = {trained.targets[0].name: labels}, 0
    for node in graph.inputs:
        inputs[node.name] = flat[:, start : start + node.size]
        start += node.size
    batch = Batch(inputs)

    def step() -> None:
        program.feed(batch)
        assert program.step()
        assert program.update(rule)

    return step


def measure(samples: int = 32, rounds: int = 15, seconds: float = 0.2) -> bool:
    """Print the figures; whether every quotient is at least the bound."""
    headline(f"Torch back end beside torch by hand, batch {samples}, float32, one thread each")
    met = True
    for workload in peer_torch.SHAPES:
        try:
            ours, theirs = backend_step(workload, samples), peer_torch.torch_step(workload, samples)
        except ImportError as error:
            left_out("torch", error)
            return True
        pairs = [
            (rate(ours, samples, seconds), rate(theirs, samples, seconds)) for _ in range(rounds)
        ]
        quotient = statistics.median(a / b for a, b in pairs)
        mine, other = (statistics.median(each) for each in zip(*pairs, strict=True))
        print(f"  {workload:<4} back end {mine:10,.0f}   by hand {other:10,.0f}")
        met &= verdict(f"{workload}, back end / by hand", quotient, BOUND, at_most=False)
    return met


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.2)
    options = parser.parse_args()
    measure(options.batch, options.rounds, options.seconds)


if __name__ == "__main__":
    main()
