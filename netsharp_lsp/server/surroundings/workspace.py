"""The specifications of the workspace: those open, and those that a walk over its folders finds.

Texts on disk are read again only when their files have changed; work is done in slices, so that a
keystroke never waits for more than one file.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.language import family_of, language_of_text, suffixes
from netsharp_lsp.project.surroundings import state_of
from netsharp_lsp.project.walk import specifications_below
from netsharp_lsp.server.documents.document import Document
from netsharp_lsp.server.documents.views import OpenDocument
from netsharp_lsp.server.surroundings.workspace_files import path_of, uri_of
from netsharp_lsp.text.decode import Source
from netsharp_lsp.text.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from netsharp_lsp.context import Context
    from netsharp_lsp.project.surroundings import State
    from netsharp_lsp.server.client.connection import Connection
    from netsharp_lsp.server.surroundings.settings import SettingsInForce

#: Bytes of texts that are not open and whose results are cached; others are read each time.
KEPT = 2_000_000


class Workspace:
    """The specifications that `netsharp check` would check, as documents."""

    def __init__(
        self,
        connection: Connection,
        settings: SettingsInForce,
        context_of: Callable[[str], Context],
    ) -> None:
        self._connection = connection
        self._settings = settings
        self._context_of = context_of
        self._read: dict[str, tuple[State, OpenDocument]] = {}

    async def documents(self) -> AsyncIterator[OpenDocument]:
        """Yield every document once, open ones first; other messages come between."""
        opened = self._connection.documents
        for uri in list(opened):
            document = opened.get(uri)
            if document is not None:
                yield document
                await asyncio.sleep(0)
        for path in await self._found():
            if path not in map(path_of, opened):
                document = self._document(path)
                if document is not None:
                    yield document
                    await asyncio.sleep(0)

    def forget(self, path: str | None = None) -> None:
        """Read a file again, or all: its context has changed."""
        if path is None:
            self._read.clear()
        else:
            self._read.pop(path, None)

    async def _found(self) -> list[str]:
        """Return the specifications on disk; a thread looks for them, for a folder may be large."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[str]] = loop.create_future()

        def settle(paths: list[str]) -> None:
            if not found.done():
                found.set_result(paths)

        def look() -> None:
            # If the loop has ended, no request waits any more.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, self._paths(folders))

        folders = [path for path in map(path_of, self._connection.folders) if path]
        threading.Thread(target=look, daemon=True).start()
        return await found

    def _paths(self, folders: list[str]) -> list[str]:
        """Return the specifications below folders, each once; none for unreadable folders."""
        paths: dict[str, None] = {}
        for folder in folders:
            with suppress(OSError):
                below = specifications_below(
                    folder, self._settings.excludes, suffixes(), self._settings.roots
                )
                paths.update(dict.fromkeys(map(os.path.abspath, below)))
        return list(paths)

    def _document(self, path: str) -> OpenDocument | None:
        """Return a file as a document without version; None where it cannot be read as text."""
        state = state_of(path)
        known = self._read.get(path)
        if known is not None and known[0] == state:
            return known[1]
        place = self._settings.roots.place(path)
        if place is None:
            return None
        try:
            with open_plain(place, follow=False) as stream:
                data = stream.read()
        except OSError:
            return None
        language_id = language_of_text(path, data)
        if language_id is None:
            return None
        source = family_of(language_id).decode(data)
        if not isinstance(source, Source) or b"\0" in source.text[:8192]:
            return None
        uri = uri_of(path)
        made = Document(uri, language_id, None, LineIndex(source.text))
        document = OpenDocument(made, self._connection.ruler, self._context_of)
        if sum(len(kept.text) for _, kept in self._read.values()) + len(source.text) <= KEPT:
            self._read[path] = (state, document)
        return document
