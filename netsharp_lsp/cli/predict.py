"""`netsharp predict`: answers of a trained model for a table, row by row in the same order."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from netsharp_engine.data import DataError
from netsharp_engine.model import ModelError, predict_stream
from netsharp_lsp.cli.arguments.models import add_data_arguments, read_model, read_options
from netsharp_lsp.cli.console.progress import choose_display
from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.cli.outputs.prediction_files import WriteError, open_writer
from netsharp_lsp.cli.outputs.spreadsheet import disarmed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from netsharp_engine.model import Model, Predictions

DONE, FAILED = 0, 2
NAMES = ("netsharp", "rx")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp predict` understands."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file, of whatever program")
    add("--output", metavar="FILE", help="a .csv, .jsonl or .parquet file instead of stdout")
    add("--keep", action="append", default=[], metavar="COLUMNS", help="copy these columns")
    add("--names", choices=NAMES, default=NAMES[0], help="whose column names to use")
    add(
        "--spreadsheet",
        action="store_true",
        help="write CSV that a spreadsheet executes nothing of: an apostrophe stands before texts "
        "that begin as formulas do",
    )
    add("--quiet", action="store_true", help="show no progress")
    add_data_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Predict; 0 done, 2 could not run, and then no output file is left."""
    if args.spreadsheet and args.output is not None and not args.output.lower().endswith(".csv"):
        complain(f"{args.output}: --spreadsheet is for CSV. Name a .csv file, or leave it out.")
        return FAILED
    try:
        model = read_model(args.model)
        writer = open_writer(args.output)
    except (ModelError, WriteError) as error:
        complain(str(error))
        return FAILED
    keep = [name for names in args.keep for name in names.split(",") if name]
    whole = False
    try:
        # Where the answers go to a terminal, a bar would tear them apart.
        with choose_display(args.quiet or args.output is None) as display:
            parts = predict_stream(
                model,
                args.data,
                read_options(model, args),
                keep=keep,
                directory=os.curdir,
                progress=display.reading,
            )
            for part in parts:
                columns = columns_of(part, model, keep, args.names)
                writer.write(disarmed(columns) if args.spreadsheet else columns)
        writer.finish()
        whole = True
    except (DataError, ModelError, WriteError) as error:
        complain(str(error))
    finally:
        if not whole:
            writer.discard()
    return DONE if whole else FAILED


def columns_of(
    part: Predictions, model: Model, keep: Sequence[str], names: str
) -> dict[str, list[Any]]:
    """The columns of a part: those kept, then the answers.  WriteError where two have one name."""
    answers = rx_columns(part, model) if names == "rx" else answer_columns(part, model)
    for name in keep:
        if name in answers:
            raise WriteError(
                f"'{name}' is to be kept, and is the name of an answer too. Leave it out of --keep."
            )
    kept = {name: list(values) for name, values in zip(keep, part.kept, strict=True)}
    return kept | answers


def predicted(part: Predictions) -> list[Any]:
    """The answers of a part: class names or numbers."""
    return part.predicted if isinstance(part.predicted, list) else part.predicted.tolist()


def answer_columns(part: Predictions, model: Model) -> dict[str, list[Any]]:
    """The answer, and a probability for each class."""
    columns = {"predicted": predicted(part)}
    if part.probabilities is not None:
        for position, name in enumerate(model.classes or ()):
            columns[f"probability_{name}"] = part.probabilities[:, position].tolist()
    return columns


def rx_columns(part: Predictions, model: Model) -> dict[str, list[Any]]:
    """The columns as rxPredict names them; the score of two classes is the log-odds."""
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
