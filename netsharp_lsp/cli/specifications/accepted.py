"""The baseline file on disk: which of today's findings it has, and writing it."""

from __future__ import annotations

import os

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.cli.arguments.settings import UsageError
from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.diagnostics.baseline import Baseline, write_baseline
from netsharp_lsp.project.baselines import load_baseline, name_in_baseline
from netsharp_lsp.project.writing import write_over
from netsharp_lsp.workspace import outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from netsharp_lsp.cli.specifications.inspection import Job
    from netsharp_lsp.diagnostics.reports import FileFindings
    from netsharp_lsp.outcome import Outcome
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.settings import Settings


class Accepted:
    """The baselines that hold for some files; each is read once."""

    __slots__ = ("_baselines", "_before", "_update")

    def __init__(self, update: bool) -> None:
        self._update = update
        self._baselines: dict[str, Baseline] = {}
        self._before: dict[str, bytes | None] = {}

    def sift(self, path: str, found: FileFindings, place: str) -> None:
        """Leave of a file's findings those that the baseline does not know.

        When the baseline is to be updated it learns them all and none is left.
        """
        baseline = self._read(path)
        name = name_in_baseline(path, place)
        if self._update:
            baseline.record(name, found.lines, found.diagnostics)
        found.diagnostics = baseline.new(name, found.lines, found.diagnostics)

    def write(self) -> None:
        """Write the baselines that were updated; UsageError where that fails."""
        for path, baseline in self._baselines.items():
            try:
                write_over(path, write_baseline(baseline).encode("utf-8"), self._before[path])
            except OSError as error:
                raise UsageError(
                    f"{path}: the baseline cannot be written: {error.strerror}."
                ) from None

    def _read(self, path: str) -> Baseline:
        if path not in self._baselines:
            if self._update:
                self._before[path] = _bytes(path)
            self._baselines[path] = self._load(path)
        return self._baselines[path]

    def _load(self, path: str) -> Baseline:
        if self._update and not os.path.exists(path):
            return Baseline()
        found = load_baseline(path)
        if isinstance(found, str):
            raise UsageError(found)
        return found


def _bytes(path: str) -> bytes | None:
    """Return the bytes of a file; None where it is missing or cannot be read."""
    try:
        with open_plain(path) as stream:
            return stream.read()
    except OSError:
        return None


def baseline_path(args: argparse.Namespace, settings: Settings, roots: Roots) -> str | None:
    """Return the absolute path of the baseline for a file, the flag's before the settings'.

    One that settings name outside is none; UsageError where it would have to be written.
    """
    given: str | None = args.baseline
    if given is not None:
        return os.path.abspath(given)
    if settings.baseline is None:
        return None
    named = os.path.abspath(os.path.join(settings.directory, settings.baseline))
    place = roots.named_by(settings.file, named)
    if place is None and args.update_baseline:
        raise UsageError(f"{settings.file}: the baseline {outside(settings.baseline)}")
    return place


def report_outside(jobs: Sequence[Job], args: argparse.Namespace) -> None:
    """Say of each settings file whose baseline lies outside that nothing is known of it."""
    for settings in {id(job.settings): job.settings for job in jobs}.values():
        if settings.baseline is not None and args.baseline is None:
            named = os.path.abspath(os.path.join(settings.directory, settings.baseline))
            if jobs[0].roots.named_by(settings.file, named) is None:
                complain(f"{settings.file}: the baseline {outside(settings.baseline)}")


def sift_all(
    jobs: Sequence[Job],
    outcomes: Sequence[Outcome],
    findings: Sequence[FileFindings],
    args: argparse.Namespace,
    roots: Roots,
) -> None:
    """Take out of the findings what baselines know, or let them know all of it."""
    accepted = Accepted(args.update_baseline)
    report_outside(jobs, args)
    for job, outcome, found in zip(jobs, outcomes, findings, strict=True):
        path = baseline_path(args, job.settings, roots)
        if path is not None and outcome.source is not None:
            accepted.sift(path, found, os.path.abspath(job.item.name))
    if args.update_baseline:
        accepted.write()
