"""Progress that a person sees and can cancel, with clients that show it; elsewhere nothing."""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from typing import Any

    from netsharp_lsp.server.client.connection import Connection

#: Seconds between two reports: more could not be read.
PAUSE = 0.1
_TOKENS = count(1)


class Work:
    """Something that takes long: begun, reported on, ended.

    `token` is the client's where it gave one with a request, else one is created.
    """

    #: Further fields of the message that begins the progress.
    begins_with: ClassVar[dict[str, int]] = {}

    def __init__(
        self,
        connection: Connection,
        title: str,
        cancel: Callable[[], object] | None = None,
        token: str | int | None = None,
    ) -> None:
        self._connection = connection
        self._begin: dict[str, Any] = {
            "kind": "begin",
            "title": title,
            "cancellable": cancel is not None,
            **self.begins_with,
        }
        self._begun = self._ended = False
        self._percentage = 0
        self._reported = 0.0
        self._token: str | int = token if token is not None else f"netsharp-{next(_TOKENS)}"
        if cancel is not None:
            connection.cancels[self._token] = cancel
        if token is not None:
            self._start()
        elif connection.client.can("window.workDoneProgress"):
            created = connection.request("window/workDoneProgress/create", {"token": self._token})
            created.add_done_callback(self._created)

    def report(self, message: str, share: float | None = None) -> None:
        """Report progress; `share` from 0 to 1, never shown as less than before.

        A report too soon after the last one is left out.
        """
        now = time.monotonic()
        if now - self._reported < PAUSE:
            return
        self._reported = now
        value: dict[str, Any] = {"kind": "report"}
        if share is not None:
            self._percentage = max(self._percentage, int(100 * share))
            value["percentage"] = self._percentage
        if message:
            value["message"] = message
        self._send(value)

    def end(self, message: str = "") -> None:
        """Say that it is over; more than once does nothing."""
        self._connection.cancels.pop(self._token, None)
        self._send({"kind": "end", "message": message} if message else {"kind": "end"})
        self._ended = True

    def _created(self, future: asyncio.Future[Any]) -> None:
        if not future.cancelled() and future.exception() is None and not self._ended:
            self._start()

    def _start(self) -> None:
        self._begun = True
        self._send(self._begin)

    def _send(self, value: dict[str, Any]) -> None:
        if self._begun and not self._ended:
            self._connection.notify("$/progress", {"token": self._token, "value": value})


class MeasuredWork(Work):
    """Work that reports its progress."""

    begins_with: ClassVar[dict[str, int]] = {"percentage": 0}
