"""What netsharp makes of a folder that the world wrote: a checkout of CNTK's sources, or any other.

    python bench/world.py FOLDER [--json FILE]

Counts files read and errors by code, compares the networks of recorded logs with ours, proves
migrations, and tries the laws of formatting on a copy.  Reads the folder and changes nothing in it;
knows `netsharp` by its command line alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

#: How the scripts of CNTK's tests begin a run in a log: the program, then its arguments.
RUN = re.compile(r"^=== Running (?:mpiexec .*? )?\S*cntk(?:\.exe)? +(?P<items>.*)$", re.MULTILINE)
#: An argument of such a run; nested settings hold blanks and brackets of their own.
ITEM = re.compile(
    r"(?<!\S)(?P<key>\w+)=(?P<value>\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\]|\S+)"
)
#: Where a training begins in a log, in its two forms, and where any action does.
TRAINING = re.compile(
    r"CNTKCommandTrainBegin: (?P<old>\w+)|# (?P<new>\w+) command \(train action\)"
)
ACTION = re.compile(r'# Action "\w+"|# \w+ command \(\w+ action\)')
VALIDATED = "Validating --> "
CHECKED = re.compile(r"([\d,]+) files? checked")
#: Larger files are data, not logs.
MOST_BYTES = 16 << 20
PATIENCE = 600
#: Networks that agree with their log or not; those of which a file is missing, or that another
#: command trained; and those whose configuration is not in the folder.
VERDICTS = ("equal", "different", "not evaluated", "missing")
#: A line that says why a network is not evaluated: not the code under a finding, or a lesser one.
SAYS_WHY = re.compile(r"error|netsharp: ")
_PATH = re.compile(r"[/\\]")
SAME = "The log has the same "


class Training(NamedTuple):
    """A training that a log recorded: the arguments of its run, its command, what it printed."""

    log: Path
    items: tuple[tuple[str, str], ...]
    command: str
    text: str


class Compared(NamedTuple):
    """What became of a training: `verdict` is one of VERDICTS, and why where it is not equal."""

    training: Training
    verdict: str
    reason: str = ""


def main() -> int:
    """Measure a folder and print its figures; 2 where there is none."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        print(f"{arguments.folder}: there is no such folder.", file=sys.stderr)
        return 2
    figures = measure(arguments.folder.resolve())
    for line in lines(figures):
        print(line)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


def measure(folder: Path) -> dict[str, Any]:
    """Return all figures of a folder."""
    checked, findings = check(folder)
    errors = Counter(one["code"] for one in findings if one["severity"] == "error")
    return {
        "files": checked,
        "errors": dict(errors.most_common()),
        "logs": networks_of_logs(folder),
        "migration": migrations(folder),
        "formatting": formatting(folder, findings),
    }


