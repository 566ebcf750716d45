"""`python -m tests.torture`: try the promises as an adversary would; say what became of each."""

from __future__ import annotations

import argparse
import json
import sys

from tests.torture.campaign import MOST_SHOWN, Scale, run
from tests.torture.rows import ROWS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    add = parser.add_argument
    add("--seconds", type=float, default=600, help="how long, shared by the rows")
    add("--seed", type=int, default=1, help="where chance starts; the same seed, the same tries")
    add("--row", action="append", choices=ROWS, metavar="NAME", help=f"of {', '.join(ROWS)}")
    add("--only", type=int, metavar="TRY", help="only this try of each row")
    add("--tries", type=int, metavar="N", help="no more than so many tries of a row")
    add("--full", action="store_true", help="folders and storms as large as they come")
    add("--json", metavar="FILE", help="write the figures there")
    args = parser.parse_args()
    rows = [ROWS[name] for name in args.row or ROWS]
    print(f"torture: seed {args.seed}, {args.seconds:.0f} s for {len(rows)} rows", flush=True)
    scale = Scale.LONG if args.full else Scale.SHORT
    outcomes = []
    for outcome in run(rows, args.seconds, args.seed, scale, args.only, args.tries):
        outcomes.append(outcome)
        print(outcome.line(), flush=True)
        for figure in outcome.figures:
            print(f"  {figure}", flush=True)
        for failure in outcome.failures[:MOST_SHOWN]:
            print(f"  {failure}", flush=True)
    figures = {
        one.row.name: {
            "what": one.row.what,
            "tries": one.tries,
            "failures": one.failures,
            "figures": one.figures,
            "cpu": round(one.cpu, 1),
            "wall": round(one.wall, 1),
        }
        for one in outcomes
    }
    if args.json:
        with open(args.json, "w", encoding="utf-8") as stream:
            json.dump({"seed": args.seed, "rows": figures}, stream, indent=1)
    failed = sum(len(one.failures) for one in outcomes)
    print(f"seed {args.seed}: {sum(one.tries for one in outcomes):,} tries, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
