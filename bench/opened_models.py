"""Models of 104 MB in both formats of CNTK, opened: CPU seconds, and memory beside their size.

    python bench/opened_models.py [--rounds 5]

The files are made by the writer of the tests, eight square matrices of float32.  "described" is
what `describe`, `diff` and `weights` open; "loaded" is ``netsharp.load``, which has the numbers
ready for computing.  A process each, which has opened a small model before; CPU seconds are medians
of the rounds, memory is what the process has at most while it opens, and what it keeps, beyond that
before (from Linux's proc).
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
WIDTH, LAYERS = 1803, 8
MOST_SECONDS, MOST_MEMORY = 1.0, 1.2
DOORS = ("described", "loaded")


def resident(peak: bool) -> int:
    """Bytes that this process has in memory, now or at most [proc(5)]."""
    key = "VmHWM:" if peak else "VmRSS:"
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(key))


def opened(door: str, small: str, path: str) -> None:
    """Print CPU seconds, bytes at most and bytes kept of opening a model in this process."""
    import netsharp
    from netsharp_lsp.cntk.training.stored_models import stored_model

    work = stored_model if door == "described" else netsharp.load
    work(small)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before, started = resident(False), time.process_time()
    model = work(path)
    spent, most, kept = time.process_time() - started, resident(True), resident(False)
    print(spent, most - before, kept - before)
    del model


def main() -> int:
    """Open models so often as asked; 1 where a bound is not met."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--open", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.open:
        opened(*asked.open)
        return 0
    return int(not measure(asked.rounds))


def measure(rounds: int = 5) -> bool:
    """Make the models, open each in every way, and print a row for each; whether bounds are met."""
    sys.path.insert(0, os.fspath(ROOT))
    from tests.cntk.training.large_models import FORMATS

    met = True
    with tempfile.TemporaryDirectory(prefix="netsharp-bench-") as folder:
        for name, made in FORMATS.items():
            small, path = Path(folder, f"small.{name}"), Path(folder, f"large.{name}")
            small.write_bytes(made(8, 2))
            path.write_bytes(made(WIDTH, LAYERS))
            for door in DOORS:
                met &= _row(name, door, small, path, rounds)
            path.unlink()
    return met


def _row(name: str, door: str, small: Path, path: Path, rounds: int) -> bool:
    size = path.stat().st_size
    command = [sys.executable, __file__, "--open", door, os.fspath(small), os.fspath(path)]
    told = [
        [float(one) for one in subprocess.check_output(command, text=True).split()]
        for _ in range(rounds)
    ]
    seconds, most, kept = (statistics.median(one) for one in zip(*told, strict=True))
    met = seconds < MOST_SECONDS and most <= MOST_MEMORY * size
    print(
        f"  {name} of {size / 1e6:.0f} MB {door}: {seconds:.3f} s of CPU (must be "
        f"{MOST_SECONDS:g}), {most / size:.2f} times its size at most (must be {MOST_MEMORY:g}), "
        f"{kept / size:.2f} kept"
        f"{'' if met else '  NOT MET'}"
    )
    return met


if __name__ == "__main__":
    sys.exit(main())
