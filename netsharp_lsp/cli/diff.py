"""`netsharp diff`: compare two networks by what they are, not by how they are spelt."""

from __future__ import annotations

from netsharp_lsp.cli.arguments.context import add_context_arguments
from netsharp_lsp.cli.arguments.experiments import (
    add_experiment_arguments,
    family_meant,
    question,
    show_answer,
)
from netsharp_lsp.cli.arguments.settings import (
    UsageError,
    add_settings_arguments,
    roots_for,
    settings_finder,
)
from netsharp_lsp.cli.console.terminal import complain, give, say
from netsharp_lsp.cli.specifications.faults import show_errors
from netsharp_lsp.cli.specifications.subjects import SubjectError, read_subject
from netsharp_lsp.language import family_of_model, language_for
from netsharp_lsp.memory import uncollected
from netsharp_lsp.settings import SettingsError
from netsharp_lsp.text.json_text import to_json
from netsharp_lsp.text.shorten import shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from netsharp_lsp.description.comparison import Comparison, Difference

SAME, DIFFERENT, FAILED = 0, 1, 2
#: The mark before a difference.
SIGNS = {"added": "+", "removed": "-", "changed": "~", "renamed": "="}
FIGURES = {"parameters": "parameters", "multiply_adds": "multiply-adds"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp diff` understands."""
    add = parser.add_argument
    add("before", metavar="A", help="a specification or configuration, a model, or REVISION:FILE")
    add("after", metavar="B", help="the same")
    add("--format", choices=("text", "json"), default="text", help="the format of the output")
    add_context_arguments(parser)
    add_experiment_arguments(parser)
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Compare two networks; 0 when they are the same, 1 when they differ, 2 when one is faulty."""
    return uncollected(lambda: _run(args))


def _run(args: argparse.Namespace) -> int:
    try:
        comparison = _compared(args)
    except (SettingsError, SubjectError, UsageError) as error:
        complain(str(error))
        return FAILED
    if comparison is None:
        return FAILED
    if args.format == "json":
        give(as_json(comparison))
    else:
        say(as_lines(comparison))
    return SAME if comparison.same else DIFFERENT


def _compared(args: argparse.Namespace) -> Comparison | None:
    """Return the comparison; None, with a message on stderr, where one of both has errors."""
    names = (args.before, args.after)
    roots = roots_for(["." if name == "-" else name for name in names], args)
    find = settings_finder(args, roots)
    one, other = (family_of_model(name) or family_meant(name, args) for name in names)
    if one is not other:
        raise SubjectError(f"{names[0]} and {names[1]} are of different kinds. Name two of a kind.")
    if one.experiments is not None:
        answer = one.experiments.compare(*names, question(args, find, roots))
        show_answer(answer)
        return answer.comparison
    subjects = [read_subject(name, args, find, roots) for name in names]
    faulty = [show_errors(each.name, each.text, each.context, each.embedded) for each in subjects]
    if any(faulty):
        return None
    before, after = ((subject.text, subject.context) for subject in subjects)
    return language_for(args.after).compare(before, after)


def as_lines(comparison: Comparison) -> list[str]:
    """Return a line for each difference, and the figures where they changed."""
    lines = [line(difference) for difference in comparison.differences]
    if comparison.same:
        moved = sum(one.norms is not None for one in comparison.differences)
        noun = "1 parameter has" if moved == 1 else f"{moved} parameters have"
        since = f", and {noun} moved since training began" if moved else ""
        lines.append(f"The networks are the same{since}.")
    for key, name in FIGURES.items():
        before, after = comparison.figures[key]
        if before != after:
            lines.append(f"{name}: {figure(before)} -> {figure(after)}")
    return [shortened(one) for one in lines]


def line(difference: Difference) -> str:
    """One difference as people read it."""
    sign, what, name = SIGNS[difference.change], difference.what, difference.name
    if difference.change == "renamed":
        return f"{sign} {what} {difference.before} is now called {difference.after}"
    if difference.change == "changed":
        aspect = f"{difference.aspect} " if difference.aspect else ""
        return f"{sign} {what} {name}: {aspect}{difference.before} -> {difference.after}"
    text = difference.before or difference.after
    return f"{sign} {what} {name} {difference.change}{f': {text}' if text else ''}"


def figure(count: int | None) -> str:
    """Return a count with separators; a question mark where it is unknown."""
    return "?" if count is None else f"{count:,}"


def as_json(comparison: Comparison) -> str:
    """Return the comparison for programs; null where a figure is unknown."""
    differences = [
        {
            "change": difference.change,
            "what": difference.what,
            "name": difference.name,
            "aspect": difference.aspect or None,
            "before": difference.before or None,
            "after": difference.after or None,
            **({} if difference.norms is None else {"norms": difference.norms}),
        }
        for difference in comparison.differences
    ]
    figures = {
        key: {"before": before, "after": after}
        for key, (before, after) in comparison.figures.items()
    }
    document = {"version": 1, "same": comparison.same, "differences": differences, **figures}
    return to_json(document, indent=2) + "\n"
