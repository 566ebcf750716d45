"""Runs commands in turns and says what they cost; knows nothing of what it measures.

CPU time is that of the finished child process and its children, from the operating system.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

#: One thread each, and compiled modules kept as everywhere outside a bench.
ENVIRONMENT = {
    key: value
    for key, value in os.environ.items()
    if key
    not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONPROFILEIMPORTTIME")
} | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Cost(NamedTuple):
    """Seconds of one run."""

    cpu: float
    wall: float


class Command(NamedTuple):
    """What to run: its words, the file for its stdin, and the exit codes that are no failure."""

    words: Sequence[str]
    stdin: str | None = None
    lawful: tuple[int, ...] = (0,)


def cost(command: Command) -> Cost:
    """Run once; RuntimeError with its stderr where it fails."""
    with (
        open(command.stdin or os.devnull, "rb") as source,
        tempfile.TemporaryFile() as errors,
    ):
        started = time.perf_counter()
        child = subprocess.Popen(
            command.words, stdin=source, stdout=subprocess.DEVNULL, stderr=errors, env=ENVIRONMENT
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in command.lawful:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
            raise RuntimeError(f"{' '.join(command.words)} ended with {child.returncode}: {said}")
    return Cost(usage.ru_utime + usage.ru_stime, wall)


def in_turns(commands: Mapping[str, Command], rounds: int) -> dict[str, Cost]:
    """Run A B C, A B C, ... and return the median costs, by CPU time and by wall."""
    seen: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            seen[name].append(cost(command))
    return {
        name: Cost(*(statistics.median(part) for part in zip(*costs, strict=True)))
        for name, costs in seen.items()
    }


def headline(text: str) -> None:
    """Print what comes next, with the load of the machine at that moment."""
    print(f"\n{text}  [load {os.getloadavg()[0]:.1f}]", flush=True)


def verdict(text: str, value: float, bound: float, *, at_most: bool, unit: str = "") -> bool:
    """Print a figure beside its bound and whether it is met."""
    met = value <= bound if at_most else value >= bound
    sign = "at most" if at_most else "at least"
    said = "met" if met else "NOT met"
    print(f"  {text:<46} {value:8.2f}{unit}  must be {sign} {bound:g}{unit}: {said}", flush=True)
    return met


def left_out(what: str, why: object) -> None:
    """Name a peer that could not be measured."""
    print(f"  {what} is left out: {why}", flush=True)
