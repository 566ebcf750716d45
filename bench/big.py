"""Trains on a table that is larger than the memory it may take, and says what it took.

A CSV of so many megabytes is written below out/big by a fixed seed; a first run prepares and
trains, a second one finds the prepared table.  Exits with 1 where a bound is passed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SEED = 20_261
NUMBERS, COLOURS = 36, ("red", "green", "blue", "")
#: Rows of a block, and how many different blocks there are.
BLOCK_ROWS, BLOCKS = 10_000, 32
#: What a run may take: anonymous memory in bytes, and seconds to the second start.
MOST_MEMORY, MOST_SECONDS = 400_000_000, 2.0
SPECIFICATION = """\
input Data auto;
hidden First [16] sigmoid from Data all;
output Result auto softmax from First all;
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a run took: its peak of anonymous memory in bytes, seconds to its start and its end."""

    memory: int
    start: float
    end: float


def written(path: Path, size: int) -> int:
    """Write a table of at least so many bytes; the number of its rows."""
    chance = np.random.default_rng(SEED)
    blocks = [_block(chance) for _ in range(BLOCKS)]
    rows = done = 0
    with path.open("wb") as stream:
        names = [f"x{number}" for number in range(NUMBERS)]
        stream.write(",".join([*names, "colour", "label"]).encode() + b"\n")
        while done < size:
            block = blocks[int(chance.integers(BLOCKS))]
            done += stream.write(block)
            rows += BLOCK_ROWS
    return rows


def _block(chance: np.random.Generator) -> bytes:
    """Rows of numbers, a category and one of two classes, as text."""
    values = chance.normal(scale=100, size=(BLOCK_ROWS, NUMBERS)).round(5)
    noise = chance.normal(scale=60, size=BLOCK_ROWS)
    labels = np.where(values[:, 0] - values[:, 1] + noise > 0, "yes", "no")
    colours = chance.choice(COLOURS, BLOCK_ROWS)
    lines = [
        f"{','.join(map(str, row))},{colour},{label}\n"
        for row, colour, label in zip(
            values.tolist(), colours.tolist(), labels.tolist(), strict=True
        )
    ]
    return "".join(lines).encode()


def trained(folder: Path) -> Taken:
    """Train on the table of a folder, one epoch."""
    command = [sys.executable, "-m", "netsharp_lsp", "run", "net.nn", "--train", "table.csv"]
    command += ["--label", "label", "--epochs", "1", "--batch-size", "1024"]
    command += ["--model", "net.safetensors", "--cache", "always", "--events"]
    begun = time.perf_counter()
    with (folder / "events").open("wb") as events:
        process = subprocess.Popen(command, cwd=folder, stdout=events)
        most, start = 0, None
        while process.poll() is None:
            most = max(most, anonymous_memory(process.pid))
            if start is None and b'"event": "start"' in (folder / "events").read_bytes():
                start = time.perf_counter() - begun
            time.sleep(0.02)
    if process.returncode or start is None:
        raise SystemExit(f"the run ended with {process.returncode}")
    return Taken(most, start, time.perf_counter() - begun)


def anonymous_memory(process: int) -> int:
    """The bytes that a process has for itself alone: no pages of files.  0 where it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def prepared_folder(folder: Path, size: int) -> int:
    """Write specification and table into a folder; the number of rows."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.nn").write_text(SPECIFICATION)
    return written(folder / "table.csv", size)


def main() -> int:
    """Generate, train twice, tell, remove."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=5_000)
    parser.add_argument("--folder", type=Path, default=Path("out/big"))
    parser.add_argument("--keep", action="store_true", help="leave the table there")
    given = parser.parse_args()
    folder: Path = given.folder
    try:
        rows = prepared_folder(folder, given.megabytes * 1_000_000)
        size = os.path.getsize(folder / "table.csv")
        print(f"seed {SEED}: {rows:,} rows, {size / 1e9:.2f} GB", flush=True)
        first, second = trained(folder), trained(folder)
        last = json.loads((folder / "events").read_text().splitlines()[-1])
    finally:
        if not given.keep:
            shutil.rmtree(folder, ignore_errors=True)
    for name, taken in (("first", first), ("second", second)):
        print(
            f"{name} run: {taken.memory / 1e6:.0f} MB of anonymous memory, start after "
            f"{taken.start:.1f} s, end after {taken.end:.1f} s"
        )
    print(f"accuracy {last['metrics']['accuracy']:.4f}")
    beyond = max(first.memory, second.memory) > MOST_MEMORY or second.start > MOST_SECONDS
    print("a bound is passed" if beyond else "within the bounds")
    return int(beyond)


if __name__ == "__main__":
    sys.exit(main())
