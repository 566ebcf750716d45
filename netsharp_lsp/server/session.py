"""What the server knows of one client: its abilities, its open documents, what holds for them.

Handlers get the session and nothing else; it sends what they want sent.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from netsharp_lsp.server.client import Client
from netsharp_lsp.server.positions import Ruler
from netsharp_lsp.server.views import OpenDocument

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator

    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.server.documents import Document
    from netsharp_lsp.server.frames import Inbox
    from netsharp_lsp.server.protocol import Server
    from netsharp_lsp.server.views import View
    from netsharp_lsp.settings import Settings


class Place:
    """A position in a specification: the view, and the offset in it."""

    __slots__ = ("document", "offset", "view")

    def __init__(self, document: OpenDocument, view: View, offset: int) -> None:
        self.document = document
        self.view = view
        self.offset = offset


class Session:
    """One client from `initialize` to `exit`."""

    def __init__(self, server: Server, inbox: Inbox) -> None:
        self.server = server
        self.inbox = inbox
        self.client = Client({})
        self.ruler = Ruler("utf-16")
        self.documents: dict[str, OpenDocument] = {}
        self.folders: dict[str, str] = {}
        self.options: dict[str, Any] = {}
        self.trusted = False
        self.stage = "new"
        #: Called once when the server ends: processes that it started must not outlive it.
        self.closing: list[Callable[[], None]] = []
        #: Documents whose diagnostics are to be sent when nothing else waits.
        self.unpublished: dict[str, None] = {}
        self._settings: dict[str, Settings] = {}
        self._selections: dict[str, Selection] = {}

    def begin(self, params: dict[str, Any]) -> None:
        """Learn from `initialize` who the client is and what it works on."""
        self.client = Client(params.get("capabilities"))
        self.ruler = Ruler(self.client.encoding)
        for folder in params.get("workspaceFolders") or []:
            self.folders[folder["uri"]] = folder.get("name", "")
        root = params.get("rootUri")
        if not self.folders and root:
            self.folders[root] = ""
        options = params.get("initializationOptions")
        self.options = options if isinstance(options, dict) else {}
        self.trusted = bool(self.options.get("trusted", False))
        self.stage = "ready"

    def open(self, document: Document) -> OpenDocument:
        """Take a document that the client opens."""
        opened = OpenDocument(document, self.ruler, self.context_of)
        self.documents[document.uri] = opened
        return opened

    def document(self, uri: str) -> OpenDocument | None:
        """Return an open document; None where the client has it not open."""
        return self.documents.get(uri)

    def leave(self, uri: str) -> None:
        """Leave a document that the client closes, and take back what was said of it."""
        if self.documents.pop(uri, None) is None:
            return
        self.unpublished.pop(uri, None)
        self._selections.pop(uri, None)
        if not self.client.pulls:
            self.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": []})

    def publish(self, uri: str) -> None:
        """Send a document's diagnostics to a client that does not ask for them."""
        from netsharp_lsp.server.publishing import publish

        if not self.client.pulls:
            publish(self, uri)

    def close(self) -> None:
        """End what this session started."""
        for end in self.closing:
            end()
        self.closing.clear()

    def place(self, uri: str, position: lsp.Position) -> Place | None:
        """Return the place in a specification that a position means; None where there is none."""
        document = self.documents.get(uri)
        if document is None:
            return None
        offset = self.ruler.offset(document.lines, position.line, position.character)
        found = document.view_at(offset)
        return None if found is None else Place(document, *found)

    def places(self, uri: str, place: lsp.Range | None) -> Iterator[tuple[View, int, int]]:
        """Yield the specifications that a range touches, each with its part; None means all."""
        document = self.documents.get(uri)
        if document is None:
            return
        start, end = 0, len(document.text)
        if place is not None:
            start, end = self.ruler.offsets(document.lines, place)
        for view in document.views:
            inner = view.inner_span(start, end)
            if inner is not None:
                yield view, *inner

    def settings_of(self, uri: str) -> Settings:
        """Return the settings in force for a document."""
        from netsharp_lsp.settings import Settings, SettingsError, SettingsFinder

        folder = os.path.dirname(to_fs_path(uri) or "")
        if folder not in self._settings:
            try:
                found = SettingsFinder().find(folder) if folder else Settings()
            except SettingsError as error:
                self.log(str(error), lsp.MessageType.Warning)
                found = Settings()
            self._settings[folder] = found
        return self._settings[folder]

    def selection_of(self, uri: str) -> Selection:
        """Return which diagnostics a document shows; the same object until settings change."""
        from netsharp_lsp.diagnostics.selection import Selection

        if uri not in self._selections:
            settings = self.settings_of(uri)
            chosen = Selection(settings.select, settings.ignore)
            path = to_fs_path(uri)
            own = settings.ignores_for(path) if path else ()
            self._selections[uri] = chosen.then((), own)
        return self._selections[uri]

    def context_of(self, uri: str) -> Context:
        """Return what is known around a document."""
        return self.settings_of(uri).context

    def markup(self, markdown: str, capability: str) -> lsp.MarkupContent:
        """Return Markdown as the client shows it: plain text where it knows no Markdown."""
        known = self.client.markdown(capability)
        kind = lsp.MarkupKind.Markdown if known else lsp.MarkupKind.PlainText
        return lsp.MarkupContent(kind, markdown)

    def log(self, sentence: str, level: lsp.MessageType = lsp.MessageType.Log) -> None:
        """Write a sentence into the client's log."""
        self.notify("window/logMessage", {"type": int(level), "message": sentence})

    def notify(self, method: str, params: Any) -> None:
        """Send a notification; plain values go out as they are."""
        self.server.protocol.notify(method, params)

    def request(self, method: str, params: Any) -> asyncio.Future[Any]:
        """Ask the client; the plain result comes later, or JsonRpcException."""
        future: asyncio.Future[Any] = self.server.protocol.send_request_async(method, params)
        return future
