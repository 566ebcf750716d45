"""When garbage is collected: while nobody types, so that no keystroke meets a long collection.

What the start has made, and what makes a collection long, is put aside and not looked through
again until it has grown; what is put aside and no longer needed is not freed until then.
"""

from __future__ import annotations

import asyncio
import gc
from time import perf_counter

#: Net allocations after which the young are looked through though there was no quiet moment, and
#: how often that happens until all are.
YOUNG = 50_000
ROUNDS = 50
#: So many at once are a large text that was opened: they are put aside.
MANY = 300_000
#: Seconds without a message after which what was not put aside is looked through.
QUIET = 0.5
#: Seconds that this may take; where it takes longer, what is left is put aside.
LONG = 0.05
#: Seconds after which all are looked through that were put aside, if they have grown so much.
LONG_QUIET = 5.0
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
        if young > MANY:
            gc.freeze()
        elif young > YOUNG:
            gc.collect(2 if rounds > ROUNDS else 1)
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
        """Collect what was not put aside; where that takes long, put aside what is left."""
        start = perf_counter()
        gc.collect()
        if not self._base or perf_counter() - start > LONG:
            gc.freeze()
        self._base = self._base or gc.get_freeze_count()

    def collect_all(self) -> None:
        """Collect all where what was put aside has grown."""
        if gc.get_freeze_count() > GROWTH * self._base:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._base = gc.get_freeze_count()
