"""What work costs in processor time, without the collector of cycles: it would look through what
other tests have left in memory.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ROUNDS = 4
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


def spent(work: Callable[[], object]) -> float:
    """Seconds of processor time of some work."""
    started = time.process_time()
    work()
    return time.process_time() - started


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
