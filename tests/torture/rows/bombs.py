"""Bombs: texts that grow twofold, answered in time and memory that grow with them, or refused."""

from __future__ import annotations

from functools import cache

from tests.bounds.every import EVERY
from tests.bounds.measuring import Forks, judged, measure, verdict
from tests.torture.campaign import Report, Row, Scale, Try

#: Prime, so that neighbours of the table are far apart and every bomb has its turn.
STRIDE = 7919


@cache
def _forks() -> Forks:
    """One process for all bombs; it ends with this one, whose pipe it reads."""
    return Forks()


def attempt(one: Try) -> Report:
    """Measure one bomb at four sizes or more; a glance takes the smallest ones."""
    bomb = EVERY[one.number * STRIDE % len(EVERY)]
    if one.scale is Scale.GLANCE:
        sizes = [bomb.least << doubling for doubling in range(4)]
        wrong = verdict(measure(bomb, sizes, _forks()))
    else:
        wrong, _ = judged(bomb, _forks())
    return Report(1, [] if wrong is None else [f"{bomb.language}, {bomb.name}: {wrong}"])


ROW = Row(
    "bombs",
    "texts of every language and of settings, growing twofold over four sizes: CPU time at most "
    "2.5 times per doubling and memory bounded, or a refusal that names its limit",
    attempt,
)
