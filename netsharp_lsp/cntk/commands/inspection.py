"""Checks and repairs the files of CNTK that a command names: their runs are analysed, and the
results assigned to the files that they are about.

Decides nothing about exit codes and knows no rule.
"""

from __future__ import annotations

import os
import sys

from netsharp_lsp.cntk.checking.analysis import merged
from netsharp_lsp.cntk.checking.comments import comments_of
from netsharp_lsp.cntk.commands.check import RunJob, check_runs
from netsharp_lsp.cntk.commands.plan import Named, given_for, planned
from netsharp_lsp.cntk.commands.runs import OverDisk
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE, read_text
from netsharp_lsp.cntk.languages import BY_ID
from netsharp_lsp.cntk.library import PREFIX, library_text
from netsharp_lsp.cntk.suffixes import SUFFIXES
from netsharp_lsp.diagnostics.model import Diagnostic, Related, Result
from netsharp_lsp.diagnostics.suppression import MARK
from netsharp_lsp.examining import sift
from netsharp_lsp.outcome import Outcome, ReadError
from netsharp_lsp.project.folders import excluder
from netsharp_lsp.text.decode import Source, decode_legacy
from netsharp_lsp.text.lines import LineIndex
from netsharp_lsp.text.visible import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from netsharp_lsp.cntk.commands.check import RunOutcome
    from netsharp_lsp.outcome import Item
    from netsharp_lsp.questions import Inspection, Job, PlacedRun

    Read = Callable[[Item], bytes | ReadError]

#: Placeholder for a text that is on the disk.
_READ = Source(b"")


def inspect_experiments(request: Inspection) -> list[Outcome]:
    """Check the files of the jobs, followed by other files that their configurations read."""
    inspection = _Inspection(request)
    inspection.check()
    if any(job.repairs for job in request.jobs):
        inspection.repair(unsafe=request.unsafe)
    inspection.finish()
    return inspection.outcomes


class _File:
    """A file of the check: its job and outcome, and what remains to report after fixing.

    The text of a file on disk is kept where comments in it or fixes matter, and read again where it
    has a finding: most files have none.
    """

    __slots__ = ("job", "kept", "left", "outcome")

    def __init__(self, job: Job, outcome: Outcome) -> None:
        self.job = job
        self.outcome = outcome
        self.left: Sequence[Diagnostic] | None = None
        self.kept = job.repairs or job.item.path is None or MARK in outcome.text
        if not self.kept:
            outcome.source, outcome.text = _READ, _READ.text

    def text(self, read: Read) -> bytes:
        """Return the current text."""
        if not self.kept:
            again = _read(self.job.item, read)
            self.kept = True
            self.outcome.problems += again.problems
            self.outcome.source, self.outcome.text = again.source, again.text
        return self.outcome.text

    def sifted(self, diagnostics: list[Diagnostic]) -> list[Diagnostic]:
        """Return the findings that apply to the current text."""
        text = self.outcome.text
        language = BY_ID[self.job.item.language]
        result = Result(diagnostics, comments_of(language.id, text))
        return sift(language, LineIndex(text), result, self.job.selection)


