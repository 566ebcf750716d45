"""netsharp/graph: a network as JSON with its picture and where its parts stand in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.server.transport.protocol import RefusedError

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from netsharp_lsp.server.documents.views import OpenDocument, View
    from netsharp_lsp.server.session import Session

Plain = dict[str, Any]


def graph(session: Session, params: Plain) -> Plain | Awaitable[Plain]:
    """Return the network of a document: the one at `position`, or named `name`, else the first."""
    document = session.document(params["textDocument"]["uri"])
    view = None if document is None else _meant(session, document, params)
    if document is None or view is None:
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, "There is no specification here.")
    changed = {str(key): opened is True for key, opened in params.get("folds", {}).items()}
    return session.graphs.of(document, view, (params.get("depth"), changed))


def _meant(session: Session, document: OpenDocument, params: Plain) -> View | None:
    position, name = params.get("position"), params.get("name")
    if name is not None:
        named = (v for v in document.views if v.region is not None and v.region.name == name)
        return next(named, None)
    if position is not None:
        place = session.ruler.offset(document.lines, position["line"], position["character"])
        found = document.view_at(place)
        if found is not None:
            return found[0]
    return document.views[0] if document.views else None
