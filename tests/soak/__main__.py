"""`python -m tests.soak`: type into a live server for long, and say what became of it."""

from __future__ import annotations

import argparse
import sys

from tests.soak.typing import soak


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--edits", type=int, default=20_000)
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
    return 1 if typed.differences else 0


if __name__ == "__main__":
    sys.exit(main())
