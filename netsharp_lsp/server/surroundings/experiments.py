"""The runs around open documents of families whose texts belong together, from settings, scripts
and the files that begin runs.

A folder is scanned once, in a thread, until files change; until then such a file is run as
if alone.  Open documents replace files on disk with their current text.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from netsharp_lsp.language import families, families_by_language, family_of_name
from netsharp_lsp.project.walk import specifications_below
from netsharp_lsp.questions import relevant
from netsharp_lsp.server.surroundings.renewal import renew
from netsharp_lsp.server.surroundings.workspace_files import folder_of, path_of
from netsharp_lsp.workspace import Workspace as Surroundings
from netsharp_lsp.workspace import leads_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from netsharp_lsp.family import Experiments as FamilyExperiments
    from netsharp_lsp.family import Family
    from netsharp_lsp.questions import PlacedRun
    from netsharp_lsp.server.client.complaints import Complaints
    from netsharp_lsp.server.client.connection import Connection
    from netsharp_lsp.server.surroundings.settings import SettingsInForce
    from netsharp_lsp.server.surroundings.workspace import Workspace
    from netsharp_lsp.settings import Settings
    from netsharp_lsp.workspace import Folders, Premises

#: Seconds after the last change of a document before others that it is run with are checked.
QUIET = 0.3
#: Seconds that the first question about a folder waits for its runs.
PATIENCE = 0.2


class _OpenTexts(Mapping[str, bytes]):
    """The texts of open documents by the real paths of their files, as they are now.

    Where the files are is asked of the disk again when a document was opened or closed, and when
    files changed.
    """

    def __init__(self, connection: Connection, locate: Callable[[str], str]) -> None:
        self._connection = connection
        self._locate = locate
        self._documents: frozenset[str] = frozenset()
        self._uris: dict[str, str] = {}

    def forget(self) -> None:
        """Ask again where files are."""
        self._documents, self._uris = frozenset(), {}

    def _known(self) -> dict[str, str]:
        """Return the documents by the real paths of their files."""
        documents = self._connection.documents
        if self._documents != documents.keys():
            self._documents = frozenset(documents)
            places = ((uri, path_of(uri)) for uri in documents)
            self._uris = {self._locate(path): uri for uri, path in places if path is not None}
        return self._uris

    def __getitem__(self, path: str) -> bytes:
        return self._connection.documents[self._known()[path]].text

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())


class Experiments:
    """The runs of a session's folders, and what lies around each document that may be in one."""

    def __init__(
        self,
        connection: Connection,
        settings: SettingsInForce,
        complaints: Complaints,
        workspace: Workspace,
    ) -> None:
        self._connection = connection
        self._settings = settings
        self._complaints = complaints
        self._workspace = workspace
        self._known: dict[str, _FamilyRuns] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._edited: set[str] = set()

    def holds(self, uri: str) -> bool:
        """Return whether a document may be in runs, by its language id, else by its name."""
        return self._family(uri) is not None

    def workspace_of(self, uri: str) -> Surroundings | None:
        """Return the workspace of such a document; None for one that is not on a disk."""
        family, path = self._family(uri), path_of(uri)
        if family is None or path is None:
            return None
        return self._runs(family).workspace_of(uri, path)

    def changed(self, uri: str) -> None:
        """Look up the runs of such a document again, in an idle moment."""
        if not self.holds(uri):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._edited.add(uri)
        self._timer = asyncio.get_running_loop().call_later(QUIET, self._renew_edited)

    def touched(self, paths: Iterable[str]) -> None:
        """Look again at documents where files of theirs, or scripts, changed."""
        suffixes = watched_suffixes()
        watched = [path for path in paths if os.path.splitext(path)[1].lower() in suffixes]
        if watched:
            self._forget_companions(watched)
            self.forget()
            self.renew()

    def forget(self) -> None:
        """Scan folders again: files came, went or changed."""
        for runs in self._known.values():
            runs.forget()

    def renew(self) -> None:
        """Check all such documents again."""
        self._renew([uri for uri in self._connection.documents if self.holds(uri)])

    def _renew(self, uris: list[str]) -> None:
        renew(self._connection, self._workspace, uris)

    def _renew_edited(self) -> None:
        """Renew what goes with the edited documents: open ones, and those known from the disk."""
        edited, self._edited = self._edited, set()
        self._forget_companions([path for path in map(path_of, edited) if path is not None])
        alone = edited if len(edited) == 1 else ()
        others = [one for one in self._connection.documents if one not in alone and self.holds(one)]
        if others:
            self._renew(others)

    def _forget_companions(self, paths: Sequence[str]) -> None:
        """Check files on disk again that are in a run with one of the paths."""
        for runs in self._known.values():
            for path in runs.companions(paths):
                self._workspace.forget(path)

    def _family(self, uri: str) -> Family | None:
        document = self._connection.documents.get(uri)
        if document is not None:
            family = families_by_language().get(document.document.language_id)
            if family is not None and family.experiments is not None:
                return family
        named = family_of_name(uri.partition("#")[0])
        return None if named is None or named.experiments is None else named

    def _runs(self, family: Family) -> _FamilyRuns:
        if family.id not in self._known:
            assert family.experiments is not None
            runs = _FamilyRuns(
                family.experiments, self._connection, self._settings, self._complaints, self.renew
            )
            self._known[family.id] = runs
        return self._known[family.id]


