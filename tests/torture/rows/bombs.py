"""Bombs: texts that grow twofold, answered in time and memory that grow with them, or refused."""

from __future__ import annotations

import random
from functools import cache

from tests.bounds.bombs import Bomb
from tests.bounds.every import EVERY
from tests.bounds.measuring import NOTHING, Forks, checked, measure, verdict
from tests.torture.campaign import Report, Row, Scale, Try

#: Prime, so that neighbours of the table are far apart and every bomb has its turn.
STRIDE = 7919
#: Repetitions for which quadratic growth takes seconds and linear growth does not.
ENOUGH = 2**13
#: The factor of the next size, which is measured while it takes less than `BRIEF` CPU seconds.
STEP, BRIEF = 8, 1.0


@cache
def _forks() -> Forks:
    """One process for all bombs; it ends with this one, whose pipe it reads."""
    return Forks()


def drawn(one: Try) -> Bomb:
    """The bomb of a try: the seed chooses where in the table to begin, the number counts from
    there.
    """
    first = random.Random(one.seed).randrange(len(EVERY))
    return EVERY[(first + one.number * STRIDE) % len(EVERY)]


def attempt(one: Try) -> Report:
    """Measure one bomb: at sizes up to its largest in a long campaign, else at small ones."""
    bomb = drawn(one)
    before = _forks().cpu
    if one.scale is Scale.LONG:
        wrong, _ = checked(bomb, _forks())
    else:
        wrong = _briefly(bomb, bomb.least << 3 if one.scale is Scale.GLANCE else ENOUGH)
    again = f"python -m tests.bounds {bomb.language} {bomb.name!r}"
    failures = [] if wrong is None else [f"{bomb.language}, {bomb.name}: {wrong}  ({again})"]
    return Report(1, failures, cpu=_forks().cpu - before)


def _briefly(bomb: Bomb, enough: int) -> str | None:
    """What is wrong with a bomb of limited size and cost; measured at four if it costs much."""
    size = min(bomb.most, enough, ENOUGH // STEP)
    found = measure(bomb, [size], _forks())
    while size * STEP <= min(bomb.most, enough) and found[0].cpu * STEP < BRIEF:
        size *= STEP
        found = measure(bomb, [size], _forks())
    if found[0].cpu < NOTHING or found[0].exit < 0:
        return verdict(found)
    limited = bomb._replace(least=max(1, size >> 4), most=min(bomb.most, max(size, enough)))
    wrong, _ = checked(limited, _forks())
    return wrong


ROW = Row(
    "bombs",
    "texts of every language and of settings, growing twofold over four sizes: CPU time at most "
    "2.5 times per doubling and memory bounded, or a refusal that names its limit",
    attempt,
)
