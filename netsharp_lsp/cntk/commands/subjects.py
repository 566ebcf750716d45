"""The subjects of `describe` and `diff`: a run, or a file of a network without a configuration.

Reads disk and git; knows no rule.
"""

from __future__ import annotations

import os

from netsharp_lsp.cntk.checking.analysis import analysed
from netsharp_lsp.cntk.commands.runs import (
    OverDisk,
    PlacedRun,
    declared_runs,
    layered_run,
    supposed_run,
)
from netsharp_lsp.cntk.commands.settings import declared_in
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE, read_text
from netsharp_lsp.cntk.library import PREFIX, library_text
from netsharp_lsp.cntk.rules import about_network, reports_unknown
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.cntk.suffixes import STARTS
from netsharp_lsp.diagnostics.reports import FileFindings
from netsharp_lsp.outcome import ReadError, layers_of
from netsharp_lsp.project.disk_files import BoundFiles
from netsharp_lsp.project.revision_files import NoGitError, RevisionFiles, split_revision
from netsharp_lsp.text.decode import decode_legacy
from netsharp_lsp.text.lines import LineIndex
from netsharp_lsp.text.visible import encodable
from netsharp_lsp.workspace import no_file, outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.outcome import Item
    from netsharp_lsp.project.folders import Find
    from netsharp_lsp.questions import Question
    from netsharp_lsp.workspace import Files


class SubjectError(Exception):
    """A subject that cannot be read, as a sentence that names it."""


class ExperimentSubject:
    """An experiment to examine, by its name for users."""

    __slots__ = ("_texts", "experiment", "files", "language", "name")

    def __init__(self, name: str, language: str, experiment: Experiment, files: Files) -> None:
        self.name = name
        self.language = language
        self.experiment = experiment
        self.files = files
        self._texts: dict[str, LineIndex] = {}

    def shown(self, source: str) -> str:
        """Return the name for users of a source of the experiment."""
        if source.startswith((PREFIX, COMMAND_LINE)):
            return source
        real = self.experiment.files.locate(source)
        relative = os.path.relpath(real)
        return real if relative.startswith(os.pardir) else relative

    def lines(self, source: str) -> LineIndex:
        """Return the lines of a source; empty for a missing one."""
        if source not in self._texts:
            self._texts[source] = LineIndex(self._source_text(source))
        return self._texts[source]

    def _source_text(self, source: str) -> bytes:
        if source.startswith(PREFIX):
            return library_text(source)
        if source.startswith(COMMAND_LINE):
            return encodable("\n".join(self.experiment.run.items)).encode()
        return decode_legacy(self.experiment.files.read(source) or b"").text

    def errors(self) -> tuple[list[FileFindings], list[Diagnostic]]:
        """Return what to report first, and the errors in it.

        Files outside the roots are reported, too: the network is not completely known then.
        """
        findings = []
        all_errors: list[Diagnostic] = []
        for source, found in analysed(self.experiment).diagnostics.items():
            errors = [one for one in found if one.severity == "error"]
            all_errors += errors
            errors += [one for one in found if reports_unknown(one.code)]
            if errors:
                others = {
                    related.file: self.lines(related.file)
                    for one in errors
                    for related in one.related
                    if related.file is not None
                }
                findings.append(
                    FileFindings(self.shown(source), self.lines(source), errors, others)
                )
        return findings, all_errors


def are_in_networks(errors: Sequence[Diagnostic]) -> bool:
    """Return whether one of the errors is in a network, of which then only a part is known."""
    return any(about_network(one.code) for one in errors)


def read_experiment(argument: str, request: Question) -> ExperimentSubject:
    """Read the file that an argument names. Raises SubjectError where it cannot be read."""
    find, roots = request.find, request.roots
    revision, path = split_revision(argument)
    past = RevisionFiles(revision, path.partition("+")[0]) if revision is not None else None
    files: Files = OverDisk({}, roots) if past is None else BoundFiles(past, roots)
    if layers_of(path, STARTS):
        placed = layered_run(path, declared_in(find(os.getcwd())).given, files)
        for name, kind in placed.missing.items():
            raise SubjectError(no_file(name, kind))
        for name in placed.outside:
            raise SubjectError(outside(name))
        return _of_run(argument, placed, request, files)
    item = request.meant(path)
    real = os.path.realpath(item.path or item.name)
    data = _data(item, past, argument, request)
    if item.path is None:
        files = OverDisk({real: data}, roots)
    text = read_text(item.name, data)
    if isinstance(text, str):
        raise SubjectError(f"{argument}: {text}")
    if item.language != "cntk":
        given = declared_in(find(os.path.dirname(real))).given
        alone = SingleFile(real, item.language, files, _library(request), given)
        return ExperimentSubject(argument, item.language, alone, files)
    return _of_run(argument, _run_of(real, find, files), request, files)


def _of_run(name: str, placed: PlacedRun, request: Question, files: Files) -> ExperimentSubject:
    run = placed.run.assigning(request.assignments)
    experiment = Experiment(run, files, _library(request), placed.given)
    return ExperimentSubject(name, "cntk", experiment, files)


def _run_of(path: str, find: Find, files: Files) -> PlacedRun:
    """Return the run that settings declare for a configuration alone, else the assumed one."""
    settings = find(os.path.dirname(path))
    declared = (run for run in declared_runs(settings, files) if run.configurations == (path,))
    return next(declared, None) or supposed_run(path, declared_in(settings).given, files)


def _data(item: Item, past: RevisionFiles | None, argument: str, request: Question) -> bytes:
    if past is not None:
        try:
            return past.shown(item.path or item.name)
        except NoGitError as error:
            raise SubjectError(f"{argument}: {error}") from None
    return read(item, request)


def _library(request: Question) -> bytes | None:
    return None if request.library is None else read(request.meant(request.library), request)


def read(item: Item, request: Question) -> bytes:
    """Return the bytes of a file; SubjectError where it cannot be read."""
    data = request.read(item)
    if isinstance(data, ReadError):
        raise SubjectError(data.message)
    return data
