"""textDocument/hover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from netsharp_lsp.server.session import Session


def hover(session: Session, params: lsp.HoverParams) -> lsp.Hover | None:
    """Return the hover for the words at a position."""
    place = session.place(params.text_document.uri, params.position)
    found = place.view.snapshot.hover(place.offset) if place is not None else None
    if place is None or found is None:
        return None
    contents = session.markup(found.markdown, "textDocument.hover.contentFormat")
    return lsp.Hover(contents, place.view.range(found.start, found.end))
