"""Runs rows of a table: each tries one promise again and again until its share of the time is over.

Try N of a row and a seed is always the same; a try works in a folder of its own.
"""

from __future__ import annotations

import random
import resource
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import NamedTuple

#: A row that has failed so often has failed enough to be looked at.
MOST_SHOWN = 20


class Scale(Enum):
    """How large folders and storms are: for a glance, in a short campaign, in a long one."""

    GLANCE = 0
    SHORT = 1
    LONG = 2


class Report(NamedTuple):
    """How often something was tried, a sentence for each failure, and figures worth a line.

    `cpu`: CPU seconds of processes that have not ended.
    """

    tries: int
    failures: list[str]
    figures: tuple[str, ...] = ()
    cpu: float = 0.0


class Try(NamedTuple):
    """One try: the campaign's seed, its number, its chance, an empty folder, and the scale of the
    try.
    """

    seed: int
    number: int
    chance: random.Random
    folder: Path
    scale: Scale


@dataclass(frozen=True)
class Row:
    """A promise by name, what is tried, and the function that tries it once."""

    name: str
    what: str
    attempt: Callable[[Try], Report]


@dataclass
class Outcome:
    """What became of a row."""

    row: Row
    tries: int = 0
    cpu: float = 0.0
    wall: float = 0.0
    failures: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)

    def line(self) -> str:
        return (
            f"{self.row.name:<10} {self.tries:>7,} tries  {len(self.failures):>4} failures  "
            f"{self.cpu:>7.1f} s CPU  {self.wall:>7.1f} s"
        )


def run(
    rows: Sequence[Row],
    seconds: float,
    seed: int,
    scale: Scale = Scale.SHORT,
    only: int | None = None,
    most: int | None = None,
) -> Iterator[Outcome]:
    """Give every row its share of the time, at least one try; what a row leaves goes to the rest.

    `only`: one try by its number, for each row.  `most`: the most tries.
    """
    ends = time.monotonic() + seconds
    for number, row in enumerate(rows):
        share = max(0.0, ends - time.monotonic()) / (len(rows) - number)
        yield _run_row(row, share, seed, scale, only, most)


def _run_row(
    row: Row, seconds: float, seed: int, scale: Scale, only: int | None, most: int | None
) -> Outcome:
    outcome = Outcome(row)
    started, cpu = time.monotonic(), _cpu()
    numbers = iter((only,)) if only is not None else iter(range(most or 1_000_000_000))
    for number in numbers:
        chance = random.Random(f"{row.name} {seed} {number}")
        with _folder() as folder:
            try:
                report = row.attempt(Try(seed, number, chance, folder, scale))
            except Exception:
                report = Report(1, [f"the try itself failed:\n{traceback.format_exc()}"])
        outcome.tries += report.tries
        outcome.figures += report.figures
        outcome.cpu += report.cpu
        again = f"--row {row.name} --seed {seed} --only {number}"
        again += " --full" if scale is Scale.LONG else ""
        outcome.failures += [f"{failure}  (again: {again})" for failure in report.failures]
        if time.monotonic() - started >= seconds:
            break
    outcome.cpu += _cpu() - cpu
    outcome.wall = time.monotonic() - started
    return outcome


def _cpu() -> float:
    """CPU seconds of this process and of all children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve() / "work"
        folder.mkdir()
        yield folder
