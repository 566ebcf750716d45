"""Prints what Microsoft's logs say of the networks in `published.py`, and beside it what ours do.

As there, three quarters of the rows are trained on, chosen by chance, other ones with each seed.
Run it from anywhere: python examples/microsoftml/compare.py [how many seeds, 5 if absent]
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: What is compared, and the line of the log that says it.
FIGURES = {
    "weights": r"Initializing 1 Hidden Layers, (\d+) Weights",
    "rows": r"^training: (\d+) rows",
    "error before": r"Pre-training MeanError = ([\d.]+)",
    "iteration 1": r"Iter:1/100, MeanErr=([\d.]+)",
    "iteration 2": r"Iter:2/100, MeanErr=([\d.]+)",
    "error behind": r"Post-training MeanError = ([\d.]+)",
}
#: What the reference of microsoftml prints for each call, in this order.
PUBLISHED = {
    "cases": (701, 186, 0.741068, 0.675086, 0.641967, 0.635816),
    "flowers": (803, 112, 1.963604, 1.942966, 1.919654, 1.892265),
    "ratings": (801, 22, 4288.548162, 1625.811185, 154.817728, 67.685316),
}
#: The seed whose errors here are nearest to the published ones is shown.
NEAR = slice(2, 6)


def log_of(call: str, seed: int) -> tuple[float, ...]:
    """Return the figures of one run of a call."""
    command = [sys.executable, "-m", "netsharp_lsp", "run", f"published.py::{call}", "--root", ".."]
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--rx-log", "--validation", "0.25", "--seed", f"{seed}"]
        flags += ["--model", f"{folder}/m.safetensors"]
        done = subprocess.run(
            [*command, *flags], cwd=HERE, capture_output=True, text=True, check=True
        )
    told = done.stdout + done.stderr
    found = [re.search(line, told, re.MULTILINE) for line in FIGURES.values()]
    return tuple(float(one[1]) for one in found if one is not None)


def distance(figures: tuple[float, ...], published: tuple[float, ...]) -> float:
    """By how much of itself a figure differs from the published one, of the one that does most."""
    pairs = zip(figures[NEAR], published[NEAR], strict=True)
    return max(abs(here - there) / there for here, there in pairs)


def main() -> None:
    """Print a table for each call."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for call, published in PUBLISHED.items():
        runs = [log_of(call, seed) for seed in range(seeds)]
        best = min(range(seeds), key=lambda seed: distance(runs[seed], published))
        print(f"{call:<14}{'published':>12}{f'seed {best}':>12}{f'all {seeds} seeds':>24}")
        for name, there, here, *all_of in zip(FIGURES, published, runs[best], *runs, strict=True):
            spread = f"{min(all_of):g} to {max(all_of):g}"
            print(f"  {name:<12}{there:>12g}{here:>12g}{spread:>24}")


if __name__ == "__main__":
    main()
