"""The runs of CNTK around open documents: what settings, scripts and configurations say.

A folder is looked through once, in a thread, until files change; until then a configuration is
run as if alone.  Open documents stand over the disk with the text that they have now.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from netsharp_lsp.project.walk import specifications_below
from netsharp_lsp.server.renewal import renew
from netsharp_lsp.server.workspace_files import folder_of, path_of
from netsharp_lsp.workspace import Workspace, outside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from netsharp_lsp.project.cntk_workspace import OverDisk, PlacedRun
    from netsharp_lsp.server.session import Session
    from netsharp_lsp.settings import Settings

#: The ids of the languages whose texts belong together.
FAMILY = frozenset(("cntk", "brainscript", "ndl", "mel"))
CONFIGURATIONS = (".cntk", ".config")
#: The suffixes of files that a run is made of, and of those that tell of one.
TEXTS = frozenset((*CONFIGURATIONS, ".bs", ".ndl", ".mel"))
WATCHED = TEXTS | {".sh", ".cmd", ".bat"}
#: Seconds after the last change of a document when others that it is run with are looked at.
QUIET = 0.3
#: Seconds that the first question about a folder waits for its runs.
PATIENCE = 0.2


class _OpenTexts(Mapping[str, bytes]):
    """The texts of open documents by the real paths of their files, as they are now."""

    def __init__(self, session: Session, locate: Callable[[str], str]) -> None:
        self._session = session
        self._locate = locate

    def _found(self) -> dict[str, bytes]:
        texts = {}
        for uri, document in list(self._session.documents.items()):
            path = path_of(uri)
            if path is not None:
                texts[self._locate(path)] = document.text
        return texts

    def __getitem__(self, path: str) -> bytes:
        return self._found()[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


class Experiments:
    """The runs of a session's folders, and what lies around each document of the family."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._files: OverDisk | None = None
        self._runs: dict[str, list[PlacedRun] | None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._edited: set[str] = set()

    @property
    def files(self) -> OverDisk:
        """The disk with the open documents over it."""
        if self._files is None:
            from netsharp_lsp.project.cntk_workspace import OverDisk

            roots = self._session.roots
            self._files = OverDisk(_OpenTexts(self._session, OverDisk({}, roots).locate), roots)
        return self._files

    def holds(self, uri: str) -> bool:
        """Whether a document is of the family, by what the client calls it, else by its name."""
        document = self._session.documents.get(uri)
        if document is not None and document.document.language_id in FAMILY:
            return True
        return os.path.splitext(uri.partition("#")[0])[1].lower() in TEXTS

    def workspace_of(self, uri: str) -> Workspace | None:
        """Return what lies around a document of the family; None for one that is on no disk."""
        from netsharp_lsp.project.cntk_workspace import declared_runs, relevant, supposed_run

        path = path_of(uri)
        if path is None:
            return None
        settings = self._session.settings_of(uri).file
        path = self.files.locate(path)
        declared, roots = declared_runs(settings, self.files), self._session.roots
        for one in declared:
            if one.outside and (path in one.configurations or roots.holds(settings.directory)):
                self._tell(str(settings.file), f"{settings.file}: {outside(one.outside[0])}")
        runs = [one for one in declared if not one.outside]
        runs += self._around(uri, path, settings)
        used = relevant(runs, frozenset((path,)), self.files)
        if not used and path.lower().endswith(CONFIGURATIONS):
            used = [supposed_run(path, settings.defines, self.files)]
        defines = settings.defines.union(*(one.defines for one in used))
        return Workspace(path, self.files, tuple(one.run for one in used), (), defines)

    def _tell(self, file: str, sentence: str) -> None:
        """Say of a file what is not looked at, once; threads may find out, too."""
        self._session.settings.complain_of([f"{sentence} This run is not looked at."])

    def changed(self, uri: str) -> None:
        """Look again at what a document of the family is run with, once nobody types."""
        if not self.holds(uri):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._edited.add(uri)
        self._timer = asyncio.get_running_loop().call_later(QUIET, self._settle)

    def _settle(self) -> None:
        """Renew what goes with the edited documents: open ones, and those known from the disk."""
        edited, self._edited = self._edited, set()
        self._forget_companions(path for path in map(path_of, edited) if path is not None)
        alone = edited if len(edited) == 1 else ()
        others = [one for one in self._session.documents if one not in alone and self.holds(one)]
        if others:
            renew(self._session, others)

    def _forget_companions(self, paths: Iterable[str]) -> None:
        """Judge files on disk anew that are in a run with one of the paths."""
        from netsharp_lsp.project.cntk_workspace import relevant

        wanted = frozenset(map(self.files.locate, paths))
        known = [one for runs in self._runs.values() for one in runs or ()]
        for run in relevant(known, wanted, self.files):
            for path in (*run.configurations, *run.files(self.files)):
                self._session.workspace.forget(path)

    def touched(self, paths: Iterable[str]) -> None:
        """Look again at the documents of the family where files of theirs, or scripts, changed."""
        watched = [path for path in paths if os.path.splitext(path)[1].lower() in WATCHED]
        if watched:
            self._forget_companions(watched)
            self.forget()
            self._renew()

    def forget(self) -> None:
        """Look through folders again: files came, went or changed."""
        self._runs.clear()

    def _around(self, uri: str, path: str, settings: Settings) -> list[PlacedRun]:
        """The runs below the folder of the workspace that a document is in, or its own."""
        folder = path_of(folder_of(self._session.folders, uri)) or os.path.dirname(path)
        if folder not in self._runs:
            self._look(folder, settings)
        return self._runs.get(folder) or []

    def _look(self, folder: str, settings: Settings) -> None:
        """Look through a folder in a thread; what takes longer than the patience comes later."""
        self._runs[folder] = None
        session, loop = self._session, asyncio.get_running_loop()
        done = threading.Event()
        late = threading.Event()

        def look() -> None:
            found = _runs_below(folder, session, settings.defines, self._tell)
            self._runs[folder] = found
            done.set()
            if late.is_set() and found:
                with suppress(RuntimeError):  # the server has ended
                    loop.call_soon_threadsafe(self._renew)

        threading.Thread(target=look, daemon=True).start()
        if not done.wait(PATIENCE):
            late.set()

    def _renew(self) -> None:
        renew(self._session, [uri for uri in self._session.documents if self.holds(uri)])


def _runs_below(
    folder: str,
    session: Session,
    defines: frozenset[str],
    tell: Callable[[str, str], object],
) -> list[PlacedRun]:
    """The runs that scripts below a folder start, and one for each other configuration."""
    from netsharp_lsp.project.cntk_workspace import OverDisk, scripted_runs, supposed_run

    excludes, roots = session.excludes, session.roots
    files = OverDisk({}, roots)
    try:
        found = scripted_runs(folder, excludes, defines, files, roots, tell)
        configurations = specifications_below(folder, excludes, CONFIGURATIONS, roots)
    except OSError:
        return []
    known = {path for one in found for path in one.configurations}
    for path in configurations:
        located = files.locate(os.path.abspath(path))
        if located not in known:
            found.append(supposed_run(located, defines, files))
    return found
