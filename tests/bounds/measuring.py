"""Measures what commands cost for a bomb as it grows, and evaluates the growth.

`measure(bomb, sizes)` is all that a campaign needs; `verdict` says what is wrong with the figures.
CPU time is that of the command alone: a process forked for it, within limits of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from netsharp_lsp.limits import LIMITS
from tests.bounds.bombs import Bomb

ROOT = Path(__file__).parents[2]
#: At most so much more time for a text of twice the size.
GROWTH = 2.5
#: The number of sizes at which an expensive answer is measured, or all from 1 on if fewer.
SIZES = 4
#: Below this a figure is mostly noise: no ratio is taken from it.
FLOOR = 0.05
#: A text that costs less than this up to its largest size needs no ratio.
NOTHING = 0.1
#: No answer to a bomb takes more CPU time or memory than this.
SECONDS = 40
ADDRESSES = 6 * 2**30
MEMORY = 2**30
#: What is heard of a command's output, from its beginning and from its end.
HEARD = 4_000


class Measurement(NamedTuple):
    """What one answer took: CPU seconds, bytes of memory, and how it ended."""

    size: int
    cpu: float
    memory: int
    exit: int
    output: str

    @property
    def is_refusal(self) -> bool:
        """Whether the answer names a row of the table of limits."""
        return any(str(limit) in self.output for limit in LIMITS)


class Forks:
    """A process that answers commands in forks of itself."""

    def __init__(self) -> None:
        #: CPU seconds of all commands so far.
        self.cpu = 0.0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bounds.forking"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Forks:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)

    def run(self, arguments: Sequence[str], folder: Path, size: int) -> Measurement:
        """Run a command in a folder."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = {
            "arguments": list(arguments),
            "folder": str(folder),
            "bytes": ADDRESSES,
            "seconds": SECONDS,
        }
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        self.cpu += found["cpu"]
        output = heard(folder / ".stderr") + heard(folder / ".stdout")
        return Measurement(size, found["cpu"], found["memory"], found["exit"], output)


def heard(path: Path) -> str:
    """The beginning and the end of what was written into a file."""
    data = path.read_bytes()
    both = data if len(data) <= 2 * HEARD else data[:HEARD] + b"\n...\n" + data[-HEARD:]
    return both.decode("utf-8", "replace")


def measure(
    bomb: Bomb, sizes: Sequence[int] | None = None, forks: Forks | None = None
) -> list[Measurement]:
    """What the bomb's command costs at each size, above what it costs for next to nothing.

    Without `sizes` they are found: four from where it costs something, and none above `bomb.most`;
    what grows too fast is followed until it is refused. Where the end comes before the fourth, the
    missing ones are smaller.
    """
    if forks is None:
        with Forks() as own:
            return measure(bomb, sizes, own)
    base = min(_once(bomb, 1, forks).cpu for _ in range(2))
    if sizes is not None:
        return [_above(base, _once(bomb, size, forks)) for size in sizes]
    found: list[Measurement] = []
    size = bomb.least
    while size <= bomb.most and (len(found) < SIZES or growth(found) > GROWTH):
        one = _above(base, _once(bomb, size, forks))
        if one.cpu >= FLOOR or size * 2 > bomb.most or found:
            found.append(one)
        if one.exit < 0 or one.cpu > SECONDS / 3 or (found and one.is_refusal):
            break
        # What costs next to nothing needs no look at every size.
        far_off = one.cpu < FLOOR / 4 and bomb.least >= 64 and size * 8 <= bomb.most
        size *= 4 if far_off else 2
    while is_short(found) and not is_slow(found):
        found.insert(0, _above(base, _once(bomb, found[0].size // 2, forks)))
    return found


def without_end(found: Sequence[Measurement]) -> Sequence[Measurement]:
    """What growth is read from: all up to a refusal that costs less than the answer before it."""
    if len(found) > 1 and found[-1].is_refusal and found[-1].cpu < found[-2].cpu:
        return found[:-1]
    return found


def is_short(found: Sequence[Measurement]) -> bool:
    """Whether an answer that costs something was measured at fewer sizes than it could be."""
    grown = without_end(found)
    counts = grown[-1].cpu >= NOTHING and grown[-1].exit >= 0
    return counts and len(grown) < SIZES and grown[0].size > 1


def is_slow(found: Sequence[Measurement]) -> bool:
    """Whether an answer takes so long at its first sizes that no growth can be seen."""
    return len(found) < 3 and found[-1].cpu > SECONDS / 3


def _above(base: float, one: Measurement) -> Measurement:
    return one._replace(cpu=max(0.0, one.cpu - base))


def _once(bomb: Bomb, size: int, forks: Forks) -> Measurement:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "netsharp.toml").write_bytes(b"")
        for name, data in bomb.files(size).items():
            (place / name).write_bytes(data)
        return forks.run(bomb.command, place, size)


def verdict(found: Sequence[Measurement]) -> str | None:
    """What is wrong with the figures of a bomb, None where they are as they should be."""
    for one in found:
        if one.exit < 0 or one.exit not in (0, 1, 2):
            return (
                f"ended with {one.exit} at {one.size:,} after {one.cpu:.1f} s: {one.output[-300:]}"
            )
        if "Traceback" in one.output or "internal error" in one.output:
            return f"was unforeseen at {one.size:,}: {one.output[-300:]}"
        if "not enough memory" in one.output or one.memory > MEMORY:
            return f"took {one.memory / 2**20:,.0f} MiB at {one.size:,}"
    found = without_end(found)
    if found[-1].cpu < NOTHING:
        return None
    if is_slow(found):
        return f"takes {found[-1].cpu:.1f} s at {found[-1].size:,}"
    if is_short(found):
        return f"was measured at {len(found)} sizes alone, the smallest of {found[0].size:,}"
    worst = growth(found)
    if worst > GROWTH:
        figures = ", ".join(f"{one.size:,}: {one.cpu:.2f} s" for one in found)
        return f"grows {worst:.1f} times per doubling ({figures})"
    return None


def growth(found: Sequence[Measurement]) -> float:
    """How much more the last two doublings cost each, on the average: one alone is noise."""
    ratios = [after.cpu / before.cpu for before, after in pairwise(found) if before.cpu >= FLOOR][
        -2:
    ]
    product = 1.0
    for ratio in ratios:
        product *= ratio
    return float(product ** (1 / len(ratios))) if ratios else 1.0


def checked(bomb: Bomb, forks: Forks, tries: int = 6) -> tuple[str | None, list[Measurement]]:
    """The verdict on a bomb; what looks too slow is measured again, since noise only adds."""
    found = measure(bomb, None, forks)
    for _ in range(tries - 1):
        if verdict(found) is None or found[-1].exit < 0:
            break
        again = measure(bomb, [one.size for one in found], forks)
        found = [min(pair, key=lambda one: one.cpu) for pair in zip(found, again, strict=True)]
    return verdict(found), found
