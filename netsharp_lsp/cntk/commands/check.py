"""Checks runs of CNTK; knows nothing of arguments and reports.

A job holds all that a run's check needs, so that another process can do it.
"""

from __future__ import annotations

import sys

from netsharp_lsp.cntk.commands.runs import OverDisk
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.judging.analysis import analysed
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.cntk.run.references import files_of
from netsharp_lsp.memory import uncollected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.questions import DoEach
    from netsharp_lsp.workspace import Run


_NOTHING: Mapping[str, list[Diagnostic]] = {}


class RunJob:
    """One run to check, or (`run` is None) a file of a network in no run, by its path and language.

    `texts` are those that differ from the disk's, by real paths.
    """

    __slots__ = ("alone", "defines", "roots", "run", "texts")

    def __init__(
        self,
        run: Run | None,
        texts: Mapping[str, bytes],
        roots: Roots,
        defines: frozenset[str] = frozenset(),
        alone: tuple[str, str] = ("", ""),
    ) -> None:
        self.run = run
        self.texts = texts
        self.roots = roots
        self.defines = defines
        self.alone = alone


class RunOutcome:
    """What one run gave: diagnostics by real path, and the real paths of the files it uses."""

    __slots__ = ("diagnostics", "files")

    def __init__(self, diagnostics: Mapping[str, list[Diagnostic]], files: Collection[str]) -> None:
        self.diagnostics = diagnostics
        self.files = files

    def share(self) -> None:
        """Take as little as there is to say: there are many runs, and most have the same files."""
        self.diagnostics = self.diagnostics or _NOTHING
        self.files = tuple(map(sys.intern, self.files))


def check_runs(jobs: Sequence[RunJob], do_each: DoEach) -> list[RunOutcome]:
    """Check every run, in order; `do_each` deals them out."""
    outcomes = []
    for outcome in do_each(check_run, jobs):
        # Another process has given copies of names that many runs share.
        outcome.share()
        outcomes.append(outcome)
    return outcomes


def check_run(job: RunJob) -> RunOutcome:
    """Check one run."""
    return uncollected(lambda: _check(job))


def _check(job: RunJob) -> RunOutcome:
    files = OverDisk(job.texts, job.roots)
    if job.run is None:
        analysis = analysed(SingleFile(*job.alone, files))
        return RunOutcome(analysis.diagnostics, frozenset(analysis.texts))
    experiment = Experiment(job.run, files, defines=job.defines)
    analysis = analysed(experiment)
    diagnostics = analysis.diagnostics
    if COMMAND_LINE in diagnostics:
        # Every run has a command line of its own: what it says goes with its name.
        diagnostics[COMMAND_LINE + "\n".join(job.run.items)] = diagnostics.pop(COMMAND_LINE)
    return RunOutcome(diagnostics, frozenset(analysis.texts) | files_of(experiment))
