"""The state of one client: its abilities, its open documents, their settings.

Handlers get the session and nothing else; it sends their messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.context import Context
from netsharp_lsp.language import family_of
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.server.client.abilities import Client
from netsharp_lsp.server.client.complaints import Complaints
from netsharp_lsp.server.client.connection import Connection
from netsharp_lsp.server.client.plain_text import plain_text
from netsharp_lsp.server.documents.positions import Ruler
from netsharp_lsp.server.documents.views import OpenDocument
from netsharp_lsp.server.jobs.compiling import Compilations
from netsharp_lsp.server.jobs.examining import Examinations
from netsharp_lsp.server.jobs.training import Runs
from netsharp_lsp.server.pictures.graphs import Graphs
from netsharp_lsp.server.pictures.scratch import Scratch
from netsharp_lsp.server.pictures.stored import StoredModels
from netsharp_lsp.server.surroundings.contexts import Contexts
from netsharp_lsp.server.surroundings.experiments import Experiments
from netsharp_lsp.server.surroundings.renewal import renew, renew_path
from netsharp_lsp.server.surroundings.roots import SessionRoots
from netsharp_lsp.server.surroundings.settings import EVERYWHERE, SettingsInForce
from netsharp_lsp.server.surroundings.workspace import Workspace
from netsharp_lsp.server.surroundings.workspace_files import Watching, path_of

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Sequence

    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.ide.answers import HintOptions, LensOptions
    from netsharp_lsp.layout.options import LineRange
    from netsharp_lsp.server.documents.document import Document
    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.server.surroundings.preferences import InForce
    from netsharp_lsp.server.transport.frames import Inbox
    from netsharp_lsp.server.transport.protocol import Server


class ViewOffset:
    """A position in a specification: the view, and the offset in it."""

    __slots__ = ("document", "offset", "view")

    def __init__(self, document: OpenDocument, view: View, offset: int) -> None:
        self.document = document
        self.view = view
        self.offset = offset


class Session(Connection):
    """One client from `initialize` to `exit`."""

    def __init__(self, server: Server, inbox: Inbox) -> None:
        super().__init__(server, inbox)
        self.options: dict[str, Any] = {}
        self.stage = "new"
        #: The process with whose end this one ends.
        self.parent: int | None = None
        #: The semantic tokens that the client has of each document, under their id.
        self.tokens: dict[str, tuple[str, array[int]]] = {}
        complaints = Complaints(self)
        self.roots = SessionRoots(self, complaints)
        self.settings = SettingsInForce(self, complaints, self.roots)
        self.watching = Watching(self)
        self.contexts = Contexts(self, self.settings, self.watching, self._renew_path)
        self.workspace = Workspace(self, self.settings, self.context_of)
        self.experiments = Experiments(self, self.settings, complaints, self.workspace)
        self.runs = Runs(self, self.contexts.touched)
        self.compilations = Compilations(self)
        self.examined = Examinations()
        self.scratch = Scratch(self)
        self.graphs = Graphs()
        self.models = StoredModels()

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
        """Close a document that the client closes, and clear its diagnostics."""
        if self.documents.pop(uri, None) is None:
            return
        self.unpublished.pop(uri, None)
        self.tokens.pop(uri, None)
        self.contexts.leave(uri)
        self.examined.forget(uri)
        self.roots.renew()
        self.graphs.leave(uri)
        if not self.client.pulls:
            self.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": []})

    def renew(self, uris: Iterable[str] | None = None) -> None:
        """Check documents again, all of them where none is named."""
        renew(self, self.workspace, uris)

    def _renew_path(self, path: str) -> None:
        renew_path(self, self.workspace, path)

    def close(self) -> None:
        """End what this session started."""
        for end in self.closing:
            end()
        self.closing.clear()

    def place(self, uri: str, position: lsp.Position) -> ViewOffset | None:
        """Return the place in a specification that a position means; None where there is none."""
        document = self.documents.get(uri)
        if document is None:
            return None
        offset = self.ruler.offset(document.lines, position.line, position.character)
        found = document.view_at(offset)
        return None if found is None else ViewOffset(document, *found)

    def view(self, uri: str, number: int) -> View | None:
        """Return a specification by its `address`; None where it is gone."""
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
        """Return the context of a document."""
        if self.experiments.holds(uri):
            return Context(workspace=self.experiments.workspace_of(uri))
        found, seen = self.contexts.of(uri), self.examined.of(uri)
        if seen:
            found = found.or_else(Context())
            found.seen = seen
        return found

    def hint_options_of(self, uri: str) -> HintOptions:
        """Return which inlay hints to show in a document."""
        return self.settings.preferences_of(uri).hints

    def lens_options_of(self, uri: str) -> LensOptions | None:
        """Return which lenses to show in a document, None for none; training needs trust."""
        run_file = self.contexts.run_file_of(uri) if self.trusted else None
        trained = self.trusted and self.contexts.model_of(uri) is not None
        preferences = self.settings.preferences_of(uri)
        return preferences.lenses(run_file, runs=self.trusted, trained=trained)

    def formats_on_type(self, uri: str) -> bool:
        """Return whether to format a declaration of a document once it is complete."""
        return self.settings.preferences_of(uri).formats_on_type

    def format_options(
        self, uri: str, language_id: str, lines: Sequence[LineRange] = ()
    ) -> FormatOptions:
        """Return the options for formatting text of a language in a document, all of it or some
        lines.
        """
        settings = self.settings.of(uri)
        keeps_columns = settings.keeps_columns(family_of(language_id))
        return FormatOptions(settings.line_ending, lines, keeps_columns=keeps_columns)

    def excludes(self, path: str) -> bool:
        """Return whether settings exclude a file or folder, by its absolute path."""
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
