"""Warnings without a request: each sentence once, those of one moment together."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.server.client.connection import Connection


class Complaints:
    """The sentences that a client was or will be shown."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._waiting: list[str] = []
        self._shown: set[str] = set()

    def add(self, problems: Sequence[str]) -> None:
        """Show the messages that were not shown before.

        A walk over the workspace, in a thread of its own, may find what is wrong too: only the
        loop's thread touches what waits.
        """
        if not problems:
            return
        if threading.get_ident() == self._thread:
            self._gather(problems)
        else:
            self._loop.call_soon_threadsafe(self._gather, tuple(problems))

    def _gather(self, problems: Sequence[str]) -> None:
        new = [problem for problem in dict.fromkeys(problems) if problem not in self._shown]
        self._shown.update(new)
        if new and not self._waiting:
            self._loop.call_soon(self._show)
        self._waiting += new

    def _show(self) -> None:
        self._connection.warn(" ".join(self._waiting))
        self._waiting.clear()
