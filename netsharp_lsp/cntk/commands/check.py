"""Checks runs of CNTK; knows nothing of arguments and reports.

A job contains all that a run's check needs, so that another process can do it.
"""

from __future__ import annotations

import sys

from netsharp_lsp.cntk.checking.analysis import analysed
from netsharp_lsp.cntk.commands.runs import OverDiskOfAMoment
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.cntk.run.references import files_of
from netsharp_lsp.memory import uncollected
from netsharp_lsp.workspace import NO_PREMISES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from netsharp_lsp.cntk.commands.data import BadLines
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.questions import DoEach
    from netsharp_lsp.workspace import Premises, Run


_NOTHING: Mapping[str, list[Diagnostic]] = {}
_NO_DATA: Mapping[str, BadLines] = {}


class RunJob:
    """One run to check, or (`run` is None) a file of a network in no run, by its path and language.

    `texts` are those that differ from the disk's, by canonical path; `reads_data`: the data of its
    commands are read to their end.
    """

    __slots__ = ("alone", "given", "reads_data", "roots", "run", "texts")

    def __init__(
        self,
        run: Run | None,
        texts: Mapping[str, bytes],
        roots: Roots,
        given: Premises = NO_PREMISES,
        alone: tuple[str, str] = ("", ""),
        reads_data: bool = False,
    ) -> None:
        self.run = run
        self.texts = texts
        self.roots = roots
        self.given = given
        self.alone = alone
        self.reads_data = reads_data


class RunOutcome:
    """The result of one run: diagnostics by canonical path, the canonical paths of the files it
    uses and of those `beside` it that determine it, and the release of CNTK that it is for; `data`
    are the faults of data files, by theirs.
    """

    __slots__ = ("beside", "data", "diagnostics", "files", "release")

    def __init__(
        self,
        diagnostics: Mapping[str, list[Diagnostic]],
        files: Collection[str],
        release: Mapping[str, str],
        data: Mapping[str, BadLines] = _NO_DATA,
        beside: Collection[str] = (),
    ) -> None:
        self.data = data
        self.diagnostics = diagnostics
        self.files = files
        self.release = release
        self.beside = beside

    def share(self) -> None:
        """Share equal values: there are many runs, and most have the same files."""
        self.diagnostics = self.diagnostics or _NOTHING
        self.files = tuple(map(sys.intern, self.files))


def check_runs(jobs: Sequence[RunJob], do_each: DoEach) -> list[RunOutcome]:
    """Check every run, in order; `do_each` distributes them."""
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
    files = OverDiskOfAMoment(job.texts, job.roots)
    if job.run is None:
        single = SingleFile(*job.alone, files, given=job.given)
        analysis = analysed(single)
        return RunOutcome(analysis.diagnostics, frozenset(analysis.texts), single.version.as_json)
    experiment = Experiment(job.run, files, given=job.given).among(files)
    analysis = analysed(experiment)
    diagnostics = analysis.diagnostics
    data = _read_data(experiment, diagnostics) if job.reads_data else _NO_DATA
    if COMMAND_LINE in diagnostics:
        # Every run has a command line of its own, so its messages have the run's name.
        diagnostics[COMMAND_LINE + "\n".join(job.run.items)] = diagnostics.pop(COMMAND_LINE)
    used = frozenset(analysis.texts) | files_of(experiment)
    return RunOutcome(diagnostics, used, experiment.version.as_json, data, experiment.read_beside)


def _read_data(
    experiment: Experiment, diagnostics: dict[str, list[Diagnostic]]
) -> Mapping[str, BadLines]:
    """Read the data of a run; findings in its own texts are added to their diagnostics."""
    from netsharp_lsp.cntk.commands.data import read_data

    read = read_data(experiment)
    for source, found in read.findings.items():
        is_file = source != COMMAND_LINE
        name = experiment.files.locate(source) if is_file else source
        diagnostics.setdefault(name, []).extend(found)
    return read.files