class _FamilyRuns:
    """The runs of one family; `renew` is called when more are found than at first."""

    def __init__(
        self,
        answers: FamilyExperiments,
        connection: Connection,
        settings: SettingsInForce,
        complaints: Complaints,
        renew: Callable[[], None],
    ) -> None:
        self._answers = answers
        self._connection = connection
        self._settings = settings
        self._complaints = complaints
        self._renew = renew
        self._texts: _OpenTexts | None = None
        self._files: Folders | None = None
        self._runs: dict[str, Sequence[PlacedRun] | None] = {}

    @property
    def files(self) -> Folders:
        """The disk with the open documents over it."""
        if self._files is None:
            roots, answers = self._settings.roots, self._answers
            self._texts = _OpenTexts(self._connection, answers.files({}, roots).locate)
            self._files = answers.files(self._texts, roots)
        return self._files

    def workspace_of(self, uri: str, path: str) -> Surroundings:
        """Return the workspace of a document."""
        settings = self._settings.of(uri).file
        path = self.files.locate(path)
        declared, roots = self._answers.declared(settings, self.files), self._settings.roots
        for one in declared:
            if one.outside and (path in one.configurations or roots.holds(settings.directory)):
                self._report(str(settings.file), f"{settings.file}: {leads_out(one.outside[0])}")
        runs = [one for one in declared if not one.outside]
        runs += self._around(uri, path, settings)
        used = relevant(runs, frozenset((path,)), self.files)
        given = self._answers.given(settings)
        if not used and path.lower().endswith(self._answers.starts):
            used = [self._answers.supposed(path, given, self.files)]
        given = given.joined(one.given for one in used)
        return Surroundings(path, self.files, tuple(one.run for one in used), (), given)

    def companions(self, paths: Sequence[str]) -> Iterator[str]:
        """Yield the files that are in a known run with one of the paths."""
        wanted = frozenset(map(self.files.locate, paths))
        known = [one for runs in self._runs.values() for one in runs or ()]
        for run in relevant(known, wanted, self.files):
            yield from run.configurations
            yield from run.files(self.files)

    def forget(self) -> None:
        """Scan folders again."""
        self._runs.clear()
        if self._texts is not None:
            self._texts.forget()

    def _report(self, file: str, sentence: str) -> None:
        """Report once that a part of a file is not analysed; threads may call it, too."""
        self._complaints.add([sentence])

    def _around(self, uri: str, path: str, settings: Settings) -> Sequence[PlacedRun]:
        """Return the runs below the folder of the workspace that a document is in, or its own."""
        folder = path_of(folder_of(self._connection.folders, uri)) or os.path.dirname(path)
        if folder not in self._runs:
            self._look(folder, settings)
        return self._runs.get(folder) or ()

    def _look(self, folder: str, settings: Settings) -> None:
        """Scan a folder in a thread; a scan longer than the patience is used later."""
        self._runs[folder] = None
        loop = asyncio.get_running_loop()
        done = threading.Event()
        late = threading.Event()

        def look() -> None:
            found = self._below(folder, self._answers.given(settings))
            self._runs[folder] = found
            done.set()
            if late.is_set() and found:
                with suppress(RuntimeError):  # the server has ended
                    loop.call_soon_threadsafe(self._renew)

        threading.Thread(target=look, daemon=True).start()
        if not done.wait(PATIENCE):
            late.set()

    def _below(self, folder: str, given: Premises) -> list[PlacedRun]:
        """Return the runs that scripts below a folder start, and one for each other beginning."""
        answers, excludes, roots = self._answers, self._settings.excludes, self._settings.roots
        files = answers.files({}, roots)
        try:
            scripted = answers.scripted(folder, excludes, given, files, roots, self._report)
            beginnings = specifications_below(folder, excludes, answers.starts, roots)
        except OSError:
            return []
        found = list(scripted)
        known = {path for one in found for path in one.configurations}
        for path in beginnings:
            located = files.locate(os.path.abspath(path))
            if located not in known:
                found.append(answers.supposed(located, given, files))
        return found


def watched_suffixes() -> frozenset[str]:
    """Return the suffixes of files in runs, and of those that start runs."""
    having = [one for one in families() if one.experiments is not None]
    texts = [suffix for one in having for suffix in one.suffixes]
    scripts = [suffix for one in having if one.experiments for suffix in one.experiments.scripts]
    return frozenset((*texts, *scripts))
