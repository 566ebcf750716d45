"""Where the context of a specification comes from: flags, --data, the run file, settings.

The first that knows a value wins. Reads disk; numpy is imported for --data alone.
"""

from __future__ import annotations

import os

from netsharp_lsp.context import HOSTS, TASKS, Context
from netsharp_lsp.settings import OWN_FILE, SHARED_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from netsharp_lsp.cli.table import Counts

_FLAGS = ("features", "hidden_nodes", "outputs", "task", "host")


def add_context_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that turn `auto` into numbers."""
    group = parser.add_argument_group("what is known around the specification")
    for flag, noun in (
        ("--features", "columns of data after encoding"),
        ("--hidden-nodes", "nodes of a hidden layer of size auto"),
        ("--outputs", "outputs that the task needs"),
    ):
        group.add_argument(flag, type=_positive, metavar="N", help=noun)
    group.add_argument("--task", choices=TASKS, help="what the network is for")
    group.add_argument("--host", choices=HOSTS, help="the program that will train it")
    group.add_argument("--data", metavar="FILE", help="the table that it will be trained on")
    group.add_argument("--label", metavar="COLUMN", help="the column of --data to predict")


def context_around(
    place: str, args: argparse.Namespace, settings: Context
) -> tuple[Context, list[str]]:
    """Return what is known around a file: flags, --data, the run file beside it, settings.

    `place` is its absolute path; what cannot be read comes back as sentences.
    """
    problems = []
    context = flag_context(args)
    run_file = run_file_beside(place)
    if isinstance(run_file, str):
        problems.append(run_file)
        run_file = None
    beside = Context() if run_file is None else run_file_context(run_file)
    if args.data is not None:
        task = context.task or beside.task or settings.task
        data = data_context(args.data, args.label, run_file, task)
        if isinstance(data, str):
            problems.append(data)
        else:
            context = context.or_else(data)
    return context.or_else(beside).or_else(settings), problems


def flag_context(args: argparse.Namespace) -> Context:
    """Return what the flags say."""
    context = Context()
    for field in _FLAGS:
        value = getattr(args, field)
        if value is not None:
            setattr(context, field, value)
            context.origin[field] = f"--{field.replace('_', '-')}"
    return context


class RunFile:
    """What `check` reads of a run file: its path and the tables [data] and [train]."""

    __slots__ = ("data", "path", "train")

    def __init__(self, path: str, data: dict[str, Any], train: dict[str, Any]) -> None:
        self.path = path
        self.data = data
        self.train = train


def run_file_beside(specification: str) -> RunFile | str | None:
    """Return the run file of a specification: its stem with .toml.

    None where there is none, a sentence where it cannot be read. Values that only `run` can
    judge are passed over.
    """
    path = f"{os.path.splitext(specification)[0]}.toml"
    if os.path.basename(path) in (OWN_FILE, SHARED_FILE) or not os.path.isfile(path):
        return None
    import tomllib

    try:
        with open(path, "rb") as stream:
            table = tomllib.load(stream)
    except OSError as error:
        return f"{path}: cannot be read: {error.strerror}."
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        return f"{path}: is not valid TOML: {error}."
    return RunFile(path, _table(table, "data"), _table(table, "train"))


def run_file_context(run_file: RunFile) -> Context:
    """Return what a run file says, and what counting the columns of its training data tells."""
    context = Context()
    task, host = run_file.train.get("task"), run_file.train.get("host")
    hidden_nodes = run_file.train.get("hidden_nodes")
    context.task = task if task in TASKS else None
    context.host = host if host in HOSTS else None
    context.hidden_nodes = hidden_nodes if _is_positive(hidden_nodes) else None
    counts = _count_training_data(run_file)
    if counts is not None:
        context.features = counts.features
        _settle_outputs(context, counts.classes)
    context.origin = dict.fromkeys(context.known(), os.path.basename(run_file.path))
    return context


def data_context(
    path: str, label: str | None, run_file: RunFile | None, task: str | None
) -> Context | str:
    """Return what a table says, read as training reads it, or a sentence why it cannot be read.

    `label` is the flag's column, `task` what is already known; the run file says the rest of
    how the table is to be read.
    """
    from netsharp_engine.data import DataError, ReadOptions, class_names, feature_count

    data = run_file.data if run_file is not None else {}
    header, delimiter = data.get("header"), data.get("delimiter")
    options = ReadOptions(
        label=label if label is not None else _column(data.get("label")),
        weight=_column(data.get("weight")),
        categorical=tuple(_columns(data.get("categorical"))),
        exclude=tuple(_columns(data.get("exclude"))),
        header=header if isinstance(header, bool) else None,
        delimiter=delimiter if isinstance(delimiter, str) else None,
    )
    context = Context(task=task)
    try:
        unknown = data.get("unknown_level") is not False
        context.features = feature_count(path, options, unknown=unknown)
        if task != "regression" and options.label is not None:
            _settle_outputs(context, len(class_names(path, options)))
    except DataError as error:
        return str(error)
    context.origin = dict.fromkeys(context.known(), os.path.basename(path))
    return context


def _count_training_data(run_file: RunFile) -> Counts | None:
    """Count the CSV or TSV file that [data] names as `train`.

    Of several files as one table only the first is read: all have its columns, but together
    they may have more classes and levels than it has.
    """
    from netsharp_lsp.cli.table import Columns, count_table

    data = run_file.data
    files = _training_files(run_file)
    if not files:
        return None
    header, delimiter = data.get("header"), data.get("delimiter")
    excluded = _columns(data.get("exclude"))
    columns = Columns(
        label=_column(data.get("label")),
        apart=_columns([data.get("weight"), *excluded, _split(run_file)]),
        categorical=_columns(data.get("categorical")),
        header=header if isinstance(header, bool) else None,
        delimiter=delimiter if isinstance(delimiter, str) else None,
        unknown_level=data.get("unknown_level") is not False,
    )
    counts = count_table(files[0], columns)
    if counts is None:
        return None
    several = len(files) > 1
    if several:
        counts.classes = None
    # Levels are those of all training rows, which only training chooses.
    if columns.categorical and (several or "validation" in run_file.train):
        counts.features = None
    return counts


def _split(run_file: RunFile) -> str | None:
    """What `validation` names: perhaps a column, which is no feature then; None for a fraction."""
    from netsharp_engine.cells import is_number

    chosen = run_file.train.get("validation")
    return chosen if isinstance(chosen, str) and not is_number(chosen) else None


def _training_files(run_file: RunFile) -> list[str]:
    """The files that `train` names, patterns expanded, relative to the run file."""
    train = run_file.data.get("train")
    folder = os.path.dirname(run_file.path)
    files: list[str] = []
    for name in train if isinstance(train, list) else [train]:
        if not isinstance(name, str):
            continue
        path = os.path.join(folder, name)
        if any(character in name for character in "*?["):
            from glob import glob

            files += sorted(glob(path, recursive=True))
        else:
            files.append(path)
    return files


def _settle_outputs(context: Context, classes: int | None) -> None:
    """Conclude task and outputs from the number of classes.

    Without a task classification is assumed; how many outputs two classes need is the host's
    matter, so that number stays open.
    """
    if context.task == "regression":
        context.outputs = 1
    elif classes is not None and classes >= 2:
        if context.task is None:
            context.task = "binary" if classes == 2 else "multiclass"
        if context.task == "multiclass":
            context.outputs = classes


def _table(table: dict[str, Any], name: str) -> dict[str, Any]:
    value = table.get(name)
    return value if isinstance(value, dict) else {}


def _column(value: object) -> str | None:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def _columns(value: object) -> list[str]:
    columns = map(_column, value) if isinstance(value, list) else ()
    return [column for column in columns if column is not None]


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _positive(text: str) -> int:
    from argparse import ArgumentTypeError

    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"must be a whole number of at least 1, found '{text}'")
    return int(text)
