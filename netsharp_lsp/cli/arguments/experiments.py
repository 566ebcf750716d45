"""The arguments of commands that look at runs, and what family each of theirs means."""

from __future__ import annotations

import sys

from netsharp_lsp.cli.console.terminal import complain, give, say
from netsharp_lsp.cli.inputs.files import layered_in, named_input, read_bytes
from netsharp_lsp.language import family_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from netsharp_lsp.cli.inputs.files import Input
    from netsharp_lsp.family import Family
    from netsharp_lsp.project.folders import Find
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.questions import Answer, Question


def add_experiment_arguments(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add what says how configurations are run, and return the group of these arguments."""
    beginning = family_with(lambda one: one.experiments).beginning
    group = parser.add_argument_group(f"context of {beginning}")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        type=_assignment,
        metavar="KEY=VALUE",
        help="an assignment that overrides all files; may be repeated",
    )
    return group


def family_meant(argument: str, args: argparse.Namespace) -> Family:
    """Return the family of the file that an argument names, in any revision."""
    return layered_in(argument) or meant_input(argument, args).family


def question(args: argparse.Namespace, find: Find, roots: Roots) -> Question:
    """Return the question about runs that the arguments of a command ask."""
    from netsharp_lsp.questions import Question

    request = Question(
        lambda name: meant_input(name, args), read_bytes, find, roots, tuple(args.set)
    )
    request.command = getattr(args, "command", None)
    request.library = getattr(args, "library", None)
    request.log = getattr(args, "log", None)
    return request


def show_answer(answer: Answer) -> None:
    """Print the errors and notes of an answer."""
    if answer.reports:
        from netsharp_lsp.diagnostics.reports import Style, render

        for report in answer.reports:
            give(render("text", report, Style()), sys.stderr)
    for sentence in answer.complaints:
        complain(sentence)
    say(answer.lines)


def meant_input(argument: str, args: argparse.Namespace) -> Input:
    """Return the input that an argument means, with what flags say of stdin and of languages."""
    name, language = getattr(args, "stdin_filename", None), getattr(args, "language", None)
    return named_input(argument, name, language)


def _assignment(text: str) -> str:
    from argparse import ArgumentTypeError

    key, equals, _ = text.partition("=")
    if not equals or not key.strip().isidentifier():
        raise ArgumentTypeError(f"must be KEY=VALUE, found '{text}'")
    return text
