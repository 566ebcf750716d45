"""Checks one file after another, or many in several processes; decides nothing about exit codes.

A job holds all that a file's check needs, so that another process can do it.
"""

from __future__ import annotations

import os

from netsharp_lsp.cli.arguments.context import contexts_around
from netsharp_lsp.cli.inputs.files import read_source
from netsharp_lsp.cli.inputs.workers import do_each
from netsharp_lsp.diagnostics.selection import Selection, split_codes
from netsharp_lsp.examining import examine
from netsharp_lsp.language import language_by_id
from netsharp_lsp.memory import uncollected
from netsharp_lsp.outcome import Outcome, ReadError
from netsharp_lsp.text.decode import Source
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from netsharp_lsp.cli.inputs.embedded import ReadHost
    from netsharp_lsp.cli.inputs.files import Input
    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.settings import Settings


#: Placeholder for the text of a file that was read and has no findings left to report.
_READ = Source(b"")


class Job:
    """One file to check with the settings and arguments that hold for it.

    `named`: the arguments mean it, and do not only speak of what it belongs to.
    """

    __slots__ = ("args", "item", "named", "roots", "settings")

    def __init__(
        self,
        item: Input,
        settings: Settings,
        args: argparse.Namespace,
        roots: Roots,
        named: bool = True,
    ) -> None:
        self.item = item
        self.roots = roots
        self.named = named
        self.settings = settings
        self.args = args

    @property
    def repairs(self) -> bool:
        """Return whether fixes are to be applied, be it only to show them."""
        return self.named and bool(self.args.fix or self.args.unsafe_fixes or self.args.diff)

    @property
    def selection(self) -> Selection:
        """Return the rules selected by settings and flags, less those that patterns ignore."""
        settings, args = self.settings, self.args
        selection = Selection(settings.select, settings.ignore)
        selection = selection.then(split_codes(args.select), split_codes(args.ignore))
        return selection.then((), settings.ignores_for(_place(self.item)))


def inspect_all(jobs: Sequence[Job]) -> list[Outcome]:
    """Check every file, in order."""
    outcomes = []
    for job, outcome in zip(jobs, do_each(inspect, jobs), strict=True):
        outcome.item = job.item  # It is a copy from another process.
        outcomes.append(outcome)
    return outcomes


def inspect(job: Job) -> Outcome:
    """Read, check and where asked repair one file."""
    return uncollected(lambda: _inspect(job))


def _inspect(job: Job) -> Outcome:
    outcome = Outcome(job.item)
    source = read_source(job.item)
    if isinstance(source, ReadError):
        outcome.problems += (source.message,)
        return outcome
    if source is None:
        return outcome
    if source.warning is not None:
        outcome.warnings += (f"{job.item.name}: {source.warning}",)
    outcome.source, outcome.text = source, source.text
    host: ReadHost | None = None
    if job.item.host is not None:
        host = _read_host(job, outcome)
        if host is None:
            return outcome
    given, around, problems = contexts_around(
        _place(job.item), job.args, job.settings.context, job.roots
    )
    outcome.problems += tuple(problems)
    check = _checker(job, given, around, (source.text, host))
    if not job.repairs:
        outcome.diagnostics = check(source.text)
        _forget_text(outcome)
        return outcome
    from netsharp_lsp.diagnostics.fixes import fix_all

    fixed = fix_all(source.text, check, unsafe=job.args.unsafe_fixes)
    outcome.repaired = True
    outcome.text = fixed.text
    outcome.diagnostics = fixed.diagnostics
    outcome.applied = fixed.applied
    return outcome


def _forget_text(outcome: Outcome) -> None:
    """Keep nothing of a file of which nothing is said but that it was read: there are many."""
    if not (outcome.diagnostics or outcome.repaired or outcome.source is None):
        outcome.source, outcome.text, outcome.diagnostics = _READ, _READ.text, ()


def _checker(
    job: Job, given: Context, around: Context, known: tuple[bytes, ReadHost | None]
) -> Callable[[bytes], list[Diagnostic]]:
    """Return the function that checks a text: a specification, or those inside a host.

    `known`: a host that has been read already.
    """
    selection = job.selection
    if job.item.host is not None:
        from netsharp_lsp.cli.inputs.embedded import ReadHost, examine_host

        def check_host(text: bytes) -> list[Diagnostic]:
            host = known[1] if text == known[0] else None
            host = ReadHost(job.item, text) if host is None else host
            return examine_host(host, (given, around), selection)

        return check_host
    language = language_by_id(job.item.language)
    context = given.or_else(around)
    return lambda text: examine(language, LineIndex(text), context, selection)


def _read_host(job: Job, outcome: Outcome) -> ReadHost | None:
    """Return a host that contains the subject; print where a named one does not."""
    from netsharp_lsp.cli.inputs.embedded import ReadHost, why_none

    host = ReadHost(job.item, outcome.text)
    is_refused, sentence = why_none(job.item, outcome.text, host)
    if is_refused:
        outcome.problems += (sentence,)
    elif sentence and not job.args.embedded:
        outcome.warnings += (sentence,)
    return None if sentence else host


def _place(item: Input) -> str:
    """Return the absolute path of a file, for stdin the one that its name would have."""
    return item.path if item.path is not None else os.path.abspath(item.name)
