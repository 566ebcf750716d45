"""workspace/didChangeWatchedFiles: settings, run files and tables that changed on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.server.surroundings.workspace_files import is_settings, path_of

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from netsharp_lsp.server.session import Session


def did_change_watched_files(session: Session, params: lsp.DidChangeWatchedFilesParams) -> None:
    """Use what changed on disk."""
    paths = [path for change in params.changes if (path := path_of(change.uri)) is not None]
    if any(map(is_settings, paths)):
        session.settings.forget()
        session.renew()
    session.experiments.touched(paths)
    session.contexts.touched(paths)
