"""`netsharp fmt`: put specifications in order, in place or only to see what would change.

Knows files and what people want to hear, no language.
"""

from __future__ import annotations

import argparse
import gc

from netsharp_lsp.cli.arguments.settings import add_settings_arguments, roots_for, settings_finder
from netsharp_lsp.cli.console.terminal import complain, give_exactly
from netsharp_lsp.cli.inputs.files import (
    EMBEDDED,
    SKIP_OTHERS,
    Input,
    Naming,
    gather,
    read_source,
)
from netsharp_lsp.cli.inputs.workers import do_all
from netsharp_lsp.language import language_by_id, language_ids
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.outcome import ReadError
from netsharp_lsp.project.folders import excluder
from netsharp_lsp.project.roots import not_written
from netsharp_lsp.settings import LINE_ENDINGS, SettingsError
from netsharp_lsp.text.decode import encode
from netsharp_lsp.text.numbers import whole_number
from netsharp_lsp.text.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.layout.options import Formatted, LineRange
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.text.decode import Source

CLEAN, FOUND, FAILED = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp fmt` understands."""
    add = parser.add_argument
    add("paths", nargs="*", default=["."], metavar="PATH", help="files, folders, or - for stdin")
    add("--check", action="store_true", help="write nothing; exit 1 if something would change")
    add("--diff", action="store_true", help="write nothing; show what would change")
    add("--stdin-filename", metavar="NAME", help="the file name to report for stdin")
    add(
        "--language",
        choices=language_ids(),
        help="read files in this language, whatever their names",
    )
    add(
        "--lines",
        type=_line_range,
        action="append",
        default=[],
        metavar="FIRST-LAST",
        help="change only the declarations that touch these lines; may be repeated",
    )
    add("--embedded", action="store_true", help=EMBEDDED)
    add("--skip-others", action="store_true", help=SKIP_OTHERS)
    add(
        "--line-ending",
        choices=LINE_ENDINGS,
        help="line ending to write (default: the one most lines have)",
    )
    add("--no-self-check", action="store_true", help=argparse.SUPPRESS)
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Format the files that the arguments name; 0 done, 1 something would change, 2 something
    failed.
    """
    # A process that only formats ends soon and makes no cycles: collecting costs, and finds none.
    gc.disable()
    try:
        jobs, missing = _jobs(args)
    except SettingsError as error:
        complain(str(error))
        return FAILED
    for problem in missing:
        complain(problem)
    if args.lines and len(jobs) > 1:
        complain(f"--lines needs one file, but {len(jobs)} are given.")
        return FAILED
    outcomes = do_all(_do, jobs)
    for outcome in outcomes:
        for sentence in outcome.sentences:
            complain(sentence)
        if outcome.output:
            give_exactly(outcome.output)
    if any(job.item.path is not None for job in jobs):
        _summarise(outcomes, args.check or args.diff)
    if any(outcome.failed for outcome in outcomes):
        return FAILED
    changed = any(outcome.changed for outcome in outcomes)
    return FOUND if changed and (args.check or args.diff) else CLEAN


class _Job:
    """One file to format with the options that hold for it.

    `quiet`: a host file without a specification is as it should be.
    """

    __slots__ = ("item", "mode", "options", "quiet", "roots")

    def __init__(
        self, item: Input, options: FormatOptions, mode: str, quiet: bool, roots: Roots
    ) -> None:
        self.item = item
        self.roots = roots
        self.options = options
        self.mode = mode
        self.quiet = quiet


class _Outcome:
    """The result of one file: bytes for stdout, sentences for stderr, and how it ended."""

    __slots__ = ("changed", "failed", "name", "output", "sentences")

    def __init__(self, name: str) -> None:
        self.name = name
        self.output = b""
        self.sentences: list[str] = []
        self.changed = False
        self.failed = False

    def fail(self, sentence: str) -> _Outcome:
        self.sentences.append(sentence)
        self.failed = True
        return self


def _jobs(args: argparse.Namespace) -> tuple[list[_Job], list[str]]:
    """Return the files to format, each with its options, and sentences on missing ones."""
    named = [(args.stdin_filename or ".") if path == "-" else path for path in args.paths]
    roots = roots_for(named, args)
    find = settings_finder(args, roots)
    naming = Naming(args.stdin_filename, args.language, args.skip_others)
    gathered = gather(args.paths, excluder(find), naming, roots, args.embedded)
    mode = "diff" if args.diff else "check" if args.check else "write"
    jobs = []
    for item in gathered.inputs:
        settings = find(item.directory)
        options = FormatOptions(
            args.line_ending or settings.line_ending,
            args.lines,
            not args.no_self_check,
            item.family.keeps_columns(settings),
        )
        jobs.append(_Job(item, options, mode, args.embedded, roots))
    return jobs, gathered.missing


def _do(job: _Job) -> _Outcome:
    """Read, format and, where that is wanted, write one file."""
    outcome = _Outcome(job.item.name)
    source = read_source(job.item)
    if isinstance(source, ReadError):
        return outcome.fail(source.message)
    if source is None:
        return outcome
    if source.warning is not None:
        outcome.sentences.append(f"{outcome.name}: {source.warning}")
    if job.item.host is not None:
        text, failure = _format_host(job, source, outcome)
    else:
        formatted = language_by_id(job.item.language).format(source.text, job.options)
        text, failure = formatted.text, formatted.failure
        outcome.sentences += _about_broken(job.item, source.text, formatted)
    if failure is not None:
        return outcome.fail(
            f"{outcome.name}: nothing was written: {failure}; please report it with this file."
        )
    outcome.changed = text != source.text
    return outcome if outcome.failed else _give(job, source, text, outcome)


def _format_host(job: _Job, source: Source, outcome: _Outcome) -> tuple[bytes, str | None]:
    """Return the text of a host with its specifications formatted, and a fault of ours if any."""
    from netsharp_lsp.cli.inputs.embedded import format_host, nothing_in, specifications_in

    regions = specifications_in(job.item, source.text)
    if isinstance(regions, str):
        outcome.fail(regions)
        return source.text, None
    if not regions and not job.quiet:
        outcome.sentences.append(nothing_in(job.item, source.text))
    done = format_host(job.item, source.text, regions, job.options)
    outcome.sentences += done.sentences
    return done.text, done.failure


def _give(job: _Job, source: Source, text: bytes, outcome: _Outcome) -> _Outcome:
    """Write a formatted text where the mode wants it."""
    if job.mode == "diff":
        if outcome.changed:
            from netsharp_lsp.cli.outputs.difference import unified

            outcome.output = unified(outcome.name, source.text, text)
    elif job.mode == "check":
        if outcome.changed:
            outcome.output = f"would reformat {visible(outcome.name)}\n".encode()
    elif job.item.path is None:
        outcome.output = encode(source, text)
    else:
        return _write(job, job.item.path, source, text, outcome)
    return outcome


def _write(job: _Job, path: str, source: Source, text: bytes, outcome: _Outcome) -> _Outcome:
    """Write a text over the file that it is of, if it is another."""
    from netsharp_lsp.project.writing import remove_leftovers, write_over

    target = job.roots.target(path)
    if not outcome.changed:
        if target is not None:
            remove_leftovers(target)
        return outcome
    if target is None:
        return outcome.fail(f"{outcome.name}: {not_written(path)}")
    try:
        write_over(target, encode(source, text), encode(source, source.text))
    except OSError as error:
        return outcome.fail(f"{outcome.name}: cannot be written: {error.strerror}.")
    return outcome


def _about_broken(item: Input, text: bytes, formatted: Formatted) -> list[str]:
    """Return sentences on the lines that were left unchanged, if there are any."""
    if not formatted.broken:
        return []
    from netsharp_lsp.cli.inputs.unformatted import about_unformatted
    from netsharp_lsp.text.lines import LineIndex

    line_at = LineIndex(text).line_at
    return about_unformatted(item.name, item.language, text, formatted.broken, line_at)


def _summarise(outcomes: Sequence[_Outcome], dry: bool) -> None:
    """Print the number of files of each kind."""
    failed = sum(outcome.failed for outcome in outcomes)
    changed = sum(outcome.changed and not outcome.failed for outcome in outcomes)
    same = len(outcomes) - changed - failed
    verb = "would be reformatted" if dry else "reformatted"
    parts = []
    if changed:
        parts.append(f"{_files(changed)} {verb}")
    if same:
        parts.append(f"{_files(same)} unchanged")
    if failed:
        parts.append(f"{_files(failed)} failed")
    if parts:
        complain(", ".join(parts) + ".")


def _files(count: int) -> str:
    return f"{count} file" if count == 1 else f"{count} files"


def _line_range(text: str) -> LineRange:
    """Read `10-20`, or `10` for one line."""
    first, _, last = text.partition("-")
    start, end = whole_number(first), whole_number(last or first)
    if start is None or end is None or not 1 <= start <= end:
        raise argparse.ArgumentTypeError(f"'{text}' is not a range of lines such as 10-20")
    return start, end
