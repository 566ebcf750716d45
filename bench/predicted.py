"""How long training is predicted to take beside how long it takes: the error of `--cost`.

    python bench/predicted.py [--batch 32 64] [--rounds 5]

Processor time of whole epochs of `train`, one thread, the median of all rounds, interleaved; the
rates are measured anew before.  What is predicted is a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import peer_torch
from engine_vs_torch import network
from measure import headline, verdict

from netsharp_engine.costs import predict
from netsharp_engine.costs.calibration import measured
from netsharp_engine.data import Table
from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import thread_limit
from netsharp_engine.train import TrainingSettings, prepare, read_settings, train

#: By how much a prediction may be wrong.
BOUND = 0.25
#: Steps of an epoch, fewer where one takes long.
STEPS = {"W3": 12, "W4": 3}
MANY = 100
EPOCHS = 3


def settings_for(batch: int) -> TrainingSettings:
    """The rule that the peers have, too."""
    given = {
        "batch_size": batch,
        "optimizer": "sgd",
        "momentum": peer_torch.MOMENTUM,
        "learning_rate": peer_torch.RATE / 10,
        "epochs": EPOCHS,
        "normalizer": "none",
    }
    found = read_settings({}, given)
    assert isinstance(found, TrainingSettings)
    return found


def epochs_of(graph: Graph, workload: str, settings: TrainingSettings) -> Callable[[], list[float]]:
    """A call that trains, and gives the seconds of each epoch."""
    rows = STEPS.get(workload, MANY) * settings.batch_size
    x, labels = peer_torch.batch_of(workload, rows)
    data = prepare(Table.from_arrays(x.reshape(rows, -1), labels), settings)

    def trained() -> list[float]:
        times: list[float] = []

        def ended(event: dict[str, Any]) -> None:
            if event["event"] in ("start", "epoch"):
                times.append(time.thread_time())

        train(graph, data, settings, on_event=ended)
        return [later - earlier for earlier, later in pairwise(times)]

    return trained


def compare(batch: int, rounds: int) -> bool:
    """Print predicted and measured seconds of an epoch; whether all errors are within the bound."""
    headline(f"Predicted training, batch {batch}, float32, one thread, milliseconds of a step")
    settings = settings_for(batch)
    with thread_limit(1):
        started = time.perf_counter()
        rates = measured("float32")
        print(f"  calibrated in {time.perf_counter() - started:.2f} s")
        graphs = {name: network(name) for name in peer_torch.SHAPES if not name.isdigit()}
        trained = {name: epochs_of(graph, name, settings) for name, graph in graphs.items()}
        seen: dict[str, list[float]] = {name: [] for name in graphs}
        for _ in range(rounds):
            for name, run in trained.items():
                seen[name] += run()
    met = True
    for name, graph in graphs.items():
        steps = STEPS.get(name, MANY)
        found = predict(graph, settings, rates, steps * batch)
        assert found.epoch is not None
        ours, real = found.epoch / steps * 1e3, statistics.median(seen[name]) / steps * 1e3
        error = ours / real - 1
        print(f"  {name:<4} predicted {ours:9.3f}   measured {real:9.3f}   error {error:+7.1%}")
        met &= verdict(f"{name}, error", abs(error), BOUND, at_most=True)
    return met


def measure(batches: tuple[int, ...] = (32, 64), rounds: int = 5) -> bool:
    """Print the figures; whether every error is within the bound."""
    met = [compare(batch, rounds) for batch in batches]
    return all(met)


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--batch", type=int, nargs="+", default=[32, 64])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    measure(tuple(options.batch), options.rounds)


if __name__ == "__main__":
    main()
