"""After something around documents changed: what was said of them is said again.

Clients that keep answers are asked to ask again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.server.session import Session

#: What a client asks for by itself and keeps: the capability and the request to ask again.
_KEPT = {
    "workspace.inlayHint.refreshSupport": "workspace/inlayHint/refresh",
    "workspace.codeLens.refreshSupport": "workspace/codeLens/refresh",
    "workspace.diagnostics.refreshSupport": "workspace/diagnostic/refresh",
}


def renew(session: Session, uris: Iterable[str] | None = None) -> None:
    """Look at documents anew, at all of them where none is named."""
    for uri in list(session.documents) if uris is None else list(uris):
        document = session.documents.get(uri)
        if document is not None:
            document.surround()
            session.unpublished[uri] = None
    if uris is None:
        session.workspace.forget()
    for capability, request in _KEPT.items():
        if session.client.can(capability):
            session.prompt(request, None)
    session.inbox.wake()


def renew_path(session: Session, path: str) -> None:
    """Look anew at the documents of one file: itself, or the cells of a notebook."""
    from netsharp_lsp.server.workspace_files import path_of

    session.workspace.forget(path)
    renew(session, [uri for uri in session.documents if path_of(uri) == path])
