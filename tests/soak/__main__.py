"""`python -m tests.soak`: type into a live server for long, and say what became of it."""

from __future__ import annotations

import argparse
import sys

from tests.soak.typing import Typed, soak

#: The edits after which a server has met the most expensive request: one code action of a text full
#: of faults leaves 3 MiB more in use, whenever it is drawn. As many edits follow.
SETTLED = 15_000
MOST_GROWTH = 1.05


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--edits", type=int, default=30_000)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    typed = soak(args.edits, args.comparisons, args.seed)
    for edits, memory in typed.memory.items():
        print(f"{edits:>7,} edits  {memory:6.1f} MiB")
    print(
        f"seed {args.seed}: {typed.edits:,} edits, {typed.requests:,} requests, "
        f"{typed.comparisons} comparisons, {len(typed.differences)} differences"
    )
    for difference in typed.differences[:3]:
        print(difference)
    grown = growth(typed)
    if grown is not None:
        print(f"memory at the end / after {SETTLED:,} edits: {grown:.3f} (at most {MOST_GROWTH})")
    return 1 if typed.differences or (grown is not None and grown > MOST_GROWTH) else 0


def growth(typed: Typed) -> float | None:
    """Memory at the end beside that of a server that has settled; None where it ended earlier."""
    if SETTLED not in typed.memory or max(typed.memory) == SETTLED:
        return None
    return typed.memory[max(typed.memory)] / typed.memory[SETTLED]


if __name__ == "__main__":
    sys.exit(main())
