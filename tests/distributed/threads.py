"""Ranks that are threads of one process: the same calls as between processes, in a moment."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, BrokenBarrierError, Thread
from typing import Any, TypeVar

import numpy as np

from netsharp_engine.distributed.ranks import Ranks

Value = TypeVar("Value")


class Meeting:
    """Where threads leave what they have."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.barrier = Barrier(size, timeout=60)
        self.given: list[Any] = [None] * size


class ThreadComm:
    """One of the threads that meet."""

    def __init__(self, meeting: Meeting, rank: int) -> None:
        self.rank, self.size, self._meeting = rank, meeting.size, meeting

    def gather(self, data: Any) -> list[Any]:
        self._meeting.given[self.rank] = data
        self._meeting.barrier.wait()
        found = list(self._meeting.given)
        self._meeting.barrier.wait()
        return found

    def broadcast(self, array: np.ndarray, source: int = 0) -> None:
        array[:] = self.gather(array.copy())[source]

    def all_reduce_(self, *arrays: Any) -> None:
        for given in arrays:
            # A tensor of the host shares its numbers with an array.
            array = given if isinstance(given, np.ndarray) else given.numpy()
            parts = self.gather(array.copy())
            array[:] = parts[0]
            for part in parts[1:]:
                array += part

    def barrier(self) -> None:
        self.gather(b"")


def together(size: int, work: Callable[[Ranks], Value]) -> list[Value]:
    """What some work gives in each of `size` ranks; raises what one of them raised."""
    meeting = Meeting(size)
    found: list[Any] = [None] * size

    def done(rank: int) -> None:
        try:
            found[rank] = work(Ranks(ThreadComm(meeting, rank)))
        except BaseException as error:
            found[rank] = error
            meeting.barrier.abort()

    threads = [Thread(target=done, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    faults = [one for one in found if isinstance(one, BaseException)]
    for one in sorted(faults, key=lambda fault: isinstance(fault, BrokenBarrierError)):
        raise one
    return found
