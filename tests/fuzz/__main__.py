"""`python -m tests.fuzz`: run the fuzzers by hand, or one trial again."""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.campaign import FOLDER, FUZZERS, run, summary


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    add = parser.add_argument
    add("--seconds", type=float, default=600, help="how long, shared by the fuzzers")
    add("--seed", type=int, default=1, help="where chance starts; the same seed, the same texts")
    add("--models", type=int, default=0, help="how many damaged model files at least")
    add("--fuzzer", choices=FUZZERS, help="only this one")
    add("--only", type=int, metavar="TRIAL", help="only this trial of --fuzzer, with its failure")
    args = parser.parse_args()
    if args.only is not None and args.fuzzer is None:
        parser.error("--only needs --fuzzer")
    names = [args.fuzzer] if args.fuzzer else list(FUZZERS)
    failures = 0
    for name in names:
        least = args.models if name == "models" else 0
        campaign = run(name, args.seed, args.seconds / len(names), least, args.only)
        print(summary(name, args.seed, campaign), flush=True)
        failures += len(campaign.failures)
        if args.only is not None:
            for failure in campaign.failures:
                print(failure.report, failure.text.decode("utf-8", "backslashreplace"), sep="\n")
    if failures and args.only is None:
        print(f"the inputs that failed are in {FOLDER}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
