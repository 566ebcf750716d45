"""Specifications in open documents: a file that is one, or the stretches of a host that are.

A view follows its text from version to version; it maps offsets and edits between the document
(outer) and the specification (inner).  Knows no meaning and no disk.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.diagnostics.model import most_severe
from netsharp_lsp.diagnostics.suppression import MARK
from netsharp_lsp.embedded.hosts import ALIASES
from netsharp_lsp.embedded.hosts import HOSTS as SUFFIXES_OF_HOSTS
from netsharp_lsp.examining import sift
from netsharp_lsp.language import family_of, language_by_id, language_ids, language_of_text
from netsharp_lsp.server.documents.document import Document
from netsharp_lsp.text.edits import compose, difference
from netsharp_lsp.text.extent import leeway, refused
from netsharp_lsp.text.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from lsprotocol import types as lsp

    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.embedded.regions import Region
    from netsharp_lsp.interface import Language, Snapshot
    from netsharp_lsp.server.documents.positions import Ruler
    from netsharp_lsp.text.edits import Edit

#: Languages whose files may hold specifications, by their ids and by the suffixes of such files;
#: of a notebook a server sees the cells.
HOSTS = {
    name: host
    for suffix, host in SUFFIXES_OF_HOSTS.items()
    if host != "ipynb"
    for name in (host, suffix)
} | ALIASES


class View:
    """One specification in a document, and its place there.

    `region` is None where the document is the specification: then inner is outer.
    """

    __slots__ = (
        "_checked",
        "_snapshot",
        "context",
        "document",
        "language",
        "lines",
        "number",
        "proposed",
        "region",
    )

    def __init__(
        self, document: OpenDocument, language: Language, region: Region | None, context: Context
    ) -> None:
        self.document = document
        self.language = language
        self.region = region
        self.context = context
        self.number = 0
        #: Cached proposals in JSON without their place, by their contents.
        self.proposed: dict[object, str] = {}
        self.lines = document.lines if region is None else LineIndex(region.text)
        self._snapshot: Snapshot | None = None
        self._checked: tuple[Selection, list[Diagnostic]] | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The specification as it is now."""
        if self._snapshot is None:
            self._snapshot = self.language.open(self.lines.text, self.context)
        return self._snapshot

    @property
    def address(self) -> dict[str, Any]:
        """Return the data with which a client asks more about the specification."""
        return {"uri": self.document.uri, "view": self.number}

    @property
    def editable(self) -> bool:
        """Return whether changes of the specification can be written into the document."""
        return self.region is None or self.region.editable

    def follow(self, document: OpenDocument, region: Region | None, edits: Sequence[Edit]) -> None:
        """Take the next version; `edits` are inner.  What fails is read afresh when next asked."""
        self.region = region
        self.lines = document.lines if region is None else LineIndex(region.text)
        self._checked = None
        before, self._snapshot = self._snapshot, None
        if before is not None:
            self._snapshot = before.edited(self.lines.text, edits)

    def surround(self, context: Context) -> None:
        """Replace the context."""
        if context == self.context and context.origin == self.context.origin:
            return
        self.context = context
        self._checked = None
        before, self._snapshot = self._snapshot, None
        if before is not None:
            self._snapshot = before.with_context(context)

    def findings(self, selection: Selection) -> list[Diagnostic]:
        """Return the findings, as of `netsharp check`; offsets are within the specification."""
        if self._checked is None or self._checked[0] is not selection:
            result = self.snapshot.check()
            self._checked = (selection, sift(self.language, self.lines, result, selection))
        return self._checked[1]

    def most_severe(self, selection: Selection, most: int) -> tuple[int, Sequence[Diagnostic]]:
        """Return the number of findings, and the most severe, in order if these are all."""
        if MARK in self.lines.text or self._checked is not None:
            found = self.findings(selection)
            return len(found), most_severe(found, most)
        return self.snapshot.most_severe(most, selection.wants)

    def outer(self, start: int, end: int) -> tuple[int, int]:
        """Return the place of a span of the specification in the document."""
        if self.region is None:
            return start, end
        return self.region.outer_span(start, end)

    def inner(self, offset: int) -> int | None:
        """Return the place in the specification of an offset of the document; None outside."""
        return offset if self.region is None else self.region.inner(offset)

    def inner_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the part of the specification that a stretch of the document covers."""
        if self.region is None:
            return start, end
        if end < self.region.start or start > self.region.end:
            return None
        first = self.region.inner(max(start, self.region.start))
        last = self.region.inner(min(end, self.region.end))
        return first or 0, len(self.lines.text) if last is None else last

    def outer_edits(self, edits: Sequence[Edit]) -> list[Edit] | None:
        """Return edits of the specification as edits of the document; None where impossible."""
        return list(edits) if self.region is None else self.region.outer_edits(edits)

    def range(self, start: int, end: int) -> lsp.Range:
        """Return the document's range of a stretch of the specification."""
        return self.document.ruler.range(self.document.lines, *self.outer(start, end))

    def span(self, start: int, end: int) -> dict[str, Any]:
        """Return `range` as plain JSON."""
        return self.document.ruler.span(self.document.lines, *self.outer(start, end))


