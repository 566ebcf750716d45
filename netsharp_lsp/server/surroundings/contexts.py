"""The context of each document, which turns `auto` into numbers.

In this order, each value from the first that knows it: the call around an embedded specification,
the run file beside the document (with the header of the table that it names), the editor's
settings, the nearest netsharp.toml or pyproject.toml.  `origin` of the context names which.
Files are read in a thread of their own, once until they change, and in an untrusted workspace a
table stays closed.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from netsharp_lsp.project.surroundings import Reader, state_of
from netsharp_lsp.server.jobs.worker import in_process_and_wait
from netsharp_lsp.server.surroundings.workspace_files import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from netsharp_lsp.context import Context
    from netsharp_lsp.project.surroundings import Surroundings
    from netsharp_lsp.project.table import Columns, Counts
    from netsharp_lsp.server.client.connection import Connection
    from netsharp_lsp.server.surroundings.settings import SettingsInForce
    from netsharp_lsp.server.surroundings.workspace_files import Watching

#: Seconds that the first question about a document waits for its run file, so that what depends
#: on it need not be said twice; typing never waits.
PATIENCE = 0.05
#: Bytes of a table that a thread counts in a few milliseconds.
COUNTED_HERE = 1 << 17


class Contexts:
    """The surroundings of the documents of a session, by path."""

    def __init__(
        self,
        connection: Connection,
        settings: SettingsInForce,
        watching: Watching,
        changed: Callable[[str], None],
    ) -> None:
        self._connection = connection
        self._settings = settings
        self._watching = watching
        self._changed = changed
        self._reader = Reader(_count)
        self._around: dict[str, Surroundings] = {}
        self._looks: dict[str, int] = {}
        self._problems: set[str] = set()

    def of(self, uri: str) -> Context:
        """Return the context of a document, without a call around the specification."""
        settings = self._settings.of(uri).context
        around = self._surroundings(uri)
        return settings if around is None else around.context.or_else(settings)

    def run_file_of(self, uri: str) -> str | None:
        """Return the path of the run file beside a document, None where there is none."""
        around = self._surroundings(uri)
        return None if around is None else around.run_file

    def model_of(self, uri: str) -> str | None:
        """Return the path of the trained model that belongs to a document, None for none."""
        around = self._surroundings(uri)
        return None if around is None else around.model

    def leave(self, uri: str) -> None:
        """Forget a document that is closed, unless others are of the same file."""
        path = path_of(uri)
        if path not in map(path_of, self._connection.documents) and path is not None:
            self._around.pop(path, None)
            self._looks.pop(path, None)
            self._watch()

    def touched(self, paths: Iterable[str]) -> None:
        """Look again around the documents that rest on files that are said to have changed."""
        changed = set(paths)
        for path in list(self._looks):
            around = self._around.get(path)
            if around is None or not changed.isdisjoint(around.states):
                self._look(path)

    def look_again(self, *, always: bool = False) -> None:
        """Look again around each document, or only around those whose files changed."""
        for path in list(self._looks):
            around = self._around.get(path)
            if always or around is None or not around.fresh:
                self._look(path)

    def _surroundings(self, uri: str) -> Surroundings | None:
        path = path_of(uri)
        if path is None:
            return None
        if path not in self._around and path not in self._looks:
            found = self._look(path, PATIENCE)
            if found is not None:
                self._around[path] = found
                self._report(path, found)
        return self._around.get(path)

    def _look(self, path: str, patience: float = 0.0) -> Surroundings | None:
        """Read in a thread. Return the result if it arrives in time; else it is sent later."""
        number = self._looks[path] = self._looks.get(path, 0) + 1
        tables, loop = self._connection.trusted, asyncio.get_running_loop()
        roots = self._settings.roots
        done = threading.Event()
        box: list[Surroundings] = []

        def read() -> None:
            box.append(self._reader.facts_around(path, tables=tables, roots=roots))
            done.set()
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self._take, path, number, box[0])

        threading.Thread(target=read, daemon=True).start()
        return box[0] if patience and done.wait(patience) else None

    def _take(self, path: str, number: int, found: Surroundings) -> None:
        """Store what a thread found, unless a later look or a closed document overtook it."""
        before = self._around.get(path)
        if found is before or self._looks.get(path) != number:
            return
        self._around[path] = found
        self._report(path, found)
        if before is None or _differs(before, found):
            self._changed(path)

    def _report(self, path: str, found: Surroundings) -> None:
        self._watch()
        if found.problem is not None and found.problem not in self._problems:
            self._problems.add(found.problem)
            self._connection.warn(found.problem)

    def _watch(self) -> None:
        tables = [table for around in self._around.values() for table in around.tables]
        self._watching.tables(tables)


def _count(path: str, columns: Columns) -> Counts | None:
    """Count a table; a large one aside, for its rows would take turns with the typing."""
    from netsharp_lsp.project.table import count_table

    state = state_of(path)
    if state is None or state[1] <= COUNTED_HERE:
        return count_table(path, columns)
    try:
        return in_process_and_wait(count_table, path, columns)
    except (OSError, RuntimeError):
        return None  # No process can be had, or it was ended: the table stays uncounted.


def _differs(before: Surroundings, found: Surroundings) -> bool:
    return (
        before.context != found.context
        or before.context.origin != found.context.origin
        or before.run_file != found.run_file
        or before.model != found.model
    )
