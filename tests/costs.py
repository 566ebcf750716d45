"""What work costs in processor time.  The only place where tests read the clock to check a bound:
other work on the machine makes any one reading longer, so a bound is broken when all are beyond it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

#: How often two sizes are measured in turn before the larger counts as too dear.
ROUNDS = 10
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


def now() -> float:
    """Seconds of processor time that this process has used."""
    return time.process_time()


def spent(work: Callable[..., object], *given: object) -> float:
    """Seconds of processor time of some work on what it is given."""
    started = now()
    work(*given)
    return now() - started


def spent_by_children(work: Callable[..., object], *given: object) -> float:
    """Seconds of processor time of the processes that some work starts and waits for."""
    import resource

    def used() -> float:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime

    started = used()
    work(*given)
    return used() - started


def least(work: Callable[..., object], *given: object) -> float:
    """Seconds of processor time that some work takes where nothing else is in its way."""
    return min(spent(work, *given) for _ in range(3))


Figures = TypeVar("Figures")
Result = TypeVar("Result")


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
    prepared: Callable[[int], Callable[[], object]], small: int, large: int, slack: float = SLACK
) -> None:
    """Work on two sizes, in turn and at least twice each, costs hardly more for each unit of the
    larger; making it ready is not counted.
    """
    spent(prepared(small))
    pairs = []
    with uncollected():
        for _ in range(ROUNDS):
            pairs.append((spent(prepared(small)), spent(prepared(large))))
            few, many = (min(one) for one in zip(*pairs, strict=True))
            if len(pairs) > 1 and many < large / small * slack * few:
                return
    raise AssertionError(pairs)


def within(
    seconds: float,
    work: Callable[[], Result],
    cost: Callable[[Callable[[], object]], float] = spent,
) -> Result:
    """Do some work that must not take longer than this by its cost, and return what it gives.

    It is done again where it took longer, `TRIES` times at most: it has to be repeatable.
    """
    given: list[Result] = []

    def measured() -> float:
        return cost(lambda: given.append(work()))

    assert_measured(measured, lambda took: took < seconds)
    return given[-1]