class _Inspection:
    """The files of one command line, by canonical path, and the runs that use them."""

    def __init__(self, request: Inspection) -> None:
        self.request = request
        self.roots = request.roots
        self.outcomes = [_read(job.item, request.read) for job in request.jobs]
        self.files: dict[str, _File] = {}
        for job, outcome in zip(request.jobs, self.outcomes, strict=True):
            if outcome.source is not None:
                self.files[_real(job.item)] = _File(job, outcome)
        self.runs: list[PlacedRun] = []
        self.work: list[RunJob] = []
        self.checked: list[RunOutcome] = []

    def check(self) -> None:
        """Analyse every run, and then the files that none of them uses."""
        languages = {path: file.job.item.language for path, file in self.files.items()}
        texts = self._texts()
        named = Named(languages, self.request.folders, self.request.layers)
        plan = planned(named, self.request.find, OverDisk(texts, self.roots), self.roots)
        self.runs = plan.runs
        if self.outcomes:
            self.outcomes[0].problems += tuple(plan.problems)
            self.outcomes[0].warnings += tuple(plan.notices)
        assignments = self.request.assignments
        self.work = [
            RunJob(
                one.run.assigning(assignments),
                texts,
                self.roots,
                one.given,
                reads_data=self.request.reads_data,
            )
            for one in plan.runs
        ]
        self.checked = check_runs(self.work, self.request.do_each)
        used = {path for one in self.checked for path in one.files}
        find = self.request.find
        rest = [
            RunJob(
                None, texts, self.roots, given_for(os.path.dirname(path), find), (path, language)
            )
            for path, language in languages.items()
            if language != "cntk" and path not in used
        ]
        self.work += rest
        self.checked += check_runs(rest, self.request.do_each)

    def repair(self, *, unsafe: bool) -> None:
        """Apply fixes and check what they change again, until none is left or they repeat."""
        from netsharp_lsp.diagnostics.fixes import fix_texts

        texts = {path: file.outcome.text for path, file in self.files.items() if file.kept}
        for path, fixed in fix_texts(texts, self._checked_with, unsafe).items():
            outcome = self.files[path].outcome
            outcome.repaired = True
            outcome.applied = fixed.applied
            self.files[path].left = fixed.diagnostics
            texts[path] = fixed.text
        self._recheck_with(texts)

    def _checked_with(self, texts: Mapping[str, bytes]) -> dict[str, list[Diagnostic]]:
        """Return the findings of files with other texts than they had."""
        self._recheck_with(texts)
        by_file = self._findings_by_file()
        return {path: self.files[path].sifted(merged(by_file.get(path, ()))) for path in texts}

    def _recheck_with(self, texts: Mapping[str, bytes]) -> None:
        """Give files other texts, and check the runs again that use one of those."""
        changed = {path for path, text in texts.items() if text != self.files[path].outcome.text}
        if not changed:
            return
        for path in changed:
            self.files[path].outcome.text = texts[path]
        new = self._texts()
        again = [
            number
            for number, one in enumerate(self.checked)
            if not changed.isdisjoint((*one.files, *one.beside))
        ]
        for number in again:
            self.work[number].texts = new
        work = [self.work[number] for number in again]
        for number, outcome in zip(again, check_runs(work, self.request.do_each), strict=True):
            self.checked[number] = outcome

    def finish(self) -> None:
        """Assign findings to every file, including files that were not named."""
        for path in self._others():
            self._add(path)
        by_file = self._findings_by_file()
        releases = self._releases_by_file()
        for path, file in self.files.items():
            outcome = file.outcome
            outcome.releases = releases.get(path, ())
            merged_findings = merged(by_file.get(path, ()))
            if not merged_findings and not file.kept:
                continue
            file.text(self.request.read)
            found: Sequence[Diagnostic] = ()
            if outcome.source is not None:
                found = file.sifted(merged_findings) if file.left is None else file.left
            shown = (self._shown(one, outcome) for one in found)
            outcome.diagnostics = list(shown)
        if self.request.reads_data:
            self._add_data()

    def _add_data(self) -> None:
        """Report the faults of data files."""
        from netsharp_lsp.cntk.commands.data import joined

        for path, bad in sorted(joined(one.data for one in self.checked).items()):
            job = self.request.job_for(_shown_name(path), path, "cntk")
            outcome = Outcome(job.item)
            outcome.source = _READ
            outcome.lines, found = bad.findings(path)
            outcome.diagnostics = job.selection.filter(found)
            if bad.unlisted:
                more = f"{job.item.name}: {bad.unlisted:,} more findings are not listed."
                outcome.warnings += (more,)
            self.outcomes.append(outcome)

    def _texts(self) -> dict[str, bytes]:
        """Return the texts that differ from the disk."""
        return {
            path: file.outcome.text
            for path, file in self.files.items()
            if file.job.item.path is None or file.outcome.changed
        }

    def _findings_by_file(self) -> dict[str, list[list[Diagnostic]]]:
        """Return each run's findings by file, by canonical path."""
        by_file: dict[str, list[list[Diagnostic]]] = {}
        for one in self.checked:
            for path, diagnostics in one.diagnostics.items():
                by_file.setdefault(path, []).append(diagnostics)
        return by_file

    def _releases_by_file(self) -> dict[str, list[Mapping[str, str]]]:
        """Return the releases that the runs of each file are for, each once, by canonical path."""
        releases: dict[str, list[Mapping[str, str]]] = {}
        for one in self.checked:
            for path in one.files:
                known = releases.setdefault(path, [])
                if one.release not in known:
                    known.append(one.release)
        return releases

    def _others(self) -> list[str]:
        """Return the files, by canonical path, that were not named and in which runs of named
        configurations have findings.
        """
        excludes = excluder(self.request.find)
        return [
            path
            for run, outcome in zip(self.runs, self.checked, strict=False)
            if not self.files.keys().isdisjoint(run.configurations)
            for path in outcome.diagnostics
            if path not in self.files and not path.startswith(PREFIX) and not excludes(path)
        ]

    def _add(self, path: str) -> None:
        """Add a file that was not named, or the command line of a run."""
        if path in self.files:
            return
        language = SUFFIXES.get(os.path.splitext(path)[1].lower(), "cntk")
        place = None if path.startswith(COMMAND_LINE) else path
        job = self.request.job_for(self._name_of(path), place, language)
        outcome = Outcome(job.item)
        outcome.source = Source(self._text_of(path))
        outcome.text = outcome.source.text
        self.outcomes.append(outcome)
        self.files[path] = _File(job, outcome)

    def _name_of(self, path: str) -> str:
        """Return the name of a file for users."""
        known = self.files.get(path)
        if known is not None:
            return known.job.item.name
        if path.startswith(COMMAND_LINE):
            return COMMAND_LINE
        return path if path.startswith(PREFIX) else _shown_name(path)

    def _text_of(self, path: str) -> bytes:
        """Return the text of any file, as diagnostics count its bytes."""
        known = self.files.get(path)
        if known is not None:
            return known.text(self.request.read)
        if path.startswith(COMMAND_LINE):
            return encodable(path.removeprefix(COMMAND_LINE)).encode()
        if path.startswith(PREFIX):
            return library_text(path)
        return decode_legacy(OverDisk({}, self.roots).read(path) or b"").text

    def _shown(self, one: Diagnostic, outcome: Outcome) -> Diagnostic:
        """Return a diagnostic whose places in other files have their names for users."""
        if all(related.file is None for related in one.related):
            return one
        related = []
        for it in one.related:
            name = None if it.file is None else self._name_of(it.file)
            if it.file is not None and name is not None and name not in outcome.others:
                lines = LineIndex(self._text_of(it.file))
                outcome.others = {**outcome.others, name: lines}
            related.append(Related(it.message, it.start, it.end, name))
        return Diagnostic(one.code, one.severity, one.message, one.start, one.end, related, one.fix)


def _read(item: Item, read: Read) -> Outcome:
    """Read one file; bytes that cannot be decoded are a problem."""
    outcome = Outcome(item)
    data = read(item)
    if isinstance(data, ReadError):
        outcome.problems += (data.message,)
        return outcome
    text = read_text(item.name, data)
    if isinstance(text, str):
        outcome.problems += (f"{item.name}: {text}",)
        return outcome
    outcome.source = decode_legacy(data)
    outcome.text = outcome.source.text
    return outcome


def _real(item: Item) -> str:
    return sys.intern(os.path.realpath(item.path or item.name))


def _shown_name(path: str) -> str:
    """Return a canonical path as users see it: relative, where it is below the current folder."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative
