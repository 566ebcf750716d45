"""One client: its connection, its abilities, and its open folders.

Everything in a session builds on this; it decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.server.client.abilities import Client
from netsharp_lsp.server.documents.positions import Ruler

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from netsharp_lsp.server.documents.views import OpenDocument
    from netsharp_lsp.server.transport.frames import Inbox
    from netsharp_lsp.server.transport.protocol import Server


class Connection:
    """The way to a client, and its open documents and folders."""

    def __init__(self, server: Server, inbox: Inbox) -> None:
        self.server = server
        self.inbox = inbox
        self.client = Client({})
        self.ruler = Ruler("utf-16")
        self.documents: dict[str, OpenDocument] = {}
        self.folders: dict[str, str] = {}
        #: Whether tables may be read and networks trained; a client without that concept is
        #: trusted.
        self.trusted = False
        #: Called once when the server ends, to end the processes that it started.
        self.closing: list[Callable[[], None]] = []
        #: Documents whose diagnostics are to be sent when nothing else waits.
        self.unpublished: dict[str, None] = {}
        #: Cancels the work of a progress token when a person asks for it.
        self.cancels: dict[int | str, Callable[[], object]] = {}

    def warn(self, sentence: str) -> None:
        """Show a person a sentence about something that is wrong."""
        self.notify(
            "window/showMessage", {"type": int(lsp.MessageType.Warning), "message": sentence}
        )

    def show_message(self, sentence: str) -> None:
        """Show a person a sentence about something that was done."""
        self.notify("window/showMessage", {"type": int(lsp.MessageType.Info), "message": sentence})

    def log(self, sentence: str, level: lsp.MessageType = lsp.MessageType.Log) -> None:
        """Write a sentence into the client's log."""
        self.notify("window/logMessage", {"type": int(level), "message": sentence})

    def notify(self, method: str, params: Any) -> None:
        """Send a notification; plain values go out as they are."""
        self.server.protocol.notify(method, params)

    def prompt(self, method: str, params: Any) -> None:
        """Ask the client for something that is good to have, whatever it answers."""
        future = self.request(method, params)
        future.add_done_callback(lambda done: done.cancelled() or done.exception())

    def request(self, method: str, params: Any) -> asyncio.Future[Any]:
        """Ask the client; the plain result comes later, or JsonRpcException."""
        future: asyncio.Future[Any] = self.server.protocol.send_request_async(method, params)
        return future
