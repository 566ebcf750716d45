"""The result of a file, as all commands report it; knows no language and no terminal."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Protocol

    from netsharp_engine.cntk.samples.given import Wants
    from netsharp_engine.cntk.samples.text_format import Sequences
    from netsharp_engine.program import Backend, Job
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.text.decode import Source
    from netsharp_lsp.text.lines import LineIndex

    class Item(Protocol):
        """A file that is meant."""

        @property
        def name(self) -> str:
            """Return the name to show."""

        @property
        def path(self) -> str | None:
            """Return its absolute path, None for stdin."""

        @property
        def language(self) -> str:
            """The id of its language."""

        @property
        def directory(self) -> str:
            """The absolute folder whose settings hold for it."""


_NONE: Mapping[str, Any] = {}


class WrittenNetwork:
    """A network that was written back as text: `text`, and `files` of numbers that it names, by
    their names within their folder.

    `nodes` is how many there are, `renamed` leads from the names of those that have another one in
    the text to that, and `notes` are sentences about what the text does not carry.
    """

    __slots__ = ("files", "nodes", "notes", "renamed", "text")

    def __init__(
        self,
        text: bytes,
        files: Mapping[str, bytes],
        nodes: int,
        renamed: Mapping[str, str],
        notes: Sequence[str] = (),
    ) -> None:
        self.text = text
        self.files = files
        self.nodes = nodes
        self.renamed = renamed
        self.notes = notes


class ReadSamples:
    """Samples that a reader of a run brings: `read` reads them for what a network wants, given the
    `path` of their first file; `streams` are their names.
    """

    __slots__ = ("path", "read", "streams")

    def __init__(
        self, path: str, streams: frozenset[str], read: Callable[[str, Wants], Sequences]
    ) -> None:
        self.path = path
        self.streams = streams
        self.read = read


class TrainedOn:
    """The data of a model's training: the samples that a `command` `learned` it from, and those
    `held_back`, which are of the kind `what` ("validation", "test").

    `classes` are the names of the answers, in order, and `run` is the name of the run.
    """

    __slots__ = ("classes", "command", "held_back", "learned", "run", "what")

    def __init__(
        self,
        command: str,
        learned: ReadSamples,
        held_back: ReadSamples | None,
        what: str,
        classes: Sequence[str],
    ) -> None:
        self.command = command
        self.learned = learned
        self.held_back = held_back
        self.what = what
        self.classes = classes
        self.run = ""


class PlannedTraining:
    """A training command before it runs: its name, and its `job` for a device, which `processor`
    computes where none is named.

    `settings` is a text that differs for other settings; `samples` returns one that differs for
    other data, which it reads.
    """

    __slots__ = ("command", "job", "processor", "samples", "settings")

    def __init__(
        self,
        command: str,
        job: Job,
        processor: Backend,
        settings: str,
        samples: Callable[[], str],
    ) -> None:
        self.command = command
        self.processor = processor
        self.job = job
        self.settings = settings
        self.samples = samples


class ReadError:
    """A file that cannot be read, as a sentence that names it."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


class Outcome:
    """The result of one file: `source` as read, `text` after fixes, the remaining findings.

    `repaired` says that fixes were tried. `source` is None for a file that could not be read
    or is binary; `problems` are sentences on what could not be done, `warnings` on what was done
    all the same; `others` are the lines of other files that diagnostics point at, by name;
    `releases` are those of the program by which the file was checked, for reports. `lines`
    are those that diagnostics mean of a file of data, which is not kept as a text.
    """

    __slots__ = (
        "applied",
        "diagnostics",
        "item",
        "lines",
        "others",
        "problems",
        "releases",
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
        self.releases: Sequence[Mapping[str, str]] = ()
        self.lines: LineIndex | None = None

    @property
    def changed(self) -> bool:
        """Return whether fixes changed the text."""
        return self.source is not None and self.source.text != self.text


def layers_of(argument: str, starts: Sequence[str]) -> list[str]:
    """Return the files that an argument ``A+B`` means; none where it means one file.

    `starts` are the suffixes of files that can be layered.
    """
    if "+" not in argument or os.path.exists(argument):
        return []
    parts = [part for part in argument.split("+") if part]
    suffixes = {os.path.splitext(part)[1].lower() for part in parts}
    return [] if suffixes.isdisjoint(starts) else parts
