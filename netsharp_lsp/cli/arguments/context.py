"""The sources of a specification's context: flags, --data, the run file, settings.

The first that knows a value wins. Reads disk; numpy is imported for --data alone.
"""

from __future__ import annotations

import os

from netsharp_lsp.cli.arguments.parser import positive
from netsharp_lsp.context import HOSTS, TASKS, Context
from netsharp_lsp.project.run_file import (
    RunFile,
    as_column,
    as_columns,
    conclude_outputs,
    label_columns,
    run_file_beside,
    run_file_context,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from netsharp_lsp.project.roots import Roots

_FLAGS = ("features", "hidden_nodes", "outputs", "task", "host")


def add_context_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that turn `auto` into numbers."""
    group = parser.add_argument_group("context of the specification")
    for flag, noun in (
        ("--features", "columns of data after encoding"),
        ("--hidden-nodes", "nodes of a hidden layer of size auto"),
        ("--outputs", "outputs that the task needs"),
    ):
        group.add_argument(flag, type=positive, metavar="N", help=noun)
    group.add_argument("--task", choices=TASKS, help="the task of the network")
    group.add_argument("--host", choices=HOSTS, help="the program that will train it")
    group.add_argument("--data", metavar="FILE", help="the table that it will be trained on")
    group.add_argument("--label", metavar="COLUMN", help="the column of --data to predict")


def context_around(
    place: str,
    args: argparse.Namespace,
    settings: Context,
    roots: Roots,
    call: Context | None = None,
) -> tuple[Context, list[str]]:
    """Return the context of a file, from flags, --data, the run file beside it and settings.

    `place` is its absolute path; what cannot be read comes back as sentences. `call`: facts
    from the call around an embedded specification, which precede the run file.
    """
    given, beside, problems = contexts_around(place, args, settings, roots)
    return given.or_else(call or Context()).or_else(beside), problems


def contexts_around(
    place: str, args: argparse.Namespace, settings: Context, roots: Roots
) -> tuple[Context, Context, list[str]]:
    """Return the context from flags and --data, that from files beside it, and problems."""
    problems = []
    context = flag_context(args)
    run_file = run_file_beside(place, roots)
    if isinstance(run_file, str):
        problems.append(run_file)
        run_file = None
    beside = Context() if run_file is None else run_file_context(run_file, roots=roots)
    if args.data is not None:
        task = context.task or beside.task or settings.task
        data = data_context(args.data, args.label, run_file, task)
        if isinstance(data, str):
            problems.append(data)
        else:
            context = context.or_else(data)
    return context, beside.or_else(settings), problems


def flag_context(args: argparse.Namespace) -> Context:
    """Return the context that the flags give."""
    context = Context()
    for field in _FLAGS:
        value = getattr(args, field)
        if value is not None:
            setattr(context, field, value)
            context.origin[field] = f"--{field.replace('_', '-')}"
    return context


def data_context(
    path: str, label: str | None, run_file: RunFile | None, task: str | None
) -> Context | str:
    """Return the context that a table gives, read as in training, or a sentence why it cannot be
    read.

    `label` is the flag's column, `task` what is already known; the run file says the rest of
    how the table is to be read.
    """
    from netsharp_engine.cells import are_measured
    from netsharp_engine.data import DataError, ReadOptions, class_names, feature_count

    data = run_file.data if run_file is not None else {}
    header = data.get("header")
    keys = ("delimiter", "decimal", "encoding")
    words = [word if isinstance(word, str) else None for word in map(data.get, keys)]
    first, *others = [label] if label is not None else label_columns(data)
    options = ReadOptions(
        label=first,
        more_labels=tuple(as_columns(others)),
        weight=as_column(data.get("weight")),
        categorical=tuple(as_columns(data.get("categorical"))),
        columns=tuple(as_columns(data.get("columns"))),
        exclude=tuple(as_columns(data.get("exclude"))),
        header=header if isinstance(header, bool) else None,
        delimiter=words[0],
        decimal=words[1],
        encoding=words[2],
    )
    context = Context(task=task)
    try:
        unknown = data.get("unknown_level") is not False
        counted = feature_count(path, options, unknown=unknown)
        # Only the cells determine which columns get a mark for missing numbers.
        context.features = None if data.get("missing") == "indicator" else counted
        if others:
            conclude_outputs(context, None, 1 + len(others))
        elif task != "regression" and options.label is not None:
            names = class_names(path, options)
            conclude_outputs(context, None if are_measured(names) else len(names))
    except DataError as error:
        return str(error)
    context.origin = dict.fromkeys(context.known(), os.path.basename(path))
    return context
