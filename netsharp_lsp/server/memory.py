"""When garbage is collected: while nobody types, so that no keystroke meets a long collection.

What has outlived a quiet moment is put aside and not looked through again until it has grown.
"""

from __future__ import annotations

import asyncio
import gc

#: Net allocations until the young are looked through though there was no quiet moment; then how
#: many times the young until the middle-aged, and how many times those until all.
THRESHOLDS = (200_000, 10, 10)
#: Seconds without a message that count as quiet.
QUIET = 0.5
#: All is looked through again when what was put aside has grown by this factor.
GROWTH = 1.5


class Collector:
    """Collects between `rest` and `wake`, when it has been quiet for a while."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._base = 0
        gc.set_threshold(*THRESHOLDS)

    def rest(self) -> None:
        """Nothing waits now."""
        self._timer = asyncio.get_running_loop().call_later(QUIET, self.collect)

    def wake(self) -> None:
        """Something came."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def collect(self) -> None:
        """Collect what came since the last time, all where too much was put aside."""
        self._timer = None
        if gc.get_freeze_count() > GROWTH * self._base:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._base = gc.get_freeze_count()
        else:
            gc.collect()
            gc.freeze()
