"""A folder for what is made to be looked at, which ends with the connection."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from netsharp_lsp.project.writing import write_atomic
from netsharp_lsp.server.surroundings.workspace_files import path_of

if TYPE_CHECKING:
    from netsharp_lsp.server.client.connection import Connection

#: Characters of a document's name that the names of its files keep: every file system takes them.
LONGEST = 60


class Scratch:
    """Files made for documents, each document's in a folder of its own."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._root: str | None = None
        self._folders: dict[str, str] = {}

    def write(self, uri: str, suffix: str, text: str) -> str:
        """Write a file named after a document, over its former one, and return its path."""
        stem = os.path.splitext(os.path.basename(path_of(uri) or "network"))[0][:LONGEST]
        path = os.path.join(self._folder(uri), f"{stem}{suffix}")
        write_atomic(path, text.encode("utf-8", "replace"))
        return path

    def folder(self, uri: str, name: str) -> str:
        """Return the path of a folder for a document's files, which their writer creates."""
        return os.path.join(self._folder(uri), name)

    def _folder(self, uri: str) -> str:
        if self._root is None:
            self._root = tempfile.mkdtemp(prefix="netsharp-")
            self._connection.closing.append(self._remove)
        if uri not in self._folders:
            self._folders[uri] = os.path.join(self._root, str(len(self._folders) + 1))
            os.mkdir(self._folders[uri])
        return self._folders[uri]

    def _remove(self) -> None:
        if self._root is not None:
            shutil.rmtree(self._root, ignore_errors=True)
        self._root = None
        self._folders.clear()
