"""Reads the data of all commands of a run to the end, and reports all their faults.

Trains nothing; knows no format.
"""

from __future__ import annotations

from netsharp_engine.data.errors import DataError
from netsharp_lsp.cntk.rules.experiment.data import bad_line, unread
from netsharp_lsp.cntk.rules.findings import Place
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import FilesRefused, Refused
from netsharp_lsp.cntk.training.samples.reader import reader_of
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.text.some_lines import SomeLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from netsharp_engine.cntk.samples.faults import LineFault
    from netsharp_lsp.cntk.rules.findings import Finding
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.training.refusals import SurveyedFile
    from netsharp_lsp.cntk.training.samples.reader import SampleReader

_READERS = ("reader", "cvReader")
#: Actions that read data.
_READING = frozenset(
    ("train", "trainRNN", "adapt", "test", "eval", "cv", "write", "bnstat", "pbn", "createLabelMap")
)


class BadLines:
    """The faults of a data file, each with whether it stops CNTK, and the number of omitted
    ones.
    """

    __slots__ = ("faults", "unlisted")

    def __init__(self) -> None:
        self.faults: dict[LineFault, bool] = {}
        self.unlisted = 0

    def add(self, fault: LineFault, stops: bool) -> None:
        """Add a fault; that of another reader may be the same."""
        self.faults[fault] = self.faults.get(fault, False) or stops

    def join(self, other: BadLines) -> None:
        """Add what another run reports about the same file."""
        for fault, stops in other.faults.items():
            self.add(fault, stops)
        self.unlisted = max(self.unlisted, other.unlisted)

    def findings(self, path: str) -> tuple[SomeLines, list[Diagnostic]]:
        """Return the faulty lines, and their diagnostics."""
        ordered = sorted(self.faults, key=lambda one: (one.line, one.start, one.words))
        lines = SomeLines({fault.line: fault.text for fault in ordered})
        found = []
        for fault in ordered:
            at = lines.start_of(fault.line)
            whole = fault.end <= fault.start
            span = (0, len(fault.text)) if whole else (fault.start, fault.end)
            place = Place(path, at + span[0], at + span[1])
            ends = "" if fault.words.endswith((".", "?")) else "."
            words = f"{fault.words[:1].upper()}{fault.words[1:]}{ends}"
            finding = bad_line(place, words, self.faults[fault])
            found.append(finding.diagnostic("error"))
        return lines, found


class DataRead:
    """The result of reading: bad lines by the canonical paths of files, and findings in texts of
    the run by name.
    """

    __slots__ = ("files", "findings")

    def __init__(self) -> None:
        self.files: dict[str, BadLines] = {}
        self.findings: dict[str, list[Diagnostic]] = {}


def read_data(experiment: Experiment) -> DataRead:
    """Read the data of all readers of a run."""
    read = DataRead()
    known: set[object] = set()
    seen: set[tuple[Place, str]] = set()
    for found in _readers(experiment):
        if isinstance(found, Refused):
            for message, where in found.refusals:
                _add_finding(read, unread(Place(*where), message, is_error=False), seen)
        for file in _files(found):
            if file.key in known:
                continue
            known.add(file.key)
            try:
                _survey(file, read)
            except DataError as error:
                sentence = str(error).replace(file.path, "file", 1)
                _add_finding(read, unread(Place(*file.where), sentence, is_error=True), seen)
    return read


def _files(found: SampleReader | Refused) -> Sequence[SurveyedFile]:
    """Return the files of a reader; of one that cannot be used those that can still be surveyed."""
    if isinstance(found, Refused):
        return found.files if isinstance(found, FilesRefused) else ()
    return found.file.files


def _survey(file: SurveyedFile, read: DataRead) -> None:
    """Record all faults of a file; DataError where it cannot be read."""
    survey = file.survey()
    lines = read.files.setdefault(file.path, BadLines())
    lines.unlisted += survey.unlisted
    too_many = survey.errors > file.most_errors
    for fault in survey.faults:
        lines.add(fault, fault.ends or (fault.counts and too_many))


def _readers(experiment: Experiment) -> Iterator[SampleReader | Refused]:
    """Yield the readers of all commands that read, listed or not; Refused for one that is not
    supported.
    """
    for command in experiment.commands:
        scope = command.scope
        if scope is None or _READING.isdisjoint(command.actions):
            continue
        for name in _READERS:
            found = Options(scope).found(name)
            if found is None:
                continue
            try:
                yield reader_of(found, scope, experiment.files, otherwise=False)
            except Refused as refused:
                yield refused


def _add_finding(read: DataRead, finding: Finding, seen: set[tuple[Place, str]]) -> None:
    key = (finding.place, finding.message)
    if key not in seen:
        seen.add(key)
        listed = read.findings.setdefault(finding.place.source, [])
        listed.append(finding.diagnostic("error"))


def joined(several: Iterable[Mapping[str, BadLines]]) -> dict[str, BadLines]:
    """Return the faults of data files from several runs."""
    found: dict[str, BadLines] = {}
    for one in several:
        for path, lines in one.items():
            found.setdefault(path, BadLines()).join(lines)
    return found
