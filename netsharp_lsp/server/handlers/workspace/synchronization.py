"""Documents that the client opens, changes and closes; plain JSON, since each keystroke is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.documents.document import Document

if TYPE_CHECKING:
    from netsharp_lsp.server.session import Session


def did_open(session: Session, params: dict[str, Any]) -> None:
    """Take a document; where the client watches no files, look at those around the others."""
    item = params["textDocument"]
    if not session.watching.possible:
        session.contexts.look_again()
    session.open(
        Document.opened(item["uri"], item["languageId"], item.get("version"), item["text"])
    )
    session.unpublished[item["uri"]] = None


def did_change(session: Session, params: dict[str, Any]) -> None:
    """Take the next version of a document."""
    identity = params["textDocument"]
    document = session.documents.get(identity["uri"])
    if document is None:
        session.log(f"textDocument/didChange of {identity['uri']}, which is not open: ignored.")
        return
    document.change(identity.get("version"), params["contentChanges"])
    session.unpublished[document.uri] = None
    session.experiments.changed(document.uri)
    if session.examined.forget(document.uri):
        session.renew([document.uri])


def did_close(session: Session, params: dict[str, Any]) -> None:
    """Close a document, and clear its diagnostics."""
    session.leave(params["textDocument"]["uri"])


def did_save(session: Session, params: Any) -> None:
    """Look at the files around: a client may watch none, or not these."""
    session.contexts.look_again()
    if not session.watching.possible:
        session.experiments.forget()
        session.settings.forget()
        session.renew()
