"""The runs of CNTK around a set of files: those that settings declare, those that scripts start,
and one for each configuration that is in none.

Reads settings, scripts and configurations from disk; executes nothing and evaluates no rule.
"""

from __future__ import annotations

import os
import re
import sys

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.cntk.checking.analysis import Over
from netsharp_lsp.cntk.commands.settings import declared_in
from netsharp_lsp.cntk.configuration.items import folders_of, read_items
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.cntk.run.neighbours import alone
from netsharp_lsp.cntk.run.references import files_of
from netsharp_lsp.cntk.suffixes import SCRIPTS
from netsharp_lsp.limits import SCRIPT_BYTES
from netsharp_lsp.project.disk_files import DiskFiles, FilesOfAMoment
from netsharp_lsp.project.walk import specifications_below
from netsharp_lsp.text.decode import decode_legacy
from netsharp_lsp.workspace import Run, leads_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from netsharp_engine.limits import Limit
    from netsharp_lsp.cntk.run.scripts import ScriptRuns
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.settings import Settings
    from netsharp_lsp.workspace import Files, Premises

#: The first bytes of a script without a known suffix, and the number of bytes read.
_SHELL = re.compile(rb"#![^\n]*sh\b")
_LINE = 80


class OverDisk(Over):
    """The files of a disk, some of them with other texts, by canonical path."""

    __slots__ = ()

    def __init__(self, texts: Mapping[str, bytes], roots: Roots) -> None:
        super().__init__(DiskFiles(roots=roots), texts)


class OverDiskOfAMoment(Over):
    """The same for the check of one run, which looks up each name on disk once."""

    __slots__ = ()

    def __init__(self, texts: Mapping[str, bytes], roots: Roots) -> None:
        super().__init__(FilesOfAMoment(roots), texts)


class PlacedRun:
    """A run with absolute folders, the canonical paths of its configurations, and those that are
    `missing`.

    `outside` are configurations outside the roots.
    """

    __slots__ = ("_known", "configurations", "given", "missing", "outside", "run")

    def __init__(self, run: Run, given: Premises, files: Files) -> None:
        self.run = run
        self.given = given
        configurations: list[str] = []
        missing: dict[str, str | None] = {}
        leading_out: list[str] = []
        self._known: tuple[int, frozenset[str]] | None = None
        folders = (run.directory, *run.also)
        for path in _named(run):
            places = [os.path.join(folder, path) for folder in folders]
            found = next((place for place in places if files.exists(place)), None)
            if found is not None:
                configurations.append(sys.intern(files.locate(found)))
            elif files.outside(places[0]):
                leading_out.append(path)
            else:
                missing[path] = next(filter(None, map(files.kind, places)), None)
        self.configurations = tuple(configurations)
        #: Replacements by the names of missing files.
        self.missing = missing
        self.outside = tuple(leading_out)

    def files(self, files: Files) -> frozenset[str]:
        """Return the canonical paths of all files that the run names; computed again when one has
        changed.
        """
        if self._known is None or self._known[0] != _state(self._known[1], files):
            found = files_of(Experiment(self.run, files))
            self._known = (_state(found, files), found)
        return self._known[1]


def _state(paths: frozenset[str], files: Files) -> int:
    return hash(tuple(files.read(path) for path in paths))


def declared_runs(settings: Settings, files: Files) -> list[PlacedRun]:
    """Return the runs that settings declare."""
    declared = declared_in(settings)
    return [
        PlacedRun(_placed(run, settings.directory), declared.given, files) for run in declared.runs
    ]


def scripted_runs(
    folder: str,
    excludes: Callable[[str], bool],
    given: Premises,
    files: Files,
    roots: Roots,
    report: Callable[[str, str], object],
) -> list[PlacedRun]:
    """Return the runs that scripts below a folder start, those whose configurations exist.

    `report` is called with the path and a sentence for each script that starts one with a
    configuration outside, or is not followed to its end.
    """
    found = []
    scripts = _Scripts(os.path.abspath(folder), roots)
    for path in specifications_below(folder, excludes, (*SCRIPTS, ""), roots):
        text = scripts.text(path)
        place = os.path.dirname(os.path.abspath(path))
        if not text:
            continue
        started = _started(path, text, scripts.reader(place), scripts.is_cut(path))
        sentences: list[str] = []
        for run in started.runs:
            one = PlacedRun(_placed(run, place, (os.getcwd(),)), given, files)
            if one.outside:
                sentences = sentences or [leads_out(one.outside[0])]
            elif one.configurations and not one.missing:
                found.append(one)
        sentences += map(_not_to_its_end, started.passed)
        if sentences:
            report(path, f"{path}: {' '.join(sentences)}")
    return found


