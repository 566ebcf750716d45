"""`netsharp check`: say what is wrong with specifications, and repair what can be repaired.

Puts together inputs, settings, inspection, baseline and report; knows no rule.
"""

from __future__ import annotations

import gc
import os
import sys

from netsharp_lsp import __version__
from netsharp_lsp.cli.arguments.context import add_context_arguments
from netsharp_lsp.cli.arguments.experiments import add_experiment_arguments
from netsharp_lsp.cli.arguments.settings import (
    UsageError,
    add_settings_arguments,
    roots_for,
    settings_finder,
    validate_codes,
)
from netsharp_lsp.cli.console.terminal import complain, give, give_exactly, source_width, uses_color
from netsharp_lsp.cli.inputs.files import (
    EMBEDDED,
    SKIP_OTHERS,
    Input,
    Naming,
    gather,
    layered_in,
    read_bytes,
)
from netsharp_lsp.cli.inputs.workers import do_each
from netsharp_lsp.cli.specifications.inspection import Job, inspect_all
from netsharp_lsp.diagnostics.model import RANKS, SEVERITIES
from netsharp_lsp.diagnostics.reports import (
    FORMATS,
    FileFindings,
    Style,
    render,
    render_statistics,
)
from netsharp_lsp.diagnostics.selection import split_codes
from netsharp_lsp.language import families, known_codes, language_ids, title_of
from netsharp_lsp.project.folders import excluder, validate_settings
from netsharp_lsp.project.roots import not_written
from netsharp_lsp.settings import OWN_FILE, SHARED_FILE, SettingsError
from netsharp_lsp.text.decode import encode
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import TextIO

    from netsharp_lsp.cli.inputs.files import Gathered
    from netsharp_lsp.outcome import Outcome
    from netsharp_lsp.project.folders import Find
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.questions import Inspection

