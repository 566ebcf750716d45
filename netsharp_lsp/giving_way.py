"""Cancellation of work that no user waits for, in favour of other work; knows neither of them.

What takes long calls `go_on` every now and then.  It may leave by `GivenUp` there, so what it
builds is kept only when it is complete.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class GivenUp(BaseException):
    """Work was cancelled; nothing failed, so it is not kept as a failure."""


_ASKED: ContextVar[Callable[[], bool] | None] = ContextVar("asked", default=None)


@contextmanager
def giving_way(to: Callable[[], bool]) -> Iterator[None]:
    """Have work inside leave by `GivenUp` as soon as `to` says that something waits."""
    before = _ASKED.set(to)
    try:
        yield
    finally:
        _ASKED.reset(before)


def go_on() -> None:
    """Leave by `GivenUp` where something else waits."""
    asked = _ASKED.get()
    if asked is not None and asked():
        raise GivenUp
