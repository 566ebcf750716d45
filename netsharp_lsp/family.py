"""What a family of languages answers to commands and server, and the plain values of both.

A family of texts has languages alone: each text stands for itself.  One whose texts belong
together answers for their runs, too.  Knows no family, no terminal and no editor.
"""

from __future__ import annotations

import os

from netsharp_lsp.text.decode import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol, TypeVar

    from netsharp_engine.graph import Graph
    from netsharp_engine.limits import Limit
    from netsharp_lsp.context import Context
    from netsharp_lsp.description.comparison import Comparison
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.diagnostics.reports import FileFindings
    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.interface import Foreign, Language, Sample
    from netsharp_lsp.project.folders import Find
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.settings import Settings
    from netsharp_lsp.text.decode import DecodeError, Source
    from netsharp_lsp.text.lines import LineIndex
    from netsharp_lsp.workspace import Files, Folders, Run

    Work = TypeVar("Work")
    Done = TypeVar("Done")

    class Family(Protocol):
        """Languages that go together.  What is asked before a text is read imports little."""

        @property
        def id(self) -> str:
            """What tells it from other families."""

        @property
        def title(self) -> str:
            """What its languages are called in a sentence."""

        @property
        def suffixes(self) -> Mapping[str, str]:
            """The id of the language of a file, by the suffix of its name in lower case."""

        @property
        def languages(self) -> Mapping[str, Language]:
            """Its languages by their ids."""

        @property
        def largest(self) -> Limit | None:
            """Above how many bytes a file is not even decoded; None where `experiments` decide."""

        @property
        def looks_inside(self) -> bool:
            """Whether suffixes are others', too, so that `recognise` needs the text of a file."""

        def recognise(self, name: str, data: bytes) -> str | Foreign:
            """Tell the language of a file with one of the suffixes that nobody named."""

        def decode(self, data: bytes) -> Source | DecodeError:
            """Read the bytes of a file as text."""

        @property
        def sample(self) -> Sample | None:
            """A text for a server to try its answers on before somebody waits for them."""

        @property
        def training(self) -> Training | None:
            """How what its texts describe is trained; None where nothing is."""

        @property
        def experiments(self) -> Experiments | None:
            """What its texts are together; None where each stands for itself."""

        @property
        def configurations(self) -> Configurations | None:
            """What its configurations evaluate to; None where there are none."""

        @property
        def migrations(self) -> Migrations | None:
            """How outdated texts of it are carried over; None where none are."""

    class Training(Protocol):
        """How a text becomes what the engine trains, and trained values a text."""

        def build_graph(self, specification: str, known: Mapping[str, Any]) -> Graph:
            """Return the engine's graph; GraphError, a sentence, where there can be none."""

        def with_values(
            self, specification: bytes, context: Context, values: Mapping[str, Sequence[str]]
        ) -> bytes:
            """Return a text with numbers, in decimals, as the initial values of its parameters."""

    class Experiments(Protocol):
        """What texts are that belong together: runs of a program over several files."""

        @property
        def starts(self) -> tuple[str, ...]:
            """The suffixes of files that a run may begin with; such may be layered (`A+B`)."""

        @property
        def scripts(self) -> tuple[str, ...]:
            """The suffixes of files that tell of runs and are in no language of the family."""

        def inspect(self, asked: Inspection) -> list[Outcome]:
            """Check and repair files: an outcome for each, and one for each made of `job_for`."""

        def describe(self, argument: str, asked: Question) -> Answer:
            """Describe the network that an argument means: the answer's `document`."""

        def compare(self, before: str, after: str, asked: Question) -> Answer:
            """Compare the networks that two arguments mean: the answer's `comparison`."""

        def files(self, texts: Mapping[str, bytes], roots: Roots) -> Folders:
            """Return the files of the disk, some with other texts, by their real paths."""

        def declared(self, settings: Settings, files: Files) -> Sequence[PlacedRun]:
            """Return the runs that settings declare."""

        def scripted(
            self,
            folder: str,
            excludes: Callable[[str], bool],
            defines: frozenset[str],
            files: Files,
            roots: Roots,
            tell: Callable[[str, str], object],
        ) -> Sequence[PlacedRun]:
            """Return the runs that scripts below a folder start; OSError where it is not read.

            `tell` is told of each script, by path and sentence, of which nothing is looked at.
            """

        def supposed(self, path: str, defines: frozenset[str], files: Files) -> PlacedRun:
            """Return the run that is supposed of a file that begins one, by its absolute path."""

    class PlacedRun(Protocol):
        """A run with absolute folders, and the real paths of the files that it begins with."""

        @property
        def run(self) -> Run:
            """The run."""

        @property
        def defines(self) -> frozenset[str]:
            """Names of variables that somebody else defines."""

        @property
        def configurations(self) -> Sequence[str]:
            """The real paths of the files that it begins with, as far as they are there."""

        @property
        def missing(self) -> Sequence[str]:
            """Those that are not there, as they are named."""

        @property
        def outside(self) -> Sequence[str]:
            """Those that lie where nothing is looked at, as they are named."""

        def files(self, files: Files) -> frozenset[str]:
            """Return the real paths of all files that it names."""

    class Configurations(Protocol):
        """What configurations evaluate to."""

        def resolve(self, asked: Lookup) -> Answer:
            """Return what the items say."""

        def listed(
            self, folder: str, excludes: Callable[[str], bool], directory: str, roots: Roots
        ) -> Answer:
            """Return the experiments below a folder."""

    class Migrations(Protocol):
        """Carries outdated texts over."""

        def plan(self, asked: Wanted) -> Migration:
            """Work out what becomes of texts; writes nothing."""

    class Migration(Protocol):
        """What becomes of texts: `problems` are sentences on why nothing can be worked out."""

        @property
        def problems(self) -> Sequence[str]:
            """Sentences on what is missing; then there is nothing more."""

        @property
        def units(self) -> Sequence[MigrationUnit]:
            """What is written wholly or not at all."""

        def data(self, written: Sequence[str]) -> dict[str, Any]:
            """Return the report as the JSON of `netsharp migrate`."""

        def text(self, written: Sequence[str]) -> Iterator[str]:
            """Return the report in lines."""

    class MigrationUnit(Protocol):
        """Files that are migrated together."""

        @property
        def fails(self) -> bool:
            """Whether something differs, or cannot be done without a person."""

        @property
        def needs_person(self) -> bool:
            """Whether something is left to a person."""

        def differences(self) -> Iterator[tuple[str, bytes, bytes]]:
            """Yield each file with its text before and after, UTF-8."""

        def changed(self) -> dict[str, bytes]:
            """Return the bytes of files that change."""

        def ordered(self, files: Iterable[str]) -> list[str]:
            """Return files in the order in which to write them."""

    class Item(Protocol):
        """A file that is meant."""

        @property
        def name(self) -> str:
            """What people call it."""

        @property
        def path(self) -> str | None:
            """Its absolute path, None for stdin."""

        @property
        def language(self) -> str:
            """The id of its language."""

        @property
        def directory(self) -> str:
            """The absolute folder whose settings hold for it."""

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
            """Whether fixes are to be applied, be it only to show them."""

    class DoEach(Protocol):
        """Does one thing to many, in several processes where that pays."""

        def __call__(self, work: Callable[[Work], Done], jobs: Sequence[Work], /) -> Iterable[Done]:
            """Yield `work(job)` for each job, in order; both must be picklable."""


