"""`netsharp predict`: answers of a trained model for a table, row by row in the same order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.data import DataError
from netsharp_engine.graph import GraphError
from netsharp_engine.model import ModelError, predict_stream
from netsharp_engine.model.naming import answer_names, number_names
from netsharp_lsp.cli.arguments.models import (
    add_data_arguments,
    add_device_argument,
    add_network_arguments,
    choose_device,
    name_classes,
    read_model,
    sample_query,
)
from netsharp_lsp.cli.console.progress import choose_display
from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.cli.outputs.prediction_files import SUFFIXES, WriteError, open_writer
from netsharp_lsp.cli.outputs.spreadsheet import disarmed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from netsharp_engine.data import ProgressCallback
    from netsharp_engine.data.answers import SampleQuery
    from netsharp_engine.model import Model, Predictions

DONE, FAILED = 0, 2
NAMES = ("netsharp", "rx")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp predict` understands."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file, also one of another program")
    add(
        "--output",
        action="append",
        default=[],
        metavar="FILE|NAME",
        help="a .csv, .jsonl or .parquet file instead of stdout; of a model of another program "
        "also the name of a node whose values are wanted, repeated for others",
    )
    add("--keep", action="append", default=[], metavar="COLUMNS", help="copy these columns")
    add("--names", choices=NAMES, default=NAMES[0], help="whose column names to use")
    add(
        "--spreadsheet",
        action="store_true",
        help="write CSV of which a spreadsheet executes nothing: an apostrophe precedes texts "
        "that begin as formulas do",
    )
    add("--quiet", action="store_true", help="show no progress")
    add_device_argument(parser)
    add_network_arguments(parser)
    add_data_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Predict; 0 done, 2 could not run, and then no output file is left."""
    files = [name for name in args.output if name.lower().rpartition(".")[2] in SUFFIXES]
    target = files[0] if files else None
    if args.spreadsheet and target is not None and not target.lower().endswith(".csv"):
        complain(f"{target}: --spreadsheet is for CSV. Name a .csv file, or leave it out.")
        return FAILED
    try:
        model = read_model(args.model)
        name_classes(model, args.classes)
        device = choose_device(model, args)
        named = [name for name in args.output if name not in files]
        query = sample_query(model, args, named)
        writer = open_writer(_target(model, files, named))
    except (DataError, ModelError, WriteError) as error:
        complain(str(error))
        return FAILED
    if device is not None and not args.quiet:
        complain(device)
    keep = [name for names in args.keep for name in names.split(",") if name]
    whole = False
    try:
        # A progress bar would interrupt predictions that are printed to a terminal.
        with choose_display(args.quiet or target is None) as display:
            for columns in _tables(model, query, keep, args.names, display.reading):
                writer.write(disarmed(columns) if args.spreadsheet else columns)
        writer.finish()
        whole = True
    except (DataError, GraphError, ModelError, WriteError) as error:
        complain(str(error))
    finally:
        if not whole:
            writer.discard()
    return DONE if whole else FAILED


def _target(model: Model, files: Sequence[str], named: Sequence[str]) -> str | None:
    """Return the file that is written, None for standard output; WriteError where there are two."""
    if len(files) > 1:
        raise WriteError(f"--output names two files, {files[0]} and {files[1]}. Leave one out.")
    if named and model.network is None:
        open_writer(named[0])  # It lists the files.
    return files[0] if files else None


def _tables(
    model: Model,
    query: SampleQuery,
    keep: Sequence[str],
    names: str,
    progress: ProgressCallback,
) -> Iterator[dict[str, list[Any]]]:
    """Yield the columns of the answers, part by part."""
    network = model.network
    if network is None or not (query.outputs or network.over_time or network.brought_by(query)):
        if query.streams:
            raise DataError("--stream is for data that have names of streams; a table has none.")
        options = query.options
        for part in predict_stream(
            model,
            query.paths,
            options,
            keep=keep,
            directory=query.directory,
            progress=progress,
        ):
            yield columns_of(part, model, keep, names)
        return
    if keep:
        raise DataError("--keep copies columns of a table whose rows are answered one by one.")
    for rows in network.rows(query, model.answered):
        columns: dict[str, list[Any]] = {}
        if rows.sequence is not None and rows.step is not None:
            columns |= {"sequence": list(rows.sequence), "step": list(rows.step)}
        if rows.predictions is not None:
            columns |= columns_of(rows.predictions, model, (), names)
        for name, values in rows.values.items():
            several = values.shape[1] > 1
            for place in range(values.shape[1]):
                columns[f"{name}_{place}" if several else name] = values[:, place].tolist()
        yield columns


def columns_of(
    part: Predictions, model: Model, keep: Sequence[str], names: str
) -> dict[str, list[Any]]:
    """Return a part's columns: those kept, then the answers; raises WriteError for equal names."""
    answers = rx_columns(part, model) if names == "rx" else _named(part, model)
    return beside_kept(part, answers, keep)


def beside_kept(
    part: Predictions, answers: dict[str, list[Any]], keep: Sequence[str]
) -> dict[str, list[Any]]:
    """Columns that are kept, then answers.  WriteError where two have one name."""
    for name in keep:
        if name in answers:
            raise WriteError(
                f"'{name}' is to be kept, and is the name of an answer too. Leave it out of --keep."
            )
    kept = {name: list(values) for name, values in zip(keep, part.kept, strict=True)}
    return kept | answers


def predicted(part: Predictions) -> list[Any]:
    """Return the answers of a part: class names or numbers."""
    return part.predicted if isinstance(part.predicted, list) else part.predicted.tolist()


def several(part: Predictions) -> bool:
    """Return whether a row is answered by several numbers."""
    return not isinstance(part.predicted, list) and part.predicted.ndim > 1


def numbers(part: Predictions) -> list[list[float]]:
    """Return the numbers of each of several columns."""
    columns: list[list[float]] = np.asarray(part.predicted).T.tolist()
    return columns


def _named(part: Predictions, model: Model) -> dict[str, list[Any]]:
    return answer_columns(part, answer_names(model))


def answer_columns(part: Predictions, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the answer and a probability for each class, or each number of several."""
    chances = part.probabilities
    if several(part):
        columns = numbers(part)
    else:
        columns = [predicted(part), *([] if chances is None else chances.T.tolist())]
    return dict(zip(names, columns, strict=True))


def rx_columns(part: Predictions, model: Model) -> dict[str, list[Any]]:
    """Return the columns as rxPredict names them; the score of two classes is the log-odds."""
    if several(part):
        names = (f"Score.{name}" for name in number_names(model))
        return dict(zip(names, numbers(part), strict=True))
    if part.probabilities is None:
        return {"Score": predicted(part)}
    columns = {"PredictedLabel": predicted(part)}
    classes = model.classes or ()
    if len(classes) == 2:
        chances = part.probabilities[:, 1].tolist()
        columns["Score.1"] = [log_odds(chance) for chance in chances]
        columns["Probability.1"] = chances
        return columns
    for position, name in enumerate(classes):
        columns[f"Score.{name}"] = part.probabilities[:, position].tolist()
    return columns


def log_odds(chance: float) -> float:
    """ln(p / (1 - p)); infinite at the ends."""
    if chance in (0.0, 1.0):
        return math.inf if chance else -math.inf
    return math.log(chance / (1 - chance))