class WrittenFinding(NamedTuple):
    """A diagnostic in the protocol's JSON: the parts before and after its related places.

    `json` is all of it where it begins at line and byte `place`; it counts for texts of ASCII
    alone, where bytes are characters in every encoding.
    """

    place: tuple[int, int] | None
    parts: tuple[str, str]
    json: str


class OpenDocument:
    """A document that a client has open: its newest version, and the specifications in it."""

    def __init__(
        self, document: Document, ruler: Ruler, context_of: Callable[[str], Context]
    ) -> None:
        self.document = document
        self.ruler = ruler
        self._context_of = context_of
        self._views: list[View] | None = None
        self._pending: list[Edit] = []
        self._refusal: str | None = None
        #: How many bytes may still change before the text is measured again.
        self._leeway = 0
        #: Findings of the newest version in the protocol's JSON, by their contents.
        self.written_findings: dict[object, WrittenFinding] = {}

    @property
    def uri(self) -> str:
        """Return the URI of the document."""
        return self.document.uri

    @property
    def version(self) -> int | None:
        """The client's number of the newest version."""
        return self.document.version

    @property
    def text(self) -> bytes:
        """The text, UTF-8."""
        return self.document.text

    @property
    def lines(self) -> LineIndex:
        """The lines of the text."""
        return self.document.lines

    @property
    def host(self) -> str | None:
        """The language id of what holds its specifications, None where it is one itself."""
        if own_language(self.document) is not None:
            return None
        return host_language(self.document.language_id, self.uri)

    @property
    def views(self) -> list[View]:
        """The specifications in the newest version, in order."""
        if self._views is None or self._pending:
            before, edits = self._views or [], self._pending
            # If the search fails, it is repeated at the next request.
            self._views, self._pending = None, []
            self._views = self._found(before, edits)
        return self._views

    @property
    def refusal(self) -> str | None:
        """Return why nothing of the newest version is read, as a sentence; None where it is."""
        return self._refusal if self.views is not None else None

    def view_at(self, offset: int) -> tuple[View, int] | None:
        """Return the specification at an offset, and the offset in it."""
        for view in self.views:
            inner = view.inner(offset)
            if inner is not None:
                return view, inner
        return None

    def change(self, version: int | None, changes: Sequence[dict[str, Any]]) -> None:
        """Take a change from the client; views follow when they are next asked for."""
        self.document, edits = self.document.changed(version, changes, self.ruler)
        self._pending = compose(self._pending, edits) if self._pending else edits

    def turn_into(self, language_id: str) -> None:
        """Take another language for the same text."""
        if language_id != self.document.language_id:
            old = self.document
            self.document = Document(old.uri, language_id, old.version, old.lines)
            self._views, self._pending = None, []

    def surround(self) -> None:
        """Look up the context of the specifications again."""
        around = self._context_of(self.uri)
        for view in self.views:
            view.surround(
                around if view.region is None else _inside(view.region, around, view.number)
            )

    def _found(self, before: list[View], edits: list[Edit]) -> list[View]:
        """Return the views of this version; those of the version before follow it."""
        own = own_language(self.document)
        self._refusal = None
        if own is not None:
            self._leeway -= sum(map(_extent, edits))
            if not before or self._leeway < 0:
                extent = family_of(own.id).extent
                why = refused(self.text, extent)
                if why is not None:
                    self._refusal = f"This document {why}"
                    return []
                self._leeway = leeway(self.text, extent)
            if not before:
                return [View(self, own, None, self._context_of(self.uri))]
            before[0].follow(self, None, edits)
            return before
        host = self.host
        return [] if host is None else self._embedded(host, before)

    def _embedded(self, host: str, before: list[View]) -> list[View]:
        from netsharp_lsp.embedded.finding import find_regions

        around = self._context_of(self.uri)
        views: list[View] = []
        regions = find_regions(host, self.text)
        if isinstance(regions, str):
            self._refusal = f"This document {regions}"
            return []
        for number, region in enumerate(regions):
            context = _inside(region, around, number)
            old = before[number] if number < len(before) else None
            if old is None or old.language.id != region.language:
                language = language_by_id(region.language)
                views.append(View(self, language, region, context))
                views[-1].number = number
                continue
            changed = old.lines.text != region.text
            old.follow(self, region, [difference(old.lines.text, region.text)] if changed else [])
            old.surround(context)
            views.append(old)
        return views


def _extent(edit: Edit) -> int:
    """Return the size of an edit: the bytes that it removes plus the characters that it inserts."""
    return edit.end - edit.start + len(edit.text)


def own_language(document: Document) -> Language | None:
    """Return the language of a document that is one text of it; None for any other."""
    language_id: str | None = document.language_id
    if language_id not in language_ids():
        language_id = language_of_text(document.uri.partition("#")[0], document.text)
    return None if language_id is None else language_by_id(language_id)


def host_language(language_id: str, uri: str) -> str | None:
    """Return the language in which a document may hold specifications; None where in none."""
    return HOSTS.get(language_id.lower()) or HOSTS.get(_suffix(uri))


def _suffix(uri: str) -> str:
    return os.path.splitext(uri.partition("#")[0])[1].lower()


def _inside(region: Region, around: Context, number: int) -> Context:
    """Return the context of a specification in a host; only the first takes facts from outside."""
    context = region.context.or_else(around)
    return context if number == 0 else context.following()
