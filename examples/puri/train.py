"""Trains the network of `puri.nn` on digits of 29 x 29 pixels, one by one and in batches of 32.

Run it from anywhere: python examples/puri/train.py [DEVICE], where DEVICE is what `netsharp run`
takes behind --device.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import netsharp

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from make_tables import enlarge, read_digits  # noqa: E402

#: Rate and epochs by the rows of a step: one by one is the patent's way.
WAYS = {1: (0.01, 3), 32: (0.15, 10)}


def accuracy(device: str, rows: int, *, pictures: int | None = None) -> float:
    """Return the accuracy on a held-out quarter after training in steps of ``rows`` rows."""
    images, digits = read_digits()
    images, digits = images[:pictures], digits[:pictures]
    features = enlarge(images, 29, 29).reshape(len(images), -1)
    rate, epochs = WAYS[rows]
    model = netsharp.train(
        HERE / "puri.nn",
        features,
        digits,
        task="multiclass",
        device=device,
        batch_size=rows,
        learning_rate=rate,
        epochs=epochs,
        optimizer="sgd",
        init_diameter=0.2,
        validation=0.25,
        seed=1,
    )
    return model.reports[-1].metrics["accuracy"]


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    for count in WAYS:
        started = time.perf_counter()
        share = accuracy(chosen, count)
        seconds = time.perf_counter() - started
        print(f"steps of {count}: {share:.2%} of the held out digits, {seconds:.1f} s")
