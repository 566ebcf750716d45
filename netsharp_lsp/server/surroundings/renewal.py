"""After something around documents changed: what was said of them is said again.

Clients that keep answers are asked to ask again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.server.surroundings.workspace_files import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.server.client.connection import Connection
    from netsharp_lsp.server.surroundings.workspace import Workspace

#: Answers that a client requests by itself and caches: the capability, and the request to refresh.
_KEPT = {
    "workspace.inlayHint.refreshSupport": "workspace/inlayHint/refresh",
    "workspace.codeLens.refreshSupport": "workspace/codeLens/refresh",
    "workspace.diagnostics.refreshSupport": "workspace/diagnostic/refresh",
}


def renew(connection: Connection, workspace: Workspace, uris: Iterable[str] | None = None) -> None:
    """Check documents again, all of them where none is named."""
    for uri in list(connection.documents) if uris is None else list(uris):
        document = connection.documents.get(uri)
        if document is not None:
            document.surround()
            connection.unpublished[uri] = None
    if uris is None:
        workspace.forget()
    for capability, request in _KEPT.items():
        if connection.client.can(capability):
            connection.prompt(request, None)
    connection.inbox.wake()


def renew_path(connection: Connection, workspace: Workspace, path: str) -> None:
    """Check the documents of one file again: itself, or the cells of a notebook."""
    workspace.forget(path)
    uris = [uri for uri in connection.documents if path_of(uri) == path]
    renew(connection, workspace, uris)