_NONE: Mapping[str, Any] = {}


class TextFamily:
    """A family of texts: each stands for itself, is UTF-8, and is known by its suffix alone."""

    looks_inside = False
    largest: Limit | None = None
    sample: Sample | None = None
    training: Training | None = None
    experiments: Experiments | None = None
    configurations: Configurations | None = None
    migrations: Migrations | None = None

    def __init__(
        self,
        family_id: str,
        title: str,
        suffixes: Mapping[str, str],
        languages: Mapping[str, Language],
    ) -> None:
        self.id = family_id
        self.title = title
        self.suffixes = suffixes
        self.languages = languages

    def recognise(self, name: str, data: bytes) -> str | Foreign:
        """Tell the language of a file by its name."""
        return self.suffixes[os.path.splitext(name)[1].lower()]

    def decode(self, data: bytes) -> Source | DecodeError:
        """Read UTF-8, or UTF-16 with a mark."""
        return decode(data)


class ReadError:
    """A file that cannot be read, as a sentence that names it."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


class Outcome:
    """What one file gave: `source` as read, `text` after fixes, what is left to say of it.

    `repaired` tells that fixes were tried. `source` is None for a file that could not be read
    or is binary; `problems` are sentences on what could not be done, `warnings` on what was done
    all the same; `others` are the lines of other files that diagnostics point at, by name.
    """

    __slots__ = (
        "applied",
        "diagnostics",
        "item",
        "others",
        "problems",
        "repaired",
        "source",
        "text",
        "warnings",
    )

    def __init__(self, item: Item) -> None:
        self.item = item
        self.source: Source | None = None
        self.text = b""
        self.diagnostics: Sequence[Diagnostic] = ()
        self.applied: Mapping[str, int] = _NONE
        self.repaired = False
        self.problems: tuple[str, ...] = ()
        self.warnings: tuple[str, ...] = ()
        self.others: Mapping[str, LineIndex] = _NONE

    @property
    def changed(self) -> bool:
        """Whether fixes changed the text."""
        return self.source is not None and self.source.text != self.text


class Inspection:
    """What a command line wants checked of one family.

    `folders` are those that it names, `layers` its arguments ``A+B``, `assignments` what comes
    behind every run; `unsafe`: all fixes are wanted, not only the safe ones.  `read` reads a file
    and `job_for` makes a job of one that nobody named, which is read besides, by its name, path and
    language.
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


