"""Runs experiments beside which stand the figures that CNTK printed, and prints both, line by line.

    python examples/cntk/compare.py examples/cntk/plane [FOLDER ...]

A folder holds one configuration, its data and `figures.tsv`; it is copied, so nothing is written in
it.  The second run of a folder begins again after the last model is removed.  The exit code is 1
where the figures of an epoch or a test differ by more than a millionth.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 1e-6
#: What the log of a run calls the lines of the table.
EVENTS = {"minibatches": "step", "epoch": "epoch", "test": "end"}
NETSHARP = (sys.executable, "-P", "-m", "netsharp_lsp")


def figures(folder: Path, configuration: str) -> list[dict[str, object]]:
    """Return the events of a run."""
    command = (*NETSHARP, "run", "--events", configuration)
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def remove_model(folder: Path, configuration: str) -> None:
    """Remove what the run ended with; its checkpoints stay."""
    command = (*NETSHARP, "config", configuration, "--get", "modelPath")
    told = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    (folder / told.stdout.strip()).unlink()


def compared(folder: Path) -> int:
    """Print a folder's comparison; how many figures of epochs and tests differ."""
    configuration = next(folder.glob("*.cntk")).name
    rows = [line.split("\t") for line in (folder / "figures.tsv").read_text().splitlines()[1:]]
    differ = 0
    for which in dict.fromkeys(row[0] for row in rows):
        if which != "1":
            remove_model(folder, configuration)
        events = figures(folder, configuration)
        print(f"{configuration}, run {which}: loss printed, here, difference; the same of errors")
        for _, what, epoch, minibatches, _, *printed in (row for row in rows if row[0] == which):
            kind = EVENTS[what]
            at = next(number for number, one in enumerate(events) if one["event"] == kind)
            event = events.pop(at)
            (errors,) = event["evaluation"].values()  # type: ignore[attr-defined]
            far, line = False, f"{what} {epoch} {minibatches}".strip().ljust(24)
            for before, now in zip(printed, (event["loss"], errors), strict=True):
                difference = abs(float(now) / float(before) - 1) if float(before) else float(now)
                far = far or difference > MOST
                line += f"  {before:>11}  {now:11.8f}  {difference:7.1e}"
            print(line)
            differ += far and what != "minibatches"
    return differ


def main(folders: list[str]) -> int:
    """Compare each folder in a copy of it."""
    differ = 0
    for name in folders:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "run"
            shutil.copytree(name, folder, ignore=shutil.ignore_patterns("out"))
            differ += compared(folder)
    print("All epochs and tests are as printed." if not differ else f"{differ} lines differ.")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
