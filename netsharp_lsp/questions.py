"""The questions of commands to families whose texts belong together, and the answers.

Plain values; knows no family, no terminal and no editor.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Protocol, TypeVar

    from netsharp_engine.distributed.ranks import Ranks
    from netsharp_lsp.description.comparison import Comparison
    from netsharp_lsp.diagnostics.reports import FileFindings
    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.outcome import Item, ReadError
    from netsharp_lsp.project.folders import Find
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.settings import Settings
    from netsharp_lsp.workspace import Files, Premises, Run

    class Follower(Protocol):
        """The observer of a run's commands."""

        def event(self, event: dict[str, Any]) -> None:
            """Take an event of the run log."""

        def line(self, line: str) -> None:
            """Take a line of the original program's log."""

        def notice(self, sentence: str) -> None:
            """Receive a message for the user."""

        def stops(self) -> bool:
            """Return whether a stop is requested."""

    Work = TypeVar("Work")
    Done = TypeVar("Done")

    class Job(Protocol):
        """A file to check with what holds for it."""

        @property
        def item(self) -> Item:
            """The file."""

        @property
        def selection(self) -> Selection:
            """Which diagnostics are wanted."""

        @property
        def repairs(self) -> bool:
            """Return whether fixes are to be applied, be it only to show them."""

    class PlacedRun(Protocol):
        """A run with absolute folders, and the real paths of the files that it begins with."""

        @property
        def run(self) -> Run:
            """The run."""

        @property
        def given(self) -> Premises:
            """Return the facts about all runs that settings give."""

        @property
        def configurations(self) -> Sequence[str]:
            """The real paths of the files that it begins with, as far as they are there."""

        @property
        def missing(self) -> Mapping[str, str | None]:
            """Return the replacements for missing ones, by their given names."""

        @property
        def outside(self) -> Sequence[str]:
            """Return those that lie where nothing is looked at, as they are named."""

        def files(self, files: Files) -> frozenset[str]:
            """Return the real paths of all files that it names."""

    class DoEach(Protocol):
        """Applies a function to many items, in several processes where that pays."""

        def __call__(self, work: Callable[[Work], Done], jobs: Sequence[Work], /) -> Iterable[Done]:
            """Yield `work(job)` for each job, in order; both must be picklable."""


class Inspection:
    """The files of one family that a command line asks to check.

    `folders` are those that it names, `layers` its arguments ``A+B``, `assignments` what follows
    each run; `unsafe`: all fixes are wanted, not only the safe ones; `reads_data`: data are
    read to their end.  `read` reads a file and `job_for` makes a job of one that was not named,
    which is read in addition, by its name, path and language.
    """

    __slots__ = (
        "assignments",
        "do_each",
        "find",
        "folders",
        "job_for",
        "jobs",
        "layers",
        "read",
        "reads_data",
        "roots",
        "unsafe",
    )

    def __init__(
        self,
        jobs: Sequence[Job],
        read: Callable[[Item], bytes | ReadError],
        job_for: Callable[[str, str | None, str], Job],
        do_each: DoEach,
        find: Find,
        roots: Roots,
    ) -> None:
        self.jobs = jobs
        self.read = read
        self.job_for = job_for
        self.do_each = do_each
        self.find = find
        self.roots = roots
        self.folders: Sequence[str] = ()
        self.layers: Sequence[str] = ()
        self.assignments: tuple[str, ...] = ()
        self.unsafe = False
        self.reads_data = False


class Question:
    """A question about runs: their settings, the `command` that is meant, a replacement for the
    `library`, the `log` to compare with.

    `meant` makes a file of an argument, `read` reads it.
    """

    __slots__ = ("assignments", "command", "find", "library", "log", "meant", "read", "roots")

    def __init__(
        self,
        meant: Callable[[str], Item],
        read: Callable[[Item], bytes | ReadError],
        find: Find,
        roots: Roots,
        assignments: tuple[str, ...] = (),
    ) -> None:
        self.meant = meant
        self.read = read
        self.find = find
        self.roots = roots
        self.assignments = assignments
        self.command: str | None = None
        self.library: str | None = None
        self.log: str | None = None


