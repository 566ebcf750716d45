"""Signals that end a program, as a request to stop after the present step and not within it."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: SIGBREAK is what one program can send to another on Windows.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
#: Two signals within this number of seconds are one request: stopping a group of processes, or a
#: terminal that is closed, sends it to each of them and to all of them.
_SECONDS_OF_ONE_REQUEST = 0.5


class StopRequest:
    """A request to stop: true when called after the first signal, its `number`."""

    __slots__ = ("_since", "number")

    def __init__(self) -> None:
        self.number: int | None = None
        self._since = 0.0

    def __call__(self) -> bool:
        """Return whether a signal has come."""
        return self.number is not None

    @property
    def exit_code(self) -> int:
        """Return the exit code of the process, as a shell has it: 130 after Ctrl-C, and without a
        signal.
        """
        named = self.number in (getattr(signal, "SIGTERM", None), getattr(signal, "SIGHUP", None))
        return 128 + (self.number if named and self.number is not None else signal.SIGINT)

    def take(self, number: int, frame: FrameType | None) -> None:
        """Note a signal; a second one ends the process at once (SystemExit), except one that a
        closed terminal sends.
        """
        if self.number is None:
            self.number, self._since = number, time.monotonic()
            return
        lasting = number == getattr(signal, "SIGHUP", None)
        if lasting or time.monotonic() - self._since < _SECONDS_OF_ONE_REQUEST:
            return
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(self.exit_code)


@contextmanager
def catch_interrupts() -> Iterator[StopRequest]:
    """Turn the first signal to end into the given request; a later one ends at once.

    Only the main thread may use it; the former handlers are restored at the end. Ignored signals,
    as SIGHUP below nohup, stay ignored.
    """
    request = StopRequest()
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    former = {
        number: signal.signal(number, request.take)
        for number in numbers
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield request
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
