"""Ctrl-C as a wish to stop after the present step, instead of an exception in its midst."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def catch_interrupts() -> Iterator[Callable[[], bool]]:
    """Within it, the first Ctrl-C makes the given function true; a second one interrupts.

    Only the main thread may use it; the former handler comes back at the end.
    """
    asked = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    former = signal.signal(signal.SIGINT, handle)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, former)
