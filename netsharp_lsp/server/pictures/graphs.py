"""Networks as JSON with their pictures and where their parts stand, kept while texts stay."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.description.folding import folded
from netsharp_lsp.description.nodes import as_layers
from netsharp_lsp.description.picture import drawn, lay_out
from netsharp_lsp.server.jobs.worker import AT_ONCE, in_process
from netsharp_lsp.server.pictures.depiction import graph_from_text
from netsharp_lsp.server.pictures.places import with_places
from netsharp_lsp.server.transport.protocol import RefusedError

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from netsharp_lsp.ide.answers import Graph
    from netsharp_lsp.server.documents.views import OpenDocument, View

Plain = dict[str, Any]
#: The number of open levels of groups, and the groups that differ from it, by their keys.
Folds = tuple[int | None, dict[str, bool]]
AS_IT_IS: Folds = (None, {})


class Graphs:
    """The graphs that were requested last, one for each document; rebuilt when the text changes.

    That of a large text is built in a process, and an older one in progress is cancelled.
    """

    def __init__(self) -> None:
        self._made: dict[str, tuple[tuple[Any, ...], Graph, Folds, Plain]] = {}
        self._making: dict[str, asyncio.Task[Any] | None] = {}

    def of(self, document: OpenDocument, view: View, folds: Folds) -> Plain | Awaitable[Plain]:
        """Return the graph of a specification, with groups open or closed as is asked."""
        made = self._made.get(document.uri)
        if made is not None and made[0] == _key(document, view):
            return self._as_json(document, view, made[1], folds)
        if len(view.lines.text) > AT_ONCE:
            return self._aside(document, view, folds)
        return self._as_json(document, view, view.snapshot.graph(), folds)

    def leave(self, uri: str) -> None:
        """Forget a document."""
        self._made.pop(uri, None)

    async def _aside(self, document: OpenDocument, view: View, folds: Folds) -> Plain:
        uri, key = document.uri, _key(document, view)
        older = self._making.get(uri)
        if older is not None:
            older.cancel()
        task = self._making[uri] = asyncio.current_task()
        try:
            made = await in_process(graph_from_text, view.language, view.lines.text, view.context)
        finally:
            if self._making.get(uri) is task:
                del self._making[uri]
        if key != _key(document, view):
            raise RefusedError(lsp.LSPErrorCodes.ContentModified, "The text has changed since.")
        return self._as_json(document, view, made, folds)

    def _as_json(self, document: OpenDocument, view: View, made: Graph, folds: Folds) -> Plain:
        kept = self._made.get(document.uri)
        if kept is not None and kept[1] is made and kept[2] == folds:
            return kept[3]
        plain = _plain(document, view, made, folds)
        self._made[document.uri] = (_key(document, view), made, folds, plain)
        return plain


def _key(document: OpenDocument, view: View) -> tuple[Any, ...]:
    """Return the cache key of a graph."""
    return document.version, view, view.context


def _plain(document: OpenDocument, view: View, made: Graph, folds: Folds) -> Plain:
    description = dict(made.description)
    picture = description.pop("picture")
    if folds != AS_IT_IS and "nodes" in description:
        description = folded({**description, "layers": as_layers(description)}, *folds)
        picture = drawn(lay_out(description))

    def bundle_range(name: str, number: int) -> Plain | None:
        span = made.bundle_places.get((name, number))
        return view.span(*span) if span is not None else None

    placed = with_places(
        description, picture, lambda layer: _ranges(view, made, layer), bundle_range
    )
    return {**placed, "version": document.version, "uri": document.uri}


def _ranges(view: View, made: Graph, layer: Plain) -> Plain:
    group = layer.get("group")
    target = made.call_places.get(group["call"]) if group else made.places.get(layer["name"])
    if target is None:
        return {"range": None, "selectionRange": None}
    return {
        "range": view.span(target.start, target.end),
        "selectionRange": view.span(target.name_start, target.name_end),
    }
