"""Predictions of a trained model beside onnxruntime, as people call both.

    python bench/inference.py [--rows 1 32 1000] [--only W1 W3] [--rounds 15]

Ours is ``Model.predict``: normaliser, network, labels and probabilities.  The peer's is ``run`` of
a session with the same layers, exported by PyTorch, up to the logits.  One thread each, in one
process, rounds interleaved, medians of CPU time a call.
"""

from __future__ import annotations

import argparse
import io
import statistics
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
import peer_torch
from measure import headline, left_out, verdict
from workloads import NETWORKS

import netsharp

Step = Callable[[], object]
#: The bound of the quotient onnxruntime / ours, by rows of a call; None where it is reported only.
BOUNDS: dict[str, dict[int, float]] = {
    "W1": {1: 1.0, 32: 1.0, 1000: 1.0},
    "W2a": {1: 1.0, 32: 1.0, 1000: 1.0},
    "W2b": {1: 1.0, 32: 1.0, 1000: 1.0},
    "W3": {1: 1.0, 32: 0.8, 1000: 0.8},
    "W4": {1: 1.0, 32: 0.8, 1000: 0.8},
    "W5": {1: 1.0, 32: 0.8, 1000: 0.8},
}


def engine_step(workload: str, rows: int) -> Step:
    """Return a call of ``Model.predict`` for so many rows."""
    x, _ = peer_torch.batch_of(workload, max(rows, 20))
    flat = x.reshape(len(x), -1)
    model = netsharp.train(
        NETWORKS[workload], flat[:20], np.arange(20) % 10, epochs=1, validation=0.0, seed=1
    )
    given = np.ascontiguousarray(flat[:rows])
    return lambda: model.predict(given)


def runtime_step(workload: str, rows: int) -> Step:
    """Return a call of onnxruntime for so many rows, one thread."""
    import onnxruntime
    import torch

    torch.manual_seed(0)
    x, _ = peer_torch.batch_of(workload, rows)
    target = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            peer_torch.network(workload).eval(),
            (torch.from_numpy(x),),
            target,
            input_names=["x"],
            dynamo=False,
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        target.getvalue(), options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, {"x": x})


def seconds(step: Step, least: float) -> float:
    """Return the CPU seconds of a call, over at least ``least`` seconds."""
    calls, start = 0, time.process_time()
    while (now := time.process_time()) - start < least or not calls:
        step()
        calls += 1
    return (now - start) / calls


def compare(workload: str, rows: int, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of a call by side, rounds interleaved."""
    steps: dict[str, Step] = {}
    for side, make in {"ours": engine_step, "onnxruntime": runtime_step}.items():
        try:
            steps[side] = make(workload, rows)
        except ImportError as error:
            left_out(side, error)
            continue
        steps[side]()
    seen: dict[str, list[float]] = {side: [] for side in steps}
    for _ in range(rounds):
        for side, step in steps.items():
            seen[side].append(seconds(step, 0.03))
    return seen


def measure(
    rows: Sequence[int] = (1, 32, 1000),
    rounds: int = 15,
    workloads: Sequence[str] = tuple(BOUNDS),
) -> bool:
    """Print the figures; return whether every bound is met."""
    headline("Predictions, float32, one thread each, microseconds of CPU a call")
    met = True
    for workload in workloads:
        for count in rows:
            seen = compare(workload, count, rounds)
            middle = {side: statistics.median(each) for side, each in seen.items()}
            ours = middle.pop("ours")
            for side, theirs in middle.items():
                print(
                    f"  {workload:<4} {count:>5} rows: ours {ours * 1e6:10,.0f} "
                    f"({min(seen['ours']) * 1e6:,.0f} to {max(seen['ours']) * 1e6:,.0f})   "
                    f"{side} {theirs * 1e6:10,.0f} "
                    f"({min(seen[side]) * 1e6:,.0f} to {max(seen[side]) * 1e6:,.0f})"
                )
                bound = BOUNDS[workload].get(count, 0.0)
                text = f"{workload}, {count} rows, {side} / ours"
                met &= verdict(text, theirs / ours, bound, at_most=False)
    return met


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 32, 1000])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", choices=tuple(BOUNDS), nargs="+", default=list(BOUNDS))
    options = parser.parse_args()
    measure(options.rows, options.rounds, options.only)


if __name__ == "__main__":
    main()
