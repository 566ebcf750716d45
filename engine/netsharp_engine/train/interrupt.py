"""Ctrl-C as a wish to stop after the present step, instead of an exception in its midst."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def catch_interrupts() -> Iterator[Callable[[], bool]]:
    """Within it, the first Ctrl-C makes the given function true; a second one interrupts.

    Only the main thread may use it; the former handlers come back at the end.  On Windows
    Ctrl-Break counts too: it is the one that a program can send to another.
    """
    asked = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGBREAK") if hasattr(signal, name)]
    former = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield lambda: asked
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
