"""The folders that files of a session may lead to: those of the workspace, and the user's.

In a workspace that is not trusted nothing is added, and a work tree of git counts for nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from netsharp_lsp.project.roots import Roots, own_roots, root_of
from netsharp_lsp.server.surroundings.workspace_files import path_of
from netsharp_lsp.settings import SettingsError

if TYPE_CHECKING:
    from netsharp_lsp.server.client.complaints import Complaints
    from netsharp_lsp.server.client.connection import Connection


class SessionRoots(Roots):
    """The roots of a session as they are now; others hold the one object."""

    __slots__ = ("_complaints", "_connection", "added")

    def __init__(self, connection: Connection, complaints: Complaints) -> None:
        super().__init__(())
        self._connection = connection
        self._complaints = complaints
        #: The folders that files may lead to besides, as the editor says for all folders.
        self.added: tuple[str, ...] = ()

    def renew(self) -> None:
        """Find out what they are; folders, trust, settings or documents have changed."""
        connection = self._connection
        folders = [path for path in map(path_of, connection.folders) if path is not None]
        inside = Roots(folders)
        if connection.trusted or not folders:
            paths = (path for path in map(path_of, connection.documents) if path is not None)
            alone = {os.path.dirname(path) for path in paths if not inside.holds(path)}
            folders += sorted(alone)
        if connection.trusted:
            folders = [*map(root_of, folders), *self.added, *self._own()]
        self.folders, self.data = Roots(folders).folders, connection.trusted

    def _own(self) -> tuple[str, ...]:
        try:
            return own_roots()
        except SettingsError as error:
            self._complaints.add([str(error)])
            return ()
