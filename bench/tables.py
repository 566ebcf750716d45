"""Tables of a million rows, read beside pandas, pyarrow and polars, and trained on beside PyTorch.

    python bench/tables.py [--rows 1000000] [--rounds 5] [--only reading|memory|training]

Readers take turns in one process, one thread each, and what counts is CPU time: from the file to a
matrix of float32 with the classes of the labels, or, where columns hold texts, to a frame.  Memory
and training are measured in processes of their own.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# One thread each, set before anything loads a numeric library.
os.environ.update(
    OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", POLARS_MAX_THREADS="1"
)

import numpy as np
from big import anonymous_memory
from measure import ENVIRONMENT, Command, headline, in_turns, left_out, verdict

from netsharp_engine.data import ReadOptions, read_table

PARTS = ("reading", "memory", "training")
SEED = 20_261
COLUMNS, BLOCK = 20, 10_000
COLOURS = ("red", "green", "blue", "")
#: Numbers are read at least as fast as pandas does, and at least at this rate in MB/s.
MEGABYTES = 120.0
#: What PyTorch with pandas takes for one epoch, in units of what a run takes, by rows of a step.
QUOTIENTS = {32: 3.5, 256: 2.0}
SPECIFICATION = """\
input Data auto;
hidden First [64] sigmoid from Data all;
output Result auto softmax from First all;
"""
#: The programs whose memory is measured: with the compiled twin, or without.
READ = """
import sys
from netsharp_engine.data import ReadOptions, read_table
from netsharp_engine.data.reading import compiled
if sys.argv[2] == "without":
    compiled.twins = None
