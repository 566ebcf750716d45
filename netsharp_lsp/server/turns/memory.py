"""When garbage is collected: in idle moments, so that no keystroke meets a long collection.

Objects of the start, and those that make a collection long, are frozen and not scanned again
until they have grown; frozen objects that are no longer needed are not freed until then.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from time import perf_counter

#: While a message is handled: net allocations before a collection of the youngest generation, since
#: opening a large text could fill the memory; then the thresholds of the older generations.
THRESHOLDS = (200_000, 10, 10)
#: After a message: net allocations before a collection of all objects that are not frozen: few of
#: an
#: old version may hold its whole text; and the share of time that this may take.
FEW = 1_000
SHARE = 0.05
#: After a message: additional blocks of memory from which all objects are frozen without a
#: collection: a large text was opened, few of its objects are garbage, and a collection takes long.
MANY = 200_000
#: Seconds without a message before a collection of the objects that are not frozen.
QUIET = 0.5
#: Seconds that this may take; if it takes longer, the remaining objects are frozen.
LONG = 0.05
#: Seconds before a collection of the frozen objects too, if their number has grown by this factor.
LONG_QUIET = 5.0
GROWTH = 1.5
#: More frozen objects since the last full collection than any text has: they are collected although
#: the server is not idle, since a client that never pauses would fill the memory.
PILED = 4_000_000


class Collector:
    """Collects between `rest` and `wake`; while a message is handled only where it must."""

    def __init__(self) -> None:
        self._timers: list[asyncio.TimerHandle] = []
        self._base = 0
        self._took = self._ended = 0.0
        self._blocks = sys.getallocatedblocks()
        gc.set_threshold(*THRESHOLDS)

    def rest(self, handled: int = 1) -> None:
        """Note an idle moment after ``handled`` messages."""
        young = gc.get_count()[0]
        due = self._ended + self._took / SHARE
        if sys.getallocatedblocks() > self._blocks + MANY:
            if handled > 1:
                gc.collect(0)  # Objects of many messages are mostly garbage.
            self._freeze()
        elif self._base and young > FEW and perf_counter() > due:
            self._collect()
        loop = asyncio.get_running_loop()
        self._timers = [
            loop.call_later(QUIET, self.collect),
            loop.call_later(LONG_QUIET, self.collect_all),
        ]

    def wake(self) -> None:
        """Something came."""
        for timer in self._timers:
            timer.cancel()

    def collect(self) -> None:
        """Collect the garbage that is not deferred; where that takes long, defer the rest."""
        self._collect()
        if not self._base or self._took > LONG:
            gc.freeze()
            self._took = 0.0
        self._base = self._base or gc.get_freeze_count()

    def collect_all(self) -> None:
        """Collect all where the deferred garbage has grown."""
        if gc.get_freeze_count() > GROWTH * self._base:
            self._collect_all()

    def _collect_all(self) -> None:
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._base = gc.get_freeze_count()

    def _freeze(self) -> None:
        gc.freeze()
        self._base = self._base or gc.get_freeze_count()
        if gc.get_freeze_count() > self._base + PILED:
            self._collect_all()
        self._blocks = sys.getallocatedblocks()

    def _collect(self) -> None:
        start = perf_counter()
        gc.collect()
        self._ended = perf_counter()
        self._took = self._ended - start
        self._blocks = sys.getallocatedblocks()
