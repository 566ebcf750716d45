"""Where the files of a session may lead: the folders of the workspace, and what the person adds.

In a workspace that is not trusted nothing is added, and a work tree of git counts for nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from netsharp_lsp.project.roots import Roots, own_roots, root_of
from netsharp_lsp.server.workspace_files import path_of
from netsharp_lsp.settings import SettingsError

if TYPE_CHECKING:
    from netsharp_lsp.server.session import Session


class SessionRoots(Roots):
    """The roots of a session as they are now; others hold the one object."""

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        super().__init__(())
        self._session = session

    def renew(self) -> None:
        """Find out what they are; folders, trust, settings or documents have changed."""
        session = self._session
        folders = [path for path in map(path_of, session.folders) if path is not None]
        inside = Roots(folders)
        if session.trusted or not folders:
            paths = (path for path in map(path_of, session.documents) if path is not None)
            alone = {os.path.dirname(path) for path in paths if not inside.holds(path)}
            folders += sorted(alone)
        if session.trusted:
            folders = [*map(root_of, folders), *session.settings.roots, *self._own()]
        self.folders = Roots(folders).folders

    def _own(self) -> tuple[str, ...]:
        try:
            return own_roots()
        except SettingsError as error:
            self._session.settings.complain_of([str(error)])
            return ()
