"""A process that ends with the one that started it; it knows no transport."""

from __future__ import annotations

import os
import signal
import threading

#: Seconds between two checks of the parent, and those in which this process may save and end.
_LOOKS, _PATIENCE = 1.0, 120.0


def end_with_parent() -> None:
    """Ask this process to end once its parent has ended, and force it after a while.

    So it has time to save.  Windows does not report the end of a parent: there a
    process ends when its connections do.
    """
    parent = os.getppid()
    threading.Thread(target=_look, args=(parent,), daemon=True).start()


def _look(parent: int) -> None:
    idle = threading.Event()
    while os.getppid() == parent:
        idle.wait(_LOOKS)
    os.kill(os.getpid(), signal.SIGTERM)
    idle.wait(_PATIENCE)
    os._exit(128 + signal.SIGTERM)
