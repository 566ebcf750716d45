"""When garbage is collected: while nobody types, so that no keystroke meets a long collection.

What has outlived a quiet moment is put aside and not looked through again until it has grown.
"""

from __future__ import annotations

import asyncio
import gc

#: Net allocations after which the young are looked through though there was no quiet moment, and
#: how often that happens until all are.
YOUNG = 200_000
ROUNDS = 50
#: Seconds without a message after which the new are looked through, or put aside if they are many.
QUIET = 0.5
#: Seconds after which all are looked through that were put aside, if they have grown so much.
LONG_QUIET = 10.0
GROWTH = 1.5


class Collector:
    """Collects between `rest` and `wake`, and never while a message is handled."""

    def __init__(self) -> None:
        self._timers: list[asyncio.TimerHandle] = []
        self._base = 0
        gc.disable()

    def rest(self) -> None:
        """Nothing waits now."""
        young, _, rounds = gc.get_count()
        if young > YOUNG:
            gc.collect(2 if rounds > ROUNDS else 1)
        loop = asyncio.get_running_loop()
        self._timers = [
            loop.call_later(QUIET, self.put_aside),
            loop.call_later(LONG_QUIET, self.collect_all),
        ]

    def wake(self) -> None:
        """Something came."""
        for timer in self._timers:
            timer.cancel()

    def put_aside(self) -> None:
        """Collect what is new, unless it is so much that it would take long; then put it aside."""
        if gc.get_count()[0] <= YOUNG:
            gc.collect()
        gc.freeze()
        self._base = self._base or gc.get_freeze_count()

    def collect_all(self) -> None:
        """Collect all where what was put aside has grown."""
        if gc.get_freeze_count() > GROWTH * self._base:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._base = gc.get_freeze_count()
