"""Kernels in the order in which they run, and which of them wait for which, while pairs are merged.

Each kernel keeps its first position as its number, so that nothing is renumbered after a merge.
When two kernels may become one is not known here.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from netsharp_engine.wgpu_backend.kernels import DeviceKernel


class KernelLine:
    """Kernels by position; merging leaves gaps.

    A kernel waits for the last earlier writer of each buffer that it reads or writes, and for those
    that have read, since that writer, what it overwrites.
    """

    def __init__(self, kernels: Sequence[DeviceKernel]) -> None:
        self._kernels: list[DeviceKernel | None] = list(kernels)
        self._next = list(range(1, len(kernels) + 1))
        self._previous = list(range(-1, len(kernels) - 1))
        self._reads: dict[int, set[int]] = {}
        self._writes: dict[int, set[int]] = {}
        #: By buffer, the sorted positions of its writers, and of those that only read it.
        self._writers: dict[int, list[int]] = {}
        self._readers: dict[int, list[int]] = {}
        for place, kernel in enumerate(kernels):
            self._enter(place, kernel)

    def at(self, place: int) -> DeviceKernel:
        """Return the kernel at a position that is not a gap."""
        kernel = self._kernels[place]
        assert kernel is not None
        return kernel

    def left(self) -> list[DeviceKernel]:
        """Return the remaining kernels in order."""
        return [kernel for kernel in self._kernels if kernel is not None]

    def following(self, place: int) -> int | None:
        """Return the position of the next kernel; None after the last."""
        after = self._next[place]
        return after if after < len(self._kernels) else None

    def before(self, place: int) -> set[int]:
        """Return the positions of the kernels that one waits for."""
        found = set()
        for buffer in self._reads[place]:
            writer = self._last_writer(buffer, place)
            if writer >= 0:
                found.add(writer)
        for buffer in self._writes[place]:
            writer = self._last_writer(buffer, place)
            if writer >= 0:
                found.add(writer)
            found.update(_within(self._readers.get(buffer, ()), writer, place))
        return found

    def used_before(self, first: int, last: int) -> bool:
        """Return whether a kernel between two positions waits directly for the first."""
        near: set[int] = set()
        for buffer in self._writes[first]:
            near.update(_within(self._readers.get(buffer, ()), first, last))
        for buffer in self._writes[first] | self._reads[first]:
            near.update(_within(self._writers.get(buffer, ()), first, last))
        return any(first in self.before(place) for place in near)

    def replace(self, place: int, gone: int, kernel: DeviceKernel) -> None:
        """Put a kernel at ``place`` and leave a gap at ``gone``."""
        self._leave(place)
        self._leave(gone)
        self._kernels[gone] = None
        previous, after = self._previous[gone], self._next[gone]
        if previous >= 0:
            self._next[previous] = after
        if after < len(self._kernels):
            self._previous[after] = previous
        self._kernels[place] = kernel
        self._enter(place, kernel)

    def _last_writer(self, buffer: int, place: int) -> int:
        writers = self._writers.get(buffer, ())
        number = bisect_left(writers, place)
        return writers[number - 1] if number else -1

    def _enter(self, place: int, kernel: DeviceKernel) -> None:
        writes = kernel.writes()
        self._writes[place], self._reads[place] = writes, kernel.reads() - writes
        for users, buffers in self._sides(place):
            for buffer in buffers:
                insort(users.setdefault(buffer, []), place)

    def _leave(self, place: int) -> None:
        for users, buffers in self._sides(place):
            for buffer in buffers:
                users[buffer].remove(place)

    def _sides(self, place: int) -> tuple[tuple[dict[int, list[int]], set[int]], ...]:
        return (self._writers, self._writes[place]), (self._readers, self._reads[place])


def _within(places: Sequence[int], first: int, last: int) -> Sequence[int]:
    """Return those of some sorted positions that are strictly between two others."""
    return places[bisect_left(places, first + 1) : bisect_left(places, last)]
