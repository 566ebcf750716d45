"""The run file beside a specification, and the facts about the network in it and its data.

Reads TOML and counts columns of CSV and TSV files; checks nothing that only training can check.
"""

from __future__ import annotations

import os

from netsharp_engine.plain_files import may_be_file
from netsharp_lsp.context import HOSTS, TASKS, Context, is_count
from netsharp_lsp.project.roots import ANYWHERE
from netsharp_lsp.settings import OWN_FILE, SHARED_FILE, SettingsError, read_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.project.table import Columns, Counts

    Count = Callable[[str, Columns], Counts | None]


#: The default suffix of model files.
MODEL_SUFFIX = ".safetensors"
#: What makes a path a pattern.
_MAGIC = "*?["


class RunFile:
    """A run file as it is: its path and its tables.

    `outside` is its name where it lies outside and is not read.
    """

    __slots__ = ("data", "output", "outside", "path", "train")

    def __init__(
        self,
        path: str,
        data: dict[str, Any],
        train: dict[str, Any],
        output: dict[str, Any] | None = None,
        outside: str | None = None,
    ) -> None:
        self.path = path
        self.data = data
        self.train = train
        self.output = output if output is not None else {}
        self.outside = outside


def run_file_path(specification: str) -> str | None:
    """Return where the run file of a specification is, or would be: its stem with .toml.

    None where a settings file has that name.
    """
    path = f"{os.path.splitext(specification)[0]}.toml"
    return None if os.path.basename(path) in (OWN_FILE, SHARED_FILE) else path


def run_file_beside(specification: str, roots: Roots = ANYWHERE) -> RunFile | str | None:
    """Return the run file of a specification, None where there is none, or why it is unreadable.

    Of a link that leads outside nothing is known but that it does.
    """
    path = run_file_path(specification)
    if path is None or not may_be_file(path):
        return None
    return read_run_file(path, roots)


def read_run_file(path: str, roots: Roots = ANYWHERE) -> RunFile | str:
    """Read a run file, or return a sentence why it cannot be read.

    Values that only `run` can check are skipped.
    """
    place = roots.place(path)
    if place is None:
        return RunFile(path, {}, {}, outside=os.path.basename(path))
    try:
        table = read_toml(path, place, follow=False)
    except SettingsError as error:
        return str(error)
    return RunFile(path, _table(table, "data"), _table(table, "train"), _table(table, "output"))


def model_file(specification: str, run_file: RunFile | None) -> str:
    """Return where a run keeps its model: as the run file says, else beside the specification."""
    named = run_file.output.get("model") if run_file is not None else None
    if run_file is None or not isinstance(named, str):
        return f"{os.path.splitext(specification)[0]}{MODEL_SUFFIX}"
    return os.path.join(os.path.dirname(run_file.path), named)


def run_file_context(
    run_file: RunFile,
    count: Count | None = None,
    roots: Roots = ANYWHERE,
    *,
    tables: bool = True,
) -> Context:
    """Return the facts in a run file, and those from counting the columns of its training data.

    `count` is how a table is counted: None reads it, another may remember. Without `tables` none
    is looked for.
    """
    context = Context()
    context.outside = run_file.outside or _outside(run_file, roots)
    task, host = run_file.train.get("task"), run_file.train.get("host")
    hidden_nodes = run_file.train.get("hidden_nodes")
    context.task = task if task in TASKS else None
    context.host = host if host in HOSTS else None
    context.hidden_nodes = hidden_nodes if is_count(hidden_nodes) else None
    known = tables and context.outside is None
    counts = _count_training_data(run_file, count, roots) if known else None
    if counts is not None:
        context.features = counts.features
        conclude_outputs(context, counts.classes, len(label_columns(run_file.data)))
    context.origin = dict.fromkeys(context.known(), os.path.basename(run_file.path))
    return context


def _outside(run_file: RunFile, roots: Roots) -> str | None:
    """Return the first file or pattern for training, as it is written, that lies outside."""
    train = run_file.data.get("train")
    names = train if isinstance(train, list) else [train]
    written = [name for name in names if isinstance(name, str)]
    for name, (path, is_pattern) in zip(written, _named_for_training(run_file), strict=True):
        if not roots.holds(_begin(path) if is_pattern else path):
            return name
    return None


def _begin(pattern: str) -> str:
    """Return the folder from which on a pattern is looked for."""
    parts = pattern.replace("\\", "/").split("/")
    first = next(number for number, part in enumerate(parts) if any(c in part for c in _MAGIC))
    return "/".join(parts[:first]) or "/"