def lines(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the figures as people read them."""
    logs, migration, layout = figures["logs"], figures["migration"], figures["formatting"]
    yield f"files read      {figures['files']:,}"
    yield f"errors          {sum(figures['errors'].values()):,}{_listed(figures['errors'])}"
    yield f"logs            {logs['trainings']:,} networks of trainings{_listed(logs['verdicts'])}"
    for name, reason in logs["reasons"]:
        yield f"                {name}: {reason}"
    yield f"migration       {sum(migration.values()):,} networks{_listed(migration)}"
    yield (
        f"formatting      {layout['changed']:,} files changed, {layout['failed']:,} failed, "
        f"{layout['unstable']:,} changed by a second run, "
        f"{layout['findings']:,} findings changed"
    )


def _listed(counts: dict[str, int]) -> str:
    listed = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return f": {listed}" if listed else ""


def check(folder: Path) -> tuple[int, list[dict[str, Any]]]:
    """Check a folder: how many files were read, and the findings."""
    done = netsharp("check", str(folder), "--isolated", "--format", "json")
    counted = CHECKED.search(netsharp("check", str(folder), "--isolated").stdout)
    findings: list[dict[str, Any]] = json.loads(done.stdout)["diagnostics"]
    return int(counted[1].replace(",", "")) if counted else 0, findings


def networks_of_logs(folder: Path) -> dict[str, Any]:
    """Compare every training that a log below the folder recorded with what we evaluate."""
    places = _places(folder)
    seen = [_compared(one, folder, places) for path in logs(folder) for one in trainings(path)]
    counts = Counter(one.verdict for one in seen)
    return {
        "trainings": len(seen),
        "verdicts": {verdict: counts[verdict] for verdict in VERDICTS},
        "reasons": [
            (f"{one.training.log.relative_to(folder)} {one.training.command}", one.reason)
            for one in seen
            if one.reason
        ],
    }


def logs(folder: Path) -> Iterator[Path]:
    """Yield the texts below a folder that a run was recorded in."""
    for path in sorted(below(folder)):
        recorded = path.suffix in {".txt", ".log"} and path.is_file()
        if recorded and path.stat().st_size <= MOST_BYTES:
            yield path


def below(folder: Path) -> Iterator[Path]:
    """Yield files and folders below a folder, without those of git."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (Path(place, name) for name in (*folders, *names))


def trainings(path: Path) -> Iterator[Training]:
    """Yield the trainings of a log, each with what was printed until the next action."""
    text = path.read_text(encoding="utf-8", errors="replace")
    runs = list(RUN.finditer(text))
    for number, run in enumerate(runs, 1):
        told = text[run.end() : runs[number].start() if number < len(runs) else len(text)]
        known: set[str] = set()
        for found in TRAINING.finditer(told):
            following = ACTION.search(told, found.end())
            printed = told[found.end() : following.start() if following else len(told)]
            command = found["old"] or found["new"]
            # The newer logs name a training twice, and those of several processes once for each.
            if VALIDATED in printed and command not in known:
                known.add(command)
                items = tuple((one["key"], one["value"]) for one in ITEM.finditer(run["items"]))
                yield Training(path, items, command, printed)


def _compared(training: Training, folder: Path, places: dict[str, list[Path]]) -> Compared:
    files: list[Path | None] = []
    items, directory = [], folder
    moved = _moved(training, places)
    for key, value in training.items:
        paths = [_here(one, training.log, places) for one in value.split("+")]
        here = moved.get(_parts(value)) or (paths[0] if _PATH.search(value) else None)
        if key == "configFile":
            files += paths
        elif key == "currentDirectory":
            directory = moved.get(_parts(value)) or paths[0] or folder
        else:
            items += ["--set", f"{key}={here or value}"]
    if not files or None in files:
        return Compared(training, "missing")
    with tempfile.NamedTemporaryFile("w", suffix=".log", encoding="utf-8") as log:
        log.write(training.text)
        log.flush()
        asked = ["describe", "+".join(map(str, files)), "--isolated"]
        asked += ["--command", training.command, "--log", log.name]
        asked += ["--root", str(folder), "--root", os.path.dirname(log.name)]
        done = netsharp(*asked, *items, directory=directory if directory.is_dir() else folder)
    if done.stdout.startswith(SAME):
        return Compared(training, "equal")
    if done.stdout.startswith(log.name):
        return Compared(training, "different", done.stdout.removeprefix(log.name).strip(": \n"))
    reasons = [line for line in done.stderr.splitlines() if SAYS_WHY.match(line)]
    return Compared(training, "not evaluated", (reasons or ["nothing was said"])[0])


def _places(folder: Path) -> dict[str, list[Path]]:
    """Files and folders below a folder by their names."""
    places: dict[str, list[Path]] = {}
    for path in below(folder):
        places.setdefault(path.name, []).append(path)
    return places


def _moved(training: Training, places: dict[str, list[Path]]) -> dict[tuple[str, ...], Path]:
    """Folders of configurations by their paths on the machine that ran, and where they lie."""
    given = [value for key, value in training.items if key == "configFile"]
    found = {path: _here(path, training.log, places) for one in given for path in one.split("+")}
    return {_parts(path)[:-1]: here.parent for path, here in found.items() if here is not None}


def _parts(path: str) -> tuple[str, ...]:
    return tuple(os.path.normpath(path.replace("\\", "/")).split("/"))


def _here(path: str, log: Path, places: dict[str, list[Path]]) -> Path | None:
    """Where a path of the machine that ran lies in the folder: the place with the longest end in
    common, and of several the one nearest to the log.  One that shares its name alone is another,
    unless it lies around the log.
    """
    parts = _parts(path)

    def common(place: Path) -> tuple[int, int]:
        return (
            _shared(tuple(reversed(place.parts)), tuple(reversed(parts))),
            _shared(place.parts, log.parts),
        )

    found = max(places.get(parts[-1], ()), key=common, default=None)
    alone = found is not None and common(found)[0] == 1 and found.parent not in log.parents
    return None if alone else found


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many parts two paths begin with alike."""
    return sum(1 for _ in takewhile(bool, map(str.__eq__, one, other)))


def migrations(folder: Path) -> dict[str, int]:
    """Count the networks of NDL by what their migration would be."""
    done = netsharp("migrate", str(folder), "--isolated", "--format", "json")
    told = json.loads(done.stdout)["networks"] if done.stdout.startswith("{") else []
    return dict(Counter(one["status"] for one in told).most_common())


def formatting(folder: Path, before: list[dict[str, Any]]) -> dict[str, int]:
    """Format a copy twice: files that changed, failed or changed again, findings that did."""
    with tempfile.TemporaryDirectory(prefix="netsharp-world-") as name:
        copy = Path(name) / folder.name
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        first = netsharp("fmt", str(copy), "--isolated").stderr
        again = netsharp("fmt", str(copy), "--isolated").stderr
        _, after = check(copy)
        findings = (_by_file(before, folder) - _by_file(after, copy)) + (
            _by_file(after, copy) - _by_file(before, folder)
        )
    return {
        "changed": _counted(first, "reformatted"),
        "failed": _counted(first, "failed"),
        "unstable": _counted(again, "reformatted"),
        "findings": findings.total(),
    }


def _by_file(findings: list[dict[str, Any]], folder: Path) -> Counter[tuple[str, str]]:
    return Counter((os.path.relpath(one["file"], folder), one["code"]) for one in findings)


def _counted(said: str, verb: str) -> int:
    found = re.search(rf"([\d,]+) files? {verb}", said)
    return int(found[1].replace(",", "")) if found else 0


def netsharp(*arguments: str, directory: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command of this Python's environment."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "netsharp_lsp", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PATIENCE,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