class Lookup:
    """A question about configurations: `items` in order, seen from a `folder`.

    One value is wanted (`path`, `exact`: without climbing), what holds for one `command`, or all
    as one file (`flat`); `stdin` reads what `-` means, which is called `stdin_name`; `roots_for`
    returns the roots around names, `settings_for` the settings of a folder among them.
    """

    __slots__ = (
        "command",
        "exact",
        "flat",
        "folder",
        "items",
        "json",
        "path",
        "roots_for",
        "settings_for",
        "stdin",
        "stdin_name",
    )

    def __init__(
        self,
        items: Sequence[str],
        folder: str,
        roots_for: Callable[[Iterable[str]], Roots],
        settings_for: Callable[[str, Roots], Settings],
        stdin: Callable[[], bytes],
        stdin_name: str,
    ) -> None:
        self.items = items
        self.folder = folder
        self.roots_for = roots_for
        self.settings_for = settings_for
        self.stdin = stdin
        self.stdin_name = stdin_name
        self.path: str | None = None
        self.exact = False
        self.command: str | None = None
        self.flat = False
        self.json = False


class Wanted:
    """The files that a command line names for a migration: languages of files by their real paths,
    folders, and layers; `force` replaces files that are there and different.
    """

    __slots__ = ("assignments", "files", "find", "folders", "force", "languages", "layers", "roots")

    def __init__(
        self,
        languages: Mapping[str, str],
        folders: Sequence[str],
        layers: Sequence[str],
        files: Files,
        find: Find,
        roots: Roots,
    ) -> None:
        self.languages = languages
        self.folders = folders
        self.layers = layers
        self.files = files
        self.find = find
        self.roots = roots
        self.assignments: tuple[str, ...] = ()
        self.force = False


class Performance:
    """A request for a program's run: its `items` in order, seen from a `folder`.

    `roots_for` returns the roots around names, `settings_for` the settings of a folder among them.
    `texts` replace files, by their real paths, `log` is the release whose
    lines are printed; `tensors`: models are written as safetensors, `starts_programs`: programs
    that the run names may be started.  A `device` computes where one is named, with products of a
    `precision` where one is. `ranks` are the processes that do it together, if there are several.
    """

    __slots__ = (
        "device",
        "folder",
        "items",
        "log",
        "precision",
        "ranks",
        "roots_for",
        "settings_for",
        "starts_programs",
        "tensors",
        "texts",
    )

    def __init__(
        self,
        items: Sequence[str],
        folder: str,
        roots_for: Callable[[Iterable[str]], Roots],
        settings_for: Callable[[str, Roots], Settings],
    ) -> None:
        self.items = items
        self.folder = folder
        self.roots_for = roots_for
        self.settings_for = settings_for
        self.texts: Mapping[str, bytes] = {}
        self.log = ""
        self.ranks: Ranks | None = None
        self.tensors = False
        self.starts_programs = False
        self.device = ""
        self.precision = ""

    def of_run(self, items: Sequence[str], folder: str, roots: Roots) -> Performance:
        """Return the same asked of a run that a file names, which widens no roots."""
        return Performance(items, folder, lambda named: roots, self.settings_for)


class Answer:
    """The answer of a family to a command.

    Each of `reports` is shown and `complaints` are printed on stderr, in this order; then a
    `document` (a JSON value), `lines` for people, the bytes of a `text` or a `comparison` follow,
    whichever there is; `code` is the exit code.  `printed` are complaints that were printed before.
    """

    __slots__ = (
        *("code", "comparison", "complaints", "document", "lines", "printed", "reports", "text"),
    )

    def __init__(
        self,
        code: int = 0,
        complaints: Sequence[str] = (),
        reports: Sequence[Sequence[FileFindings]] = (),
        document: dict[str, Any] | None = None,
        lines: Iterable[str] = (),
        text: bytes | None = None,
        comparison: Comparison | None = None,
    ) -> None:
        self.code = code
        self.complaints = complaints
        self.reports = reports
        self.document = document
        self.lines = lines
        self.text = text
        self.comparison = comparison
        self.printed: Sequence[str] = ()


def relevant(runs: Iterable[PlacedRun], wanted: frozenset[str], files: Files) -> list[PlacedRun]:
    """Return the runs that name one of the wanted files, by their real paths, each once."""
    found: dict[tuple[object, ...], PlacedRun] = {}
    for one in runs:
        if not wanted.isdisjoint(one.configurations) or not wanted.isdisjoint(one.files(files)):
            found.setdefault(one.run.key, one)
    return list(found.values())
