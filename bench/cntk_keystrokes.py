"""What a keystroke costs in texts of CNTK's languages, without a server around.

`python -m bench.cntk_keystrokes [--lines N ...] [--edits N]` prints milliseconds of processor time:
of what a person waits for (the next version with the colours of a screen, then the names that are
proposed), and of judging it, which gives way to the next keystroke.  A letter is put behind a name
and taken out again; every version is judged before the next.
"""

from __future__ import annotations

import argparse
import gc
import random
import re
import time
from itertools import pairwise, product

from bench.cntk_generate import MAKERS, text
from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.text.edits import Edit, apply_edits

SEED = 23
#: The ids of languages whose files have another suffix.
IDS = {"bs": "brainscript"}
#: Bytes that a person sees at once.
SCREEN = 1_500
PHASES = ("colours", "names", "judge")
NAMES = re.compile(rb"[A-Za-z]+\d+")


def main() -> None:
    """Measure each language and length of text and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--lines", type=int, nargs="+", default=[100, 1_000, 10_000])
    arguments.add_argument("--edits", type=int, default=10)
    given = arguments.parse_args()
    print(f"{'lines':>8}  {'':5}" + "".join(f"{f'{one} p50':>14}{'p99':>9}" for one in PHASES))
    for lines, suffix in product(given.lines, MAKERS):
        runs = measured(suffix, lines, given.edits)
        row = (sorted(phase) for phase in zip(*runs, strict=True))
        cells = (f"{one[len(one) // 2]:14.1f}{one[int(len(one) * 0.99)]:9.1f}" for one in row)
        print(f"{lines:>8}  {suffix:5}{''.join(cells)}", flush=True)


def measured(suffix: str, lines: int, edits: int) -> list[list[float]]:
    """The phases of each edit in milliseconds; cycles are collected between them, as at rest."""
    chance = random.Random(SEED)
    data = text(suffix, lines, SEED)
    snapshot = language_by_id(IDS.get(suffix, suffix)).open(data, Context())
    snapshot.check()
    places = [found.end() for found in NAMES.finditer(data)]
    runs = []
    for _ in range(edits):
        at = chance.choice(places)
        for made in (Edit(at, at, "q"), Edit(at, at + 1, "")):
            data = apply_edits(data, [made])
            gc.collect()
            gc.disable()
            marks = [time.process_time()]
            snapshot = snapshot.edited(data, [made])
            snapshot.tokens(max(0, at - SCREEN // 2), at + SCREEN // 2)
            marks.append(time.process_time())
            snapshot.complete(at + len(made.text))
            marks.append(time.process_time())
            snapshot.check()
            marks.append(time.process_time())
            gc.enable()
            runs.append([1e3 * (b - a) for a, b in pairwise(marks)])
    return runs


if __name__ == "__main__":
    main()
