"""The specifications of the workspace: those open, and those that a walk over its folders finds.

Texts on disk are read again only when their files have changed; work is done in slices, so that a
keystroke never waits for more than one file.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from netsharp_lsp.language import DEFAULT, SUFFIXES
from netsharp_lsp.project.surroundings import state_of
from netsharp_lsp.project.walk import specifications_below
from netsharp_lsp.server.documents import Document
from netsharp_lsp.server.views import OpenDocument
from netsharp_lsp.server.workspace_files import path_of, uri_of
from netsharp_lsp.text.decode import Source, decode
from netsharp_lsp.text.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from netsharp_lsp.project.surroundings import State
    from netsharp_lsp.server.session import Session

#: So many texts that are not open are kept read.
KEPT = 200


class Workspace:
    """All specifications that `netsharp check` would look at, as documents."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._read: dict[str, tuple[State, OpenDocument]] = {}

    async def documents(self) -> AsyncIterator[OpenDocument]:
        """Yield every document once, open ones first; other messages come between."""
        session = self._session
        for uri in list(session.documents):
            document = session.documents.get(uri)
            if document is not None:
                yield document
                await asyncio.sleep(0)
        for path in self.paths():
            if os.path.realpath(path) not in self._open_paths():
                document = self._document(path)
                if document is not None:
                    yield document
                    await asyncio.sleep(0)

    def paths(self) -> list[str]:
        """Return the specifications on disk below the folders of the workspace, each once."""
        found: dict[str, None] = {}
        for folder in self._session.folders:
            path = path_of(folder)
            if path and os.path.isdir(path):
                below = specifications_below(path, self._session.excludes)
                found.update(dict.fromkeys(map(os.path.abspath, below)))
        return list(found)

    def forget(self) -> None:
        """Read all texts again, for what is known around them has changed."""
        self._read.clear()

    def _open_paths(self) -> set[str]:
        paths = (path_of(uri) for uri in self._session.documents)
        return {os.path.realpath(path) for path in paths if path}

    def _document(self, path: str) -> OpenDocument | None:
        """A file as a document without version; None where it cannot be read as text."""
        state = state_of(path)
        known = self._read.get(path)
        if known is not None and known[0] == state:
            return known[1]
        try:
            with open(path, "rb") as stream:
                source = decode(stream.read())
        except OSError:
            return None
        if not isinstance(source, Source) or b"\0" in source.text[:8192]:
            return None
        session = self._session
        language_id = SUFFIXES.get(os.path.splitext(path)[1].lower(), DEFAULT)
        uri = uri_of(path)
        made = Document(uri, language_id, None, LineIndex(source.text))
        document = OpenDocument(made, session.ruler, session.context_of)
        while len(self._read) >= KEPT:
            del self._read[next(iter(self._read))]
        self._read[path] = (state, document)
        return document
