"""textDocument/prepareRename and textDocument/rename."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.ide.answers import Changes, Refusal
from netsharp_lsp.server.answers.writing import outer_edits, workspace_edit
from netsharp_lsp.server.transport.protocol import RefusedError

if TYPE_CHECKING:
    from netsharp_lsp.server.session import Session


def prepare_rename(
    session: Session, params: lsp.PrepareRenameParams
) -> lsp.PrepareRenamePlaceholder | None:
    """Return the name at a position, or refuse with the reason why it stays."""
    place = session.place(params.text_document.uri, params.position)
    if place is None:
        return None
    found = place.view.snapshot.prepare_rename(place.offset)
    if isinstance(found, Refusal):
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, found.message)
    return lsp.PrepareRenamePlaceholder(place.view.range(found.start, found.end), found.name)


def rename(session: Session, params: lsp.RenameParams) -> dict[str, Any] | None:
    """Return the edits that give the name at a position another, or refuse with the reason."""
    place = session.place(params.text_document.uri, params.position)
    if place is None:
        return None
    found = place.view.snapshot.rename(place.offset, params.new_name)
    if isinstance(found, Refusal):
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, found.message)
    changes = found if isinstance(found, Changes) else Changes(tuple(found))
    edits = outer_edits(place.view, changes.edits)
    return workspace_edit(session, place.document, edits, changes.elsewhere)
