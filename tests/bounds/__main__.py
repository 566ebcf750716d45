"""Measures bombs by hand: `python -m tests.bounds [LANGUAGE] [PART OF A NAME]`."""

from __future__ import annotations

import sys

from tests.bounds.every import EVERY
from tests.bounds.measuring import Forks, checked


def main(arguments: list[str]) -> int:
    """Print a line for each bomb that is meant; the number of those that fail."""
    language, part = (*arguments, "", "")[:2]
    meant = [bomb for bomb in EVERY if bomb.language.startswith(language) and part in bomb.name]
    failures = 0
    with Forks() as forks:
        for bomb in meant:
            wrong, found = checked(bomb, forks)
            failures += wrong is not None
            figures = " ".join(f"{one.size}:{one.cpu:.2f}" for one in found)
            took = f"[{figures}; {found[-1].memory >> 20} MiB]"
            print(f"{bomb.language}: {bomb.name}: {wrong or 'fine'} {took}", flush=True)
    print(f"{len(meant)} bombs, {failures} failures")
    return min(failures, 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
