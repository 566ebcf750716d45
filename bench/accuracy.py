"""Accuracy on real digits that were held out, a stratified random quarter, over several seeds.

Each run is that of a person: `netsharp run` with the example's run file. What counts is the
network after its last epoch; nothing is chosen by looking at the held out quarter.
"""

from __future__ import annotations

import json
import os
import runpy
import statistics
import sys
import time

from measure import Command, cost, headline, verdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIGITS = os.path.join(ROOT, "examples", "digits", "digits.nn")
ENLARGED = os.path.join(ROOT, "examples", "digits29", "train.py")
SEEDS = (1, 2, 3, 4, 5)


def measure(folder: str) -> bool:
    """Print the figures; whether every bound is met."""
    headline("Digits, 8 x 8 pixels, a stratified random quarter held out")
    shares, seconds = [], []
    for seed in SEEDS:
        share, took = _digits(seed, folder)
        shares.append(share)
        seconds.append(took)
        print(f"  seed {seed}: {share:.2f} % after {took:.1f} CPU seconds", flush=True)
    met = verdict("median of five seeds", statistics.median(shares), 97, at_most=False, unit=" %")
    headline("The guide's digit network on the same digits, enlarged to 29 x 29")
    train = runpy.run_path(ENLARGED)["accuracy"]
    started = time.perf_counter()
    share = 100 * train(SEEDS[0])
    took = time.perf_counter() - started
    met &= verdict("held out digits it gets right", share, 95, at_most=False, unit=" %")
    return met & verdict("wall seconds to train it", took, 120, at_most=True, unit=" s")


def _digits(seed: int, folder: str) -> tuple[float, float]:
    """Percent of the held out digits, and CPU seconds of the whole command."""
    log = os.path.join(folder, f"digits{seed}.jsonl")
    model = os.path.join(folder, f"digits{seed}.safetensors")
    words = [sys.executable, "-m", "netsharp_lsp", "run", DIGITS, "--quiet"]
    words += ["--seed", str(seed), "--log", log, "--model", model]
    took = cost(Command(words))
    with open(log, encoding="utf-8") as stream:
        last = json.loads(stream.readlines()[-1])
    return 100 * float(last["validation"]["accuracy"]), took.cpu
