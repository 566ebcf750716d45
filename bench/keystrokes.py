"""What a keystroke costs: from an edited text to its diagnostics, without a server around.

`python -m bench.keystrokes [--lines N ...] [--edits N]` prints milliseconds of processor time.
Half of the edits break a bracket or a `;`, half put a letter into a name behind `from`; each is
then undone.  Quiet edits put a digit into a number.  Each text is sound, and once more has two
findings in each block, which stand there all the time.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from itertools import pairwise, product

from bench.generate import SEED, flawed, netsharp
from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.snapshot import Snapshot
from netsharp_lsp.text.edits import Edit, apply_edits

PLACES = {
    "bracket": re.compile(rb"[\[\]{};]"),
    "name": re.compile(rb"from +[A-Za-z]+\d*"),
    "number": re.compile(rb"\d+(?= *;)"),
}
#: What is typed at the end of a place, where it is not taken out.
TYPED = {"name": "q", "number": "1"}
PHASES = ("read", "resolve", "judge")


def main() -> None:
    """Measure each length of text and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--lines", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    arguments.add_argument("--edits", type=int, default=100)
    given = arguments.parse_args()
    print(f"{'lines':>8} {'found':>7}  {'edit':13}{'p50':>8}{'p99':>8}   {', '.join(PHASES)}")
    for lines, change in product(given.lines, (bytes, flawed)):
        text = change(netsharp(lines))
        found = len(Snapshot.opened(text, Context()).check().diagnostics)
        for kind, runs in measured(text, given.edits).items():
            total = sorted(sum(run) for run in runs)
            phases = zip(*runs, strict=True)
            middle = "  ".join(f"{sorted(part)[len(part) // 2]:6.1f}" for part in phases)
            p50, p99 = total[len(total) // 2], total[int(len(total) * 0.99)]
            print(f"{lines:>8} {found:>7}  {kind:13}{p50:8.1f}{p99:8.1f}   {middle}")


def measured(text: bytes, edits: int) -> dict[str, list[list[float]]]:
    """The phases of each edit in milliseconds, by kind; a repair undoes what broke."""
    chance = random.Random(SEED)
    snapshot = Snapshot.opened(text, Context())
    snapshot.check()
    runs: dict[str, list[list[float]]] = {}
    for kind, pattern in PLACES.items():
        spans = [match.span() for match in pattern.finditer(text)]
        for _ in range(edits // 2):
            start, end = chance.choice(spans)
            there = Edit(end, end, TYPED[kind]) if kind in TYPED else Edit(start, end, "")
            size = len(there.text)
            old = text[there.start : there.end].decode()
            back = Edit(there.start, there.start + size, old)
            for name, edit in ((kind, there), (f"{kind} back", back)):
                snapshot, run = typed(snapshot, edit)
                runs.setdefault(name, []).append(run)
    return runs


def typed(snapshot: Snapshot, edit: Edit) -> tuple[Snapshot, list[float]]:
    """The next version, and what each phase of it took."""
    data = apply_edits(snapshot.data, [edit])
    marks = [time.process_time()]
    reading, delta = snapshot.reading.edited(data, [edit])
    marks.append(time.process_time())
    snapshot.examination.edited(reading.specification, delta)
    after = Snapshot(reading, snapshot.examination)
    marks.append(time.process_time())
    after.check()
    marks.append(time.process_time())
    return after, [1e3 * (later - mark) for mark, later in pairwise(marks)]


if __name__ == "__main__":
    main()
