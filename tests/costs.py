"""What work costs in processor time, without the collector of cycles: it would look through what
other tests have left in memory.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

ROUNDS = 4
#: How often a bound that other work on the machine may have passed is measured.
TRIES = 5
#: How much dearer per unit the larger of two sizes may be where cost is in proportion.
SLACK = 2.5


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect what there is, and nothing within."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def spent(work: Callable[..., object], *given: object) -> float:
    """Seconds of processor time of some work on what it is given."""
    started = time.process_time()
    work(*given)
    return time.process_time() - started


def least(work: Callable[..., object], *given: object) -> float:
    """Seconds of processor time that some work takes where nothing else is in its way."""
    return min(spent(work, *given) for _ in range(3))


Figures = TypeVar("Figures")


def assert_measured(measured: Callable[[], Figures], holds: Callable[[Figures], bool]) -> None:
    """Measure until the figures hold, and fail with all of them where they never do.

    Other work on the machine makes a time longer; what grows faster than it may does so each time.
    """
    seen = []
    for _ in range(TRIES):
        seen.append(measured())
        if holds(seen[-1]):
            return
    raise AssertionError(seen)


def assert_in_proportion(
    prepared: Callable[[int], Callable[[], object]], small: int, large: int
) -> None:
    """Work on two sizes, in turn and each several times, costs hardly more for each unit of the
    larger; making it ready is not counted.
    """
    with uncollected():
        spent(prepared(small))
        pairs = [(spent(prepared(small)), spent(prepared(large))) for _ in range(ROUNDS)]
    few, many = (min(one) for one in zip(*pairs, strict=True))
    assert many < large / small * SLACK * few, pairs