def _count_training_data(run_file: RunFile, count: Count | None, roots: Roots) -> Counts | None:
    """Count the CSV or TSV file that [data] names as `train`.

    Of several files as one table only the first is read: all have its columns, but together
    they may have more classes and levels than it has.
    """
    from netsharp_lsp.project.table import Columns, Counts, count_table

    data = run_file.data
    files = training_files(run_file, roots)
    if not files:
        return None
    header = data.get("header")
    words = {key: data.get(key) for key in ("delimiter", "decimal", "encoding")}
    excluded = as_columns(data.get("exclude"))
    label, *others = label_columns(data)
    table = Columns(
        label=label,
        apart=as_columns([data.get("weight"), *others, *excluded, _split(run_file)]),
        categorical=as_columns(data.get("categorical")),
        chosen=as_columns(data.get("columns")),
        header=header if isinstance(header, bool) else None,
        **{key: word for key, word in words.items() if isinstance(word, str)},
        unknown_level=data.get("unknown_level") is not False,
    )
    counts = (count or count_table)(files[0], table)
    if counts is None:
        return None
    several = len(files) > 1
    # Levels are those of all training rows, which only training chooses.
    missing = data.get("missing")
    chosen = several or "validation" in run_file.train or missing == "drop"
    open_levels = counts.levelled and chosen
    # Only the cells determine which columns get a mark.
    features = None if open_levels or missing == "indicator" else counts.features
    # Labels that may be numbers to predict are not classes before the network is known.
    return Counts(features, None if several or counts.measured else counts.classes)


def _split(run_file: RunFile) -> str | None:
    """Return the name in `validation`: a column that is not a feature; None for a fraction."""
    from netsharp_engine.cells import is_number

    chosen = run_file.train.get("validation")
    return chosen if isinstance(chosen, str) and not is_number(chosen) else None


def training_files(run_file: RunFile, roots: Roots = ANYWHERE) -> list[str]:
    """Return the files inside that `train` names, patterns expanded, relative to the run file."""
    files: list[str] = []
    for path, is_pattern in _named_for_training(run_file):
        if not is_pattern:
            files.append(path)
        elif roots.holds(_begin(path)):
            from glob import glob

            files += sorted(glob(path, recursive=True))
    return [path for path in files if roots.holds(path)]


def training_folders(run_file: RunFile, roots: Roots = ANYWHERE) -> list[str]:
    """Return the folders where a new file may be one that `train` means: those of its patterns."""
    named = _named_for_training(run_file)
    return [
        os.path.dirname(path)
        for path, is_pattern in named
        if is_pattern and roots.holds(_begin(path))
    ]


def _named_for_training(run_file: RunFile) -> list[tuple[str, bool]]:
    """Return the paths that `train` names, and whether each is a pattern."""
    train = run_file.data.get("train")
    folder = os.path.dirname(run_file.path)
    names = train if isinstance(train, list) else [train]
    return [
        (os.path.join(folder, name), any(character in name for character in _MAGIC))
        for name in names
        if isinstance(name, str)
    ]


def conclude_outputs(context: Context, classes: int | None, labels: int = 1) -> None:
    """Conclude task and outputs from the number of classes, and of the columns that are labels.

    Without a task classification is assumed; how many outputs two classes need is the host's
    matter, so that number stays open.
    """
    if labels > 1 and context.task is None:
        context.task = "regression"
    if context.task == "regression":
        context.outputs = labels
    elif classes is not None and classes >= 2:
        if context.task is None:
            context.task = "binary" if classes == 2 else "multiclass"
        if context.task == "multiclass":
            context.outputs = classes


def _table(table: dict[str, Any], name: str) -> dict[str, Any]:
    value = table.get(name)
    return value if isinstance(value, dict) else {}


def label_columns(data: dict[str, Any]) -> list[str | None]:
    """Return the label columns that [data] names; one that is None where it names none."""
    found: list[str | None] = list(as_columns(data.get("label")))
    return found or [as_column(data.get("label"))]


def as_column(value: object) -> str | None:
    """Return a column as a run file names it, by name or number from 1; None for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if is_count(value) else None


def as_columns(value: object) -> list[str]:
    """Return the columns of a list in a run file, skipping other values."""
    found = map(as_column, value) if isinstance(value, list) else ()
    return [column for column in found if column is not None]