def _started(path: str, text: str, read: Callable[[str], str | None], is_cut: bool) -> ScriptRuns:
    """Return the runs that a script starts; the shell parser is imported where there is one."""
    from netsharp_lsp.cntk.run.scripts import ScriptRuns, script_runs, starts_runs

    found = script_runs(os.path.realpath(path), text, read)
    if not is_cut or not starts_runs(text):
        return found
    return ScriptRuns(found.runs, (SCRIPT_BYTES, *found.passed))


def _not_to_its_end(limit: Limit) -> str:
    """Return the message about a script that exceeds a limit, to follow its name."""
    what = limit.what[0].upper() + limit.what[1:]
    return (
        f"This script is only read in part. {what}: at most {limit}; {limit.beyond}. "
        "Declare its further runs in 'netsharp.toml' ('[[cntk.run]]')."
    )


def supposed_run(path: str, given: Premises, files: Files) -> PlacedRun:
    """Return the assumed run of a configuration, by its absolute path."""
    return PlacedRun(alone(path, (os.getcwd(),)), given, files)


def layered_run(argument: str, given: Premises, files: Files, directory: str = "") -> PlacedRun:
    """Return the run of layers ``a.cntk+b.cntk`` as arguments name them."""
    beside = tuple(
        os.path.dirname(os.path.abspath(os.path.join(directory, path)))
        for path in argument.split("+")[:1]
    )
    run = Run((f"configFile={argument}",), os.path.abspath(directory), declared=False, also=beside)
    return PlacedRun(run, given, files)


def _named(run: Run) -> list[str]:
    """Return the configurations of a run, relative to the folder that it is started in: those after
    an item that changes the folder are in that.
    """
    items = read_items(run.items)
    folders, _ = folders_of(items, {hole.item for hole in run.holes})
    return [
        os.path.join(folder, path)
        for item, folder in zip(items, folders, strict=True)
        if item.kind == "files"
        for path in item.paths
    ]


def _placed(run: Run, folder: str, also: Sequence[str] = ()) -> Run:
    directory = os.path.abspath(os.path.join(folder, run.directory))
    if run.origin is not None and directory != folder:
        also = (folder, *also)
    return run.placed(directory, tuple(also))


class _Scripts:
    """The texts of scripts, each read once; scripts that others source are looked up in parent
    folders, up to the given folder.
    """

    def __init__(self, top: str, roots: Roots) -> None:
        self._top = top
        self._roots = roots
        self._texts: dict[str, str] = {}
        self._cut: set[str] = set()

    def is_cut(self, path: str) -> bool:
        """Return whether a script that was read is longer than its text."""
        return os.path.realpath(path) in self._cut

    def text(self, path: str) -> str:
        """Return the text of a script, empty where it is not one."""
        real = os.path.realpath(path)
        if real not in self._texts:
            self._texts[real] = decode_legacy(self._beginning(real)).text.decode()
        return self._texts[real]

    def reader(self, folder: str) -> Callable[[str], str | None]:
        """Return a reader of the scripts that one in a folder sources."""

        def read(path: str) -> str | None:
            at = folder
            while True:
                found = os.path.join(at, path)
                if path and os.path.isfile(found) and self._roots.holds(found):
                    return self.text(found)
                if at == self._top or at == os.path.dirname(at):
                    return None
                at = os.path.dirname(at)

        return read

    def _beginning(self, path: str) -> bytes:
        try:
            with open_plain(path, follow=False) as stream:
                text: bytes = stream.read(_LINE)
                if not path.lower().endswith(SCRIPTS) and _SHELL.match(text) is None:
                    return b""
                text += stream.read(SCRIPT_BYTES.most + 1 - len(text))
                if len(text) > SCRIPT_BYTES.most:
                    self._cut.add(path)
                return text[: SCRIPT_BYTES.most]
        except OSError:
            return b""