class Question:
    """What a command asks of runs: with which settings, which `command` of them is meant, what
    stands in place of a `library`, with which `log` to compare.

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
    """What a command asks of configurations: `items` in order, seen from a `folder`.

    One value is wanted (`path`, `exact`: without climbing), what holds for one `command`, or all
    as one file (`flat`); `stdin` reads what `-` means, which is called `stdin_name`; `roots_for`
    tells the roots around names.
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
        "stdin",
        "stdin_name",
    )

    def __init__(
        self,
        items: Sequence[str],
        folder: str,
        roots_for: Callable[[Iterable[str]], Roots],
        stdin: Callable[[], bytes],
        stdin_name: str,
    ) -> None:
        self.items = items
        self.folder = folder
        self.roots_for = roots_for
        self.stdin = stdin
        self.stdin_name = stdin_name
        self.path: str | None = None
        self.exact = False
        self.command: str | None = None
        self.flat = False
        self.json = False


class Wanted:
    """What a command line names for a migration: languages of files by their real paths, folders,
    and layers; `force` replaces files that are there and different.
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


class Answer:
    """What a family has to say to a command.

    Each of `reports` is shown and `complaints` are told on stderr, in this order; then a `document`
    (a JSON value), `lines` for people, the bytes of a `text` or a `comparison` follow, whichever
    there is; `code` is the exit code.
    """

    __slots__ = ("code", "comparison", "complaints", "document", "lines", "reports", "text")

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


def layers_of(argument: str, starts: Sequence[str]) -> list[str]:
    """Return the files that an argument ``A+B`` means; none where it means one file.

    `starts` are the suffixes of files that can be layered.
    """
    if "+" not in argument or os.path.exists(argument):
        return []
    parts = [part for part in argument.split("+") if part]
    suffixes = {os.path.splitext(part)[1].lower() for part in parts}
    return [] if suffixes.isdisjoint(starts) else parts


def relevant(runs: Iterable[PlacedRun], wanted: frozenset[str], files: Files) -> list[PlacedRun]:
    """Return the runs that name one of the wanted files, by their real paths, each once."""
    found: dict[tuple[object, ...], PlacedRun] = {}
    for one in runs:
        if not wanted.isdisjoint(one.configurations) or not wanted.isdisjoint(one.files(files)):
            found.setdefault(one.run.key, one)
    return list(found.values())
