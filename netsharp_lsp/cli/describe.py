"""`netsharp describe`: say what a network is, as tables, JSON, Markdown, DOT or a picture."""

from __future__ import annotations

from netsharp_lsp.cli.arguments.context import add_context_arguments
from netsharp_lsp.cli.arguments.experiments import (
    add_experiment_arguments,
    family_meant,
    question,
    show_answer,
)
from netsharp_lsp.cli.arguments.parser import level, positive
from netsharp_lsp.cli.arguments.settings import (
    UsageError,
    add_settings_arguments,
    roots_for,
    settings_finder,
)
from netsharp_lsp.cli.console.terminal import complain, give
from netsharp_lsp.cli.specifications.faults import show_errors
from netsharp_lsp.cli.specifications.subjects import SubjectError, read_subject
from netsharp_lsp.description.uncounted import uncounted
from netsharp_lsp.language import family_with, language_for, language_ids, stored_network
from netsharp_lsp.memory import uncollected
from netsharp_lsp.project.writing import write_atomic
from netsharp_lsp.settings import SettingsError
from netsharp_lsp.text.json_text import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

DONE, FAULTY, FAILED = 0, 1, 2
FORMATS = ("text", "json", "markdown", "dot", "svg")
#: The flag that predicts the cost of a run, and the flags that only apply with it.
OF_COST, COST_FLAGS = FORMATS[:3], ("batch_size", "rows", "optimizer", "dtype")
#: Equal to the engine's, which is not imported for a description without cost.
OPTIMIZERS, DTYPES = ("sgd", "adadelta", "adam"), ("float32", "float64")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp describe` understands."""
    add = parser.add_argument
    add(
        "subject",
        metavar="FILE",
        help="a specification, configuration or network, A+B, HOST::NAME, a model file, "
        "REVISION:FILE, or -",
    )
    add("--stdin-filename", metavar="NAME", help="the file name to report for stdin")
    add(
        "--language",
        choices=language_ids(),
        help="read the file in this language, whatever its name",
    )
    add("--format", choices=FORMATS, default="text", help="the format of the output")
    add(
        "--depth",
        metavar="N",
        type=level,
        help="levels of calls that tables and pictures expand",
    )
    add("--output", metavar="FILE", help="write to a file")
    add("--cost", action="store_true", help="also predict how long training takes on this machine")
    add("--partial", action="store_true", help="describe as much of a damaged model as can be read")
    add_context_arguments(parser)
    add_cost_arguments(parser)
    group = add_experiment_arguments(parser)
    group.add_argument("--command", metavar="NAME", help="the command whose network to describe")
    group.add_argument("--log", metavar="FILE", help="compare it with a log that the toolkit wrote")
    library = family_with(lambda one: one.experiments).library
    group.add_argument("--library", metavar="FILE", help=f"use this file in place of {library}")
    add_settings_arguments(parser)


def add_cost_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `--cost` reads beside the run file."""
    add = parser.add_argument_group("the training to predict (--cost)").add_argument
    add("--batch-size", metavar="N", type=positive, help="rows per step")
    add("--rows", metavar="N", type=positive, help="rows in the table")
    add("--optimizer", choices=OPTIMIZERS, help="the update rule")
    add("--dtype", choices=DTYPES, help="the type of weights and values")


def run(args: argparse.Namespace) -> int:
    """Describe one network; 1 when it has errors, which go to stderr, 2 when it cannot be read."""
    return uncollected(lambda: _run(args))


def _run(args: argparse.Namespace) -> int:
    try:
        description, code = _described(args)
    except (SettingsError, SubjectError, UsageError) as error:
        complain(str(error))
        return FAILED
    if description is None:
        return code
    for sentence in uncounted(description):
        complain(f"{args.subject}: {sentence}")
    text = rendered(description, args.format, args.depth)
    if args.output is None:
        give(text)
        return code
    try:
        write_atomic(args.output, text.encode())
    except OSError as error:
        complain(f"{args.output}: cannot be written: {error.strerror}.")
        return FAILED
    return code


def _described(args: argparse.Namespace) -> tuple[dict[str, Any] | None, int]:
    """Return the description of the subject, None where there is none, and the exit code."""
    _check_cost(args)
    stored = _stored(args.subject, partial=args.partial)
    if stored is not None and args.cost:
        raise UsageError(f"{args.subject}: --cost goes with a specification that is trained here.")
    if stored is not None:
        return stored, FAULTY if stored["model"].get("faults") else DONE
    roots = roots_for([(args.stdin_filename or ".") if args.subject == "-" else args.subject], args)
    find = settings_finder(args, roots)
    experiments = family_meant(args.subject, args).experiments
    if experiments is not None and args.cost:
        raise UsageError(f"{args.subject}: --cost goes with a specification, and this is none.")
    if experiments is not None:
        answer = experiments.describe(args.subject, question(args, find, roots))
        show_answer(answer)
        return answer.document, answer.code
    subject = read_subject(args.subject, args, find, roots, args.stdin_filename)
    if show_errors(subject.name, subject.text, subject.context, subject.embedded):
        return None, FAULTY
    description = language_for(subject.name).describe(subject.text, subject.context)
    if args.cost:
        from netsharp_lsp.cli.specifications.costs import described_cost

        description["cost"] = described_cost(subject, args, roots)
    return description, DONE


def _check_cost(args: argparse.Namespace) -> None:
    """Raise UsageError where flags do not go together."""
    if args.cost and args.format not in OF_COST:
        raise UsageError(f"--cost is shown as {', '.join(OF_COST)}, not as {args.format}.")
    given = next((name for name in COST_FLAGS if getattr(args, name) is not None), None)
    if given is not None and not args.cost:
        raise UsageError(f"--{given.replace('_', '-')} goes with --cost.")


def _stored(path: str, *, partial: bool) -> dict[str, Any] | None:
    """Return the network in a model of another program, None where the file is not such a model."""
    try:
        return stored_network(path, partial=partial)
    except ValueError as error:
        raise SubjectError(str(error)) from None


def rendered(description: dict[str, Any], form: str, depth: int | None = None) -> str:
    """Return a description in one of `FORMATS`; tables and pictures open ``depth`` calls."""
    if form == "json":
        return to_json(description, indent=2) + "\n"
    if form in ("dot", "svg") and "nodes" in description:
        from netsharp_lsp.description.folding import folded
        from netsharp_lsp.description.nodes import as_layers

        description = folded({**description, "layers": as_layers(description)}, depth)
    elif form != "json" and depth is not None and "nodes" in description:
        from netsharp_lsp.description.folding import folded_rows
        from netsharp_lsp.description.nodes import as_layers

        whole = {**description, "layers": as_layers(description)}
        description = {**description, "folded": folded_rows(whole, depth)}
    if form == "dot":
        from netsharp_lsp.description.dot import render_dot

        return render_dot(description)
    if form == "svg":
        from netsharp_lsp.description.svg import render_svg

        return render_svg(description)
    from netsharp_lsp.description.tables import render_markdown, render_text

    return render_markdown(description) if form == "markdown" else render_text(description)
