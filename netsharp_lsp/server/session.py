"""What the server knows of one client: its abilities, its open documents, what holds for them.

Handlers get the session and nothing else; it sends what they want sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.context import Context
from netsharp_lsp.server.client import Client
from netsharp_lsp.server.contexts import Contexts
from netsharp_lsp.server.experiments import Experiments
from netsharp_lsp.server.handlers.graph import Graphs
from netsharp_lsp.server.plain_text import plain_text
from netsharp_lsp.server.positions import Ruler
from netsharp_lsp.server.renewal import renew_path
from netsharp_lsp.server.roots import SessionRoots
from netsharp_lsp.server.scratch import Scratch
from netsharp_lsp.server.settings import EVERYWHERE, SettingsInForce
from netsharp_lsp.server.training import Runs
from netsharp_lsp.server.views import OpenDocument
from netsharp_lsp.server.workspace import Workspace
from netsharp_lsp.server.workspace_files import Watching, path_of

if TYPE_CHECKING:
    import asyncio
    from array import array
    from collections.abc import Callable, Iterator

    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.ide.answers import HintOptions, LensOptions
    from netsharp_lsp.server.documents import Document
    from netsharp_lsp.server.frames import Inbox
    from netsharp_lsp.server.preferences import InForce
    from netsharp_lsp.server.protocol import Server
    from netsharp_lsp.server.views import View


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
        #: Whether tables may be read and networks trained; a client that knows no trust has it.
        self.trusted = False
        self.stage = "new"
        #: The process whose end is the end of this one.
        self.parent: int | None = None
        #: Called once when the server ends: processes that it started must not outlive it.
        self.closing: list[Callable[[], None]] = []
        #: Documents whose diagnostics are to be sent when nothing else waits.
        self.unpublished: dict[str, None] = {}
        #: The semantic tokens that the client has of each document, under their id.
        self.tokens: dict[str, tuple[str, array[int]]] = {}
        self.workspace = Workspace(self)
        self.roots = SessionRoots(self)
        self.settings = SettingsInForce(self)
        self.contexts = Contexts(self, lambda path: renew_path(self, path))
        self.experiments = Experiments(self)
        self.watching = Watching(self)
        self.runs = Runs(self)
        self.scratch = Scratch(self)
        self.graphs = Graphs()
        #: What ends the work of a progress token when a person cancels it.
        self.cancels: dict[int | str, Callable[[], object]] = {}

    def begin(self, params: dict[str, Any]) -> None:
        """Learn from `initialize` who the client is and what it works on."""
        self.client = Client(params.get("capabilities"))
        self.ruler = Ruler(self.client.encoding)
        for folder in params.get("workspaceFolders") or []:
            self.folders[folder["uri"]] = folder.get("name", "")
        process = params.get("processId")
        self.parent = process if isinstance(process, int) and process > 0 else None
        root = params.get("rootUri")
        if not self.folders and root:
            self.folders[root] = ""
        options = params.get("initializationOptions")
        self.options = options if isinstance(options, dict) else {}
        self.trusted = self.options.get("trusted", True) is not False
        self.settings.take(EVERYWHERE, self.options.get("settings"))
        self.stage = "ready"

    def open(self, document: Document) -> OpenDocument:
        """Take a document that the client opens."""
        opened = OpenDocument(document, self.ruler, self.context_of)
        self.documents[document.uri] = opened
        path = path_of(document.uri)
        if path is not None and not self.roots.holds(path):
            self.roots.renew()
        return opened

    def document(self, uri: str) -> OpenDocument | None:
        """Return an open document; None where the client has it not open."""
        return self.documents.get(uri)

    def leave(self, uri: str) -> None:
        """Leave a document that the client closes, and take back what was said of it."""
        if self.documents.pop(uri, None) is None:
            return
        self.unpublished.pop(uri, None)
        self.tokens.pop(uri, None)
        self.contexts.leave(uri)
        self.roots.renew()
        self.graphs.leave(uri)
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

    def view(self, uri: str, number: int) -> View | None:
        """Return a specification by what `address` told of it; None where it is gone."""
        document = self.documents.get(uri)
        if document is None or not 0 <= number < len(document.views):
            return None
        return document.views[number]

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

    def settings_of(self, uri: str) -> InForce:
        """Return the settings in force for a document."""
        return self.settings.of(uri)

    def selection_of(self, uri: str) -> Selection:
        """Return which diagnostics a document shows; the same object until settings change."""
        return self.settings.selection_of(uri)

    def context_of(self, uri: str) -> Context:
        """Return what is known around a document."""
        if self.experiments.holds(uri):
            return Context(workspace=self.experiments.workspace_of(uri))
        return self.contexts.of(uri)

    def hint_options_of(self, uri: str) -> HintOptions:
        """Return which inlay hints to show in a document."""
        return self.settings.preferences_of(uri).hints

    def lens_options_of(self, uri: str) -> LensOptions | None:
        """Return which lenses to show in a document, None for none; only who is trusted trains."""
        run_file = self.contexts.run_file_of(uri) if self.trusted else None
        return self.settings.preferences_of(uri).lenses(run_file)

    def formats_on_type(self, uri: str) -> bool:
        """Whether to put a declaration of a document in order when it is ended."""
        return self.settings.preferences_of(uri).formats_on_type

    def line_ending_of(self, uri: str) -> str:
        """Return how lines of a formatted document end, as `FormatOptions` names it."""
        return self.settings.of(uri).line_ending

    def excludes(self, path: str) -> bool:
        """Whether settings leave a file or folder out of the workspace, by its absolute path."""
        return self.settings.excludes(path)

    def remember_tokens(self, uri: str, data: array[int]) -> str:
        """Keep the tokens that a client gets, and return the id by which it refers to them."""
        number = str(int(self.tokens[uri][0]) + 1) if uri in self.tokens else "1"
        self.tokens[uri] = (number, data)
        return number

    def markup(self, markdown: str, capability: str) -> lsp.MarkupContent:
        """Return Markdown as the client shows it: plain text where it knows no Markdown."""
        if self.client.markdown(capability):
            return lsp.MarkupContent(lsp.MarkupKind.Markdown, markdown)
        return lsp.MarkupContent(lsp.MarkupKind.PlainText, plain_text(markdown))

    def warn(self, sentence: str) -> None:
        """Show a person a sentence about something that is wrong."""
        self.notify(
            "window/showMessage", {"type": int(lsp.MessageType.Warning), "message": sentence}
        )

    def say(self, sentence: str) -> None:
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
