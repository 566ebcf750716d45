"""`netsharp describe`: say what a network is, as tables, JSON, Markdown, DOT or a picture."""

from __future__ import annotations

import sys

from netsharp_lsp.cli.context import add_context_arguments
from netsharp_lsp.cli.files import write_atomic
from netsharp_lsp.cli.project import UsageError, add_settings_arguments, settings_finder
from netsharp_lsp.cli.subjects import SubjectError, read_subject
from netsharp_lsp.cli.terminal import complain, source_width, uses_color
from netsharp_lsp.diagnostics.reports import FileFindings, Style, render
from netsharp_lsp.language import language_for
from netsharp_lsp.settings import SettingsError
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from netsharp_lsp.cli.subjects import Subject
    from netsharp_lsp.language import Language

DONE, FAULTY, FAILED = 0, 1, 2
FORMATS = ("text", "json", "markdown", "dot", "svg")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp describe` understands."""
    add = parser.add_argument
    add("subject", metavar="FILE", help="a specification, a model file, REVISION:FILE, or -")
    add("--stdin-filename", metavar="NAME", help="the name of what comes from stdin")
    add("--format", choices=FORMATS, default="text", help="how to say it")
    add("--output", metavar="FILE", help="write into a file")
    add_context_arguments(parser)
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Describe one network; 1 when it has errors, which go to stderr, 2 when it cannot be read."""
    try:
        subject = read_subject(args.subject, args, settings_finder(args), args.stdin_filename)
    except (SettingsError, SubjectError, UsageError) as error:
        complain(str(error))
        return FAILED
    language = language_for(args.stdin_filename or args.subject)
    if show_errors(subject, language):
        return FAULTY
    text = rendered(language.describe(subject.text, subject.context), args.format)
    if args.output is None:
        sys.stdout.write(text)
        return DONE
    try:
        write_atomic(args.output, text.encode())
    except OSError as error:
        complain(f"{args.output}: cannot be written: {error.strerror}.")
        return FAILED
    return DONE


def show_errors(subject: Subject, language: Language) -> bool:
    """Write a subject's errors to stderr; whether there are any."""
    result = language.check(subject.text, subject.context)
    errors = [found for found in result.diagnostics if found.severity == "error"]
    if not errors:
        return False
    style = Style(color=uses_color(sys.stderr), width=source_width(sys.stderr))
    findings = FileFindings(subject.name, LineIndex(subject.text), errors)
    for part in render("text", [findings], style):
        sys.stderr.write(part)
    return True


def rendered(description: dict[str, Any], form: str) -> str:
    """A description in one of `FORMATS`."""
    if form == "json":
        import json

        return json.dumps(description, indent=2) + "\n"
    if form == "dot":
        from netsharp_lsp.description.dot import render_dot

        return render_dot(description)
    if form == "svg":
        from netsharp_lsp.description.svg import render_svg

        return render_svg(description)
    from netsharp_lsp.description.tables import render_markdown, render_text

    return render_markdown(description) if form == "markdown" else render_text(description)
