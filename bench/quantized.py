"""What operands of four bits lose, and what training with their tables in the loop wins back.

    python bench/quantized.py [--codes uint4] [--epochs 60]

A narrow, deep network on the 8 x 8 digits, three seeds, two fifths of the rows held back.  Both
networks are compiled, and what is compared is their integers: those of a network that was trained
in floating point, and those of one that was trained with its tables (`quantize`).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import statistics
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import headline, verdict

import netsharp

DIGITS = Path(__file__).resolve().parents[1] / "examples" / "digits" / "digits.csv.gz"
NETWORK = """
input X [64];
hidden H [8] rlinear from X all;
hidden G [6] rlinear from H all;
hidden F [6] rlinear from G all;
output Y [10] softmax from F all;
"""
SEEDS = (1, 2, 3)
#: The points that are lost at least without tables in the loop, and the share that is won back.
LOST, WON = 3.0, 0.5


class Accuracies(NamedTuple):
    """Shares of the rows held back that are answered rightly."""

    floating: float
    compiled: float
    trained: float


def measure(codes: str = "uint4", epochs: int = 60) -> bool:
    """Print the figures; whether the bounds are met."""
    headline(f"Operands of {codes} on {DIGITS.name}, percent right of the rows held back")
    found = []
    for seed in SEEDS:
        one = accuracies(seed, codes, epochs)
        found.append(one)
        told = ", ".join(f"{name} {100 * value:.2f}" for name, value in one._asdict().items())
        print(f"  seed {seed}: {told}", flush=True)
    floating, compiled, trained = (100 * statistics.mean(each) for each in zip(*found, strict=True))
    lost = floating - compiled
    met = verdict("points lost without tables in the loop", lost, LOST, at_most=False)
    won = (trained - compiled) / lost if lost > 0 else 0.0
    return verdict("share of them that is won back", won, WON, at_most=False) and met


def accuracies(seed: int, codes: str, epochs: int) -> Accuracies:
    """Train, compile and judge with one seed, which chooses the rows, too."""
    x, y = rows()
    order = np.random.default_rng(seed).permutation(len(x))
    held, learned = np.split(order, [2 * len(x) // 5])
    settings: dict[str, Any] = {"epochs": epochs, "seed": seed, "normalizer": "minmax"}
    plain = netsharp.train(NETWORK, x[learned], y[learned], **settings)
    looped = netsharp.train(NETWORK, x[learned], y[learned], **settings, quantize=codes)
    compiled = netsharp.compile(plain, x[learned], activations=codes, layers={"X": "uint8"})
    trained = netsharp.compile(looped, x[learned])

    def right(model: Any) -> float:
        answers = getattr(model, "simulate", None) or model.predict
        return float(np.mean(np.asarray(answers(x[held]).predicted) == y[held]))

    return Accuracies(right(plain), right(compiled), right(trained))


def rows() -> tuple[np.ndarray, np.ndarray]:
    """The pictures [rows, 64] and what they show [rows]."""
    with gzip.open(DIGITS, "rt", encoding="utf-8") as stream:
        table = np.array(list(csv.reader(stream))[1:], np.float64)
    return table[:, 1:], table[:, 0].astype(int)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--codes", default="uint4")
    parser.add_argument("--epochs", type=int, default=60)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    measure(given.codes, given.epochs)
    sys.exit(0)
