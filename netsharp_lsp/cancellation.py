"""Cancellation of work that no user waits for, in favour of other work; knows neither of them.

Long work calls `raise_if_cancelled` at intervals.  It may end there by `WorkCancelled`, so its
result is kept only when it is complete.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class WorkCancelled(BaseException):
    """Work was cancelled; nothing failed, so it is not kept as a failure."""


_WAITS: ContextVar[Callable[[], bool] | None] = ContextVar("waits", default=None)


@contextmanager
def cancel_when(waits: Callable[[], bool]) -> Iterator[None]:
    """Raise `WorkCancelled` in the work inside as soon as `waits` returns true."""
    before = _WAITS.set(waits)
    try:
        yield
    finally:
        _WAITS.reset(before)


def raise_if_cancelled() -> None:
    """Raise `WorkCancelled` where other work waits."""
    waits = _WAITS.get()
    if waits is not None and waits():
        raise WorkCancelled
