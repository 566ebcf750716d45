"""Work that nobody waits for, given up where something else does; knows neither the one nor the
other.

What takes long calls `go_on` every now and then.  It may leave by `GivenUp` there, so what it
builds is kept by somebody only when it is whole.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class GivenUp(BaseException):
    """Work was left half done; nothing failed, so whoever keeps failures does not keep this."""


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