read_table(sys.argv[1], ReadOptions(label="label", missing="mean"))
"""
Reader = Callable[[str], object]


def _lines(chance: np.random.Generator, kind: str) -> str:
    """Rows of a block: numbers with five decimals or all their digits, or a third of them texts."""
    values = chance.normal(scale=100, size=(BLOCK, COLUMNS - 1))
    labels = (values[:, 0] > values[:, 1]).astype(int).tolist()
    if kind != "all digits":
        values = values.round(5)
    rows = [list(map(str, row)) for row in values.tolist()]
    quote = '"' if kind == "texts, quoted" else ""
    colours = [f"{quote}{colour}{quote}" for colour in COLOURS]
    if kind.startswith("texts"):
        for row in rows:
            row[13:] = chance.choice(colours, COLUMNS - 14).tolist()
    return "".join(f"{','.join(row)},{label}\n" for row, label in zip(rows, labels, strict=True))


def written(path: Path, kind: str, rows: int) -> str:
    """Write a table of so many rows with a header by a fixed seed; its path."""
    chance = np.random.default_rng(SEED)
    with path.open("w", encoding="utf-8") as stream:
        names = [f"x{number}" for number in range(COLUMNS - 1)]
        stream.write(",".join([*names, "label"]) + "\n")
        for _ in range(0, rows, BLOCK):
            stream.write(_lines(chance, kind))
    return str(path)


def readers(*, frames: bool) -> Mapping[str, Reader]:
    """What reads a table, by its name: to a matrix, or to a frame; those that are installed."""
    found: dict[str, Reader] = {
        "netsharp": lambda path: read_table(path, ReadOptions(label="label", missing="mean"))
    }
    try:
        import pandas as pd

        found["pandas"] = lambda path: (
            pd.read_csv(path) if frames else pd.read_csv(path).to_numpy("float32")
        )
    except ImportError as error:
        left_out("pandas", error)
    try:
        from pyarrow import csv

        def by_arrow(path: str) -> object:
            table = csv.read_csv(path, read_options=csv.ReadOptions(use_threads=False))
            if frames:
                return table
            return np.stack([each.to_numpy() for each in table.columns], 1).astype("f4")

        found["pyarrow"] = by_arrow
    except ImportError as error:
        left_out("pyarrow", error)
    try:
        import polars

        found["polars"] = lambda path: (
            polars.read_csv(path) if frames else polars.read_csv(path).to_numpy().astype("f4")
        )
    except ImportError as error:
        left_out("polars", error)
    return found


def measure_reading(folder: Path, rows: int, rounds: int) -> bool:
    """Print how fast each reader is; whether ours meets its bounds."""
    met = True
    for kind in ("five decimals", "all digits", "texts", "texts, quoted"):
        path = written(folder / "table.csv", kind, rows)
        size = os.path.getsize(path) / 1e6
        headline(f"reading, {kind}: {rows:,} rows of {COLUMNS} columns, {size:.0f} MB")
        frames = kind.startswith("texts")
        seen: dict[str, list[float]] = {}
        for _ in range(rounds):
            for name, reader in readers(frames=frames).items():
                begun = time.process_time()
                reader(path)
                seen.setdefault(name, []).append(size / (time.process_time() - begun))
        rates = {name: statistics.median(each) for name, each in seen.items()}
        for name, rate in rates.items():
            print(f"  {name:<46} {rate:8.0f} MB/s")
        quotient = rates["netsharp"] / rates["pandas"] if "pandas" in rates else None
        if frames:
            print(f"  times as fast as pandas {'':<22} {quotient or 0:8.2f}")
            continue
        if quotient is not None:
            met &= verdict("times as fast as pandas", quotient, 1.0, at_most=False)
        met &= verdict("MB/s", rates["netsharp"], MEGABYTES, at_most=False)
    return met


def measure_memory(folder: Path, rows: int) -> bool:
    """Print what reading takes for itself at most, with the compiled twin and without."""
    path = written(folder / "table.csv", "five decimals", rows)
    headline(f"memory: {rows:,} rows")
    taken = {}
    for name in ("without", "with"):
        words = [sys.executable, "-c", READ, path, name]
        process, most = subprocess.Popen(words, env=ENVIRONMENT), 0
        while process.poll() is None:
            most = max(most, anonymous_memory(process.pid))
            time.sleep(0.002)
        taken[name] = most / 1e6
        print(f"  anonymous memory at most, {name} the twin{'':<9} {taken[name]:8.1f} MB")
    return verdict("with / without", taken["with"] / taken["without"], 1.02, at_most=True)


def measure_training(folder: Path, rows: int, rounds: int) -> bool:
    """Print what one epoch takes, from the file to the model, beside pandas and PyTorch."""
    path = written(folder / "table.csv", "five decimals", rows)
    (folder / "net.nn").write_text(SPECIFICATION, encoding="utf-8")
    met = True
    for batch, bound in QUOTIENTS.items():
        headline(f"one epoch of {rows:,} rows, {batch} a step")
        ours = [sys.executable, "-m", "netsharp_lsp", "run", str(folder / "net.nn")]
        ours += ["--train", path, "--label", "label", "--epochs", "1", "--batch-size", str(batch)]
        ours += ["--model", str(folder / "net.safetensors"), "--cache", "never", "--quiet"]
        peer = [sys.executable, str(Path(__file__).with_name("peer_table.py")), path, str(batch)]
        costs = in_turns({"netsharp run": Command(ours), "pandas + PyTorch": Command(peer)}, rounds)
        for name, cost in costs.items():
            print(f"  {name:<46} {cost.cpu:8.2f} s")
        quotient = costs["pandas + PyTorch"].cpu / costs["netsharp run"].cpu
        met &= verdict("quotient", quotient, bound, at_most=False)
    return met


def measure(
    folder: str, rows: int = 1_000_000, rounds: int = 3, parts: Sequence[str] = PARTS
) -> bool:
    """Measure what is asked for; whether every bound is met."""
    there, met = Path(folder), True
    if "reading" in parts:
        met &= measure_reading(there, rows, rounds)
    if "memory" in parts:
        met &= measure_memory(there, rows)
    if "training" in parts:
        met &= measure_training(there, rows, rounds)
    return met


def main() -> int:
    """Measure in a folder that is removed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=PARTS, action="append")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="netsharp-bench-") as folder:
        measure(folder, given.rows, given.rounds, given.only or PARTS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