CLEAN, FOUND, FAILED = 0, 1, 2
DEFAULT_FAIL_ON = "warning"
_READ_DATA = "read all data files of the configurations, and report every invalid line"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp check` understands."""
    add = parser.add_argument
    add(
        "paths",
        nargs="*",
        default=["."],
        metavar="PATH",
        help="files, folders, A+B, or - for stdin",
    )
    add("--stdin-filename", metavar="NAME", help="the file name to report for stdin")
    add(
        "--language",
        choices=language_ids(),
        help="read files in this language, whatever their names",
    )
    add(
        "--verbose",
        action="store_true",
        help="list the files of folders that were left out, and why",
    )
    add("--select", action="append", default=[], metavar="CODES", help="report only these codes")
    add("--ignore", action="append", default=[], metavar="CODES", help="do not report these codes")
    add("--fail-on", choices=SEVERITIES, help="exit 1 at this severity or above (default: warning)")
    add("--format", choices=FORMATS, default="text", help="the format of the report")
    add("--output-file", metavar="FILE", help="write the report to a file")
    add("--statistics", action="store_true", help="count the diagnostics by code")
    add("--embedded", action="store_true", help=EMBEDDED)
    add("--skip-others", action="store_true", help=SKIP_OTHERS)
    add("--watch", action="store_true", help="check again whenever a file changes")
    add("--read-data", action="store_true", help=_READ_DATA)
    group = parser.add_argument_group("fixes")
    group.add_argument("--fix", action="store_true", help="apply safe fixes")
    group.add_argument("--unsafe-fixes", action="store_true", help="apply all fixes")
    group.add_argument("--diff", action="store_true", help="only show what fixes would change")
    group = parser.add_argument_group("baseline")
    group.add_argument(
        "--baseline", metavar="FILE", help="do not report the findings recorded in this file"
    )
    group.add_argument(
        "--update-baseline", action="store_true", help="record all current findings in it"
    )
    add_context_arguments(parser)
    add_experiment_arguments(parser)
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Check the files that the arguments name; 0 clean, 1 findings, 2 a failure."""
    if args.watch:
        from netsharp_lsp.cli.console.watch import watch

        if "-" in args.paths:
            complain("--watch cannot watch stdin.")
            return FAILED
        return watch(lambda: _check(args), lambda: _watched(args))
    return _check(args)


def _check(args: argparse.Namespace) -> int:
    try:
        return _check_all(args)
    except (SettingsError, UsageError) as error:
        complain(str(error))
        return FAILED


def _check_all(args: argparse.Namespace) -> int:
    roots = _roots(args)
    find = settings_finder(args, roots)
    gathered = _gathered(args, find, roots)
    jobs = _jobs(args, find, gathered, roots)
    if len(jobs) == 1 and not args.watch:
        # Nothing comes after this text that would need its memory.
        gc.disable()
    jobs, outcomes = _inspected(jobs, gathered, args, find, roots)
    failed = _print_problems(outcomes)
    if args.diff:
        return FAILED if failed else _show_differences(outcomes)
    findings = _found(jobs, outcomes, args, roots)
    if (args.fix or args.unsafe_fixes) and not _write_fixed(outcomes, roots):
        failed = True
        if all(outcome.item.path is not None for outcome in outcomes):
            jobs, outcomes, findings = _as_it_stays(gathered, args, find, roots)
    _report(
        [f for f, o in zip(findings, outcomes, strict=True) if o.source is not None], jobs, args
    )
    if failed:
        return FAILED
    return FOUND if any(map(_fails, jobs, findings)) else CLEAN


def _as_it_stays(
    gathered: Gathered, args: argparse.Namespace, find: Find, roots: Roots
) -> tuple[list[Job], list[Outcome], list[FileFindings]]:
    """Check once more without fixes, since a report on texts that were not written is wrong."""
    plain = type(args)(**{**vars(args), "fix": False, "unsafe_fixes": False})
    again = _jobs(plain, find, gathered, roots)
    jobs, outcomes = _inspected(again, gathered, plain, find, roots)
    return jobs, outcomes, _found(jobs, outcomes, plain, roots)


def _found(
    jobs: Sequence[Job], outcomes: Sequence[Outcome], args: argparse.Namespace, roots: Roots
) -> list[FileFindings]:
    """Return the findings of every file, without those recorded in a baseline."""
    nothing = LineIndex(b"")
    findings = [
        FileFindings(
            outcome.item.name,
            outcome.lines or (LineIndex(outcome.text) if outcome.text else nothing),
            outcome.diagnostics,
            outcome.others,
            outcome.releases,
            job.named,
        )
        for job, outcome in zip(jobs, outcomes, strict=True)
    ]
    if args.baseline is not None or any(job.settings.baseline is not None for job in jobs):
        from netsharp_lsp.cli.specifications.accepted import sift_all

        sift_all(jobs, outcomes, findings, args, roots)
    elif args.update_baseline:
        raise UsageError("--update-baseline needs --baseline FILE or 'baseline' in settings.")
    return findings


def _inspected(
    jobs: list[Job], gathered: Gathered, args: argparse.Namespace, find: Find, roots: Roots
) -> tuple[list[Job], list[Outcome]]:
    """Check every file; those that belong together bring others with them."""
    checked = [job for job in jobs if job.item.family.experiments is None]
    outcomes = inspect_all(checked)
    for family in families():
        joined = [job for job in jobs if job.item.family is family]
        if joined and family.experiments is not None:
            request, further = _inspection(joined, args, find, roots)
            request.layers = [one for one in gathered.layers if layered_in(one) is family]
            outcomes += family.experiments.inspect(request)
            checked += [*joined, *further]
    return checked, outcomes


def _inspection(
    jobs: Sequence[Job], args: argparse.Namespace, find: Find, roots: Roots
) -> tuple[Inspection, list[Job]]:
    """Return the inspection of files that belong together, and the jobs of those not named."""
    from netsharp_lsp.questions import Inspection

    further: list[Job] = []

    def job_for(name: str, path: str | None, language: str) -> Job:
        item = Input(name, path, language=language)
        further.append(Job(item, find(item.directory), args, roots, named=False))
        return further[-1]

    request = Inspection(jobs, read_bytes, job_for, do_each, find, roots)
    request.folders = [path for path in args.paths if os.path.isdir(path)]
    request.assignments = tuple(args.set)
    request.unsafe = args.unsafe_fixes
    request.reads_data = args.read_data
    return request, further


def _roots(args: argparse.Namespace) -> Roots:
    """Return where the files that are checked may lead."""
    named = [(args.stdin_filename or ".") if path == "-" else path for path in args.paths]
    return roots_for(named, args)


def _gathered(args: argparse.Namespace, find: Find, roots: Roots) -> Gathered:
    """Return the inputs that the arguments name; print on stderr those that are missing or, if
    asked, left out.
    """
    validate_codes((*split_codes(args.select), *split_codes(args.ignore)), known_codes)
    naming = Naming(args.stdin_filename, args.language, args.skip_others)
    gathered = gather(args.paths, excluder(find), naming, roots, args.embedded)
    for sentence in (*gathered.missing, *(gathered.skipped if args.verbose else ())):
        complain(sentence)
    return gathered


def _jobs(args: argparse.Namespace, find: Find, gathered: Gathered, roots: Roots) -> list[Job]:
    """Return the files to check, each with its settings."""
    jobs = [Job(item, find(item.directory), args, roots) for item in gathered.inputs]
    for settings in {id(job.settings): job.settings for job in jobs}.values():
        validate_settings(settings, known_codes)
    return jobs


def _watched(args: argparse.Namespace) -> list[str]:
    """Return the files whose change matters: specifications, their run files, their settings."""
    try:
        roots = _roots(args)
        find = settings_finder(args, roots)
        inputs = gather(args.paths, excluder(find), Naming(), roots, args.embedded).inputs
    except SettingsError as error:
        return [error.file]
    files = [item.path for item in inputs if item.path is not None]
    files += [f"{os.path.splitext(path)[0]}.toml" for path in files]
    for folder in {os.path.dirname(path) for path in files}:
        files += [os.path.join(folder, OWN_FILE), os.path.join(folder, SHARED_FILE)]
    return files


def _print_problems(outcomes: Sequence[Outcome]) -> bool:
    """Print what could not be done and what to know of the rest; whether anything failed."""
    for outcome in outcomes:
        for sentence in (*outcome.warnings, *outcome.problems):
            complain(sentence)
    return any(outcome.problems for outcome in outcomes)


def _show_differences(outcomes: Sequence[Outcome]) -> int:
    from netsharp_lsp.cli.outputs.difference import unified

    changed = [outcome for outcome in outcomes if outcome.changed]
    for outcome in changed:
        before = outcome.source.text if outcome.source is not None else b""
        give_exactly(unified(outcome.item.name, before, outcome.text))
    return FOUND if changed else CLEAN


def _write_fixed(outcomes: Sequence[Outcome], roots: Roots) -> bool:
    """Write repaired texts back, stdin's to stdout; whether all could be written."""
    from netsharp_lsp.project.writing import remove_leftovers, write_over

    done = True
    for outcome in outcomes:
        source = outcome.source
        if source is None:
            continue
        if outcome.item.path is None:
            if outcome.repaired:
                give_exactly(encode(source, outcome.text))
            continue
        target = roots.target(outcome.item.path)
        if not outcome.changed:
            if target is not None:
                remove_leftovers(target)
            continue
        if target is None:
            complain(f"{outcome.item.name}: {not_written(outcome.item.path)}")
            done = False
            continue
        try:
            before = encode(source, source.text)
            write_over(target, encode(source, outcome.text), before)
        except OSError as error:
            complain(f"{outcome.item.name}: cannot be written: {error.strerror}.")
            done = False
            continue
        counts = ", ".join(f"{code} {count}x" for code, count in sorted(outcome.applied.items()))
        complain(f"{outcome.item.name}: fixed {counts}.")
    return done


def _report(
    findings: Sequence[FileFindings], jobs: Sequence[Job], args: argparse.Namespace
) -> None:
    """Write the report: into a file, to stdout, or to stderr where stdout has a repaired text."""
    stream: TextIO = sys.stdout
    if any(job.repairs and job.item.path is None for job in jobs):
        stream = sys.stderr
    to_file = args.output_file is not None
    style = Style(
        color=not to_file and uses_color(stream),
        width=source_width(stream),
        version=__version__,
        title_of=title_of,
    )
    pieces = render(args.format, findings, style)
    if to_file:
        _write(args.output_file, "".join(pieces).encode("utf-8", "backslashreplace"))
    else:
        give(pieces, stream)
    if args.statistics:
        for_people = args.format in ("text", "concise") and not to_file
        give(render_statistics(findings, style), stream if for_people else sys.stderr)


def _write(path: str, report: bytes) -> None:
    from netsharp_lsp.project.writing import write_atomic

    try:
        write_atomic(path, report)
    except OSError as error:
        raise UsageError(f"{path}: the report cannot be written: {error.strerror}.") from None


def _fails(job: Job, found: FileFindings) -> bool:
    """Return whether a file's findings are severe enough for exit code 1."""
    fail_on = job.args.fail_on or job.settings.fail_on or DEFAULT_FAIL_ON
    return any(RANKS[d.severity] <= RANKS[fail_on] for d in found.diagnostics)
