"""Trains the guide's digit network on the digits enlarged to 29 x 29 pixels while loading.

Run it from anywhere: python examples/digits29/train.py [SEED]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import netsharp

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from make_tables import enlarge, read_digits  # noqa: E402

SETTINGS = {
    "task": "multiclass",
    "epochs": 30,
    "batch_size": 10,
    "learning_rate": 0.2,
    "momentum": 0.5,
    "init_diameter": 0.5,
    "validation": 0.25,
}


def accuracy(seed: int) -> float:
    """Return the share of a held out, stratified quarter that a network of this seed gets right."""
    pictures, digits = read_digits()
    features = enlarge(pictures, 29, 29).reshape(len(pictures), -1)
    model = netsharp.train(HERE / "digits29.nn", features, digits, seed=seed, **SETTINGS)
    return model.reports[-1].metrics["accuracy"]


if __name__ == "__main__":
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    started = time.process_time()
    share = accuracy(seed)
    print(f"seed {seed}: {share:.2%} of the held out digits, {time.process_time() - started:.1f} s")
