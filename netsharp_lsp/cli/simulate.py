"""`netsharp simulate`: answers of a compiled network, computed in integers as on a device."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from netsharp_compile.evaluating.comparing import CLASSES_APART, NUMBERS_APART, ComparedAnswers
from netsharp_compile.form import ModelForm
from netsharp_compile.refusal import CompileError
from netsharp_compile.simulating import SimulatedNetwork
from netsharp_engine.cntk.sample_rows import (
    RowStreams,
    bring_streams,
    demand_streams,
    rows_of_files,
)
from netsharp_engine.cntk.samples.given import InputStream
from netsharp_engine.data import DataError
from netsharp_engine.model import ModelError
from netsharp_engine.train.runlog import plain
from netsharp_lsp.cli.arguments.models import (
    add_data_arguments,
    add_stream_arguments,
    changed_options,
    files_query,
    read_model,
)
from netsharp_lsp.cli.arguments.parser import not_negative
from netsharp_lsp.cli.console.terminal import complain, give, say
from netsharp_lsp.cli.outputs.prediction_files import WriteError, open_writer
from netsharp_lsp.cli.predict import answer_columns, beside_kept
from netsharp_lsp.text.json_text import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_compile.evaluating.comparing import AnswersApart
    from netsharp_engine.data.stream import EncodedRows
    from netsharp_engine.model import Model

DONE, APART, FAILED = 0, 1, 2
FORMATS = ("text", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp simulate` understands."""
    add = parser.add_argument
    add("manifest", metavar="PREFIX.json", help="the manifest that netsharp compile wrote")
    add("--compare", metavar="MODEL", help="compare the answers with those of a model")
    add(
        "--max-apart",
        type=not_negative,
        metavar="PERCENT",
        help="the percentage of rows that may be of another class (default: "
        f"{CLASSES_APART:g}; one row always may), or of their spread that numbers may be off "
        f"(default: {NUMBERS_APART:g})",
    )
    add("--output", metavar="FILE", help="a .csv, .jsonl or .parquet file instead of stdout")
    add("--keep", action="append", default=[], metavar="COLUMNS", help="copy these columns")
    add(
        "--format",
        choices=FORMATS,
        default=FORMATS[0],
        help="the format of answers (CSV, or a JSON object a line) or of the comparison",
    )
    add_stream_arguments(parser)
    add_data_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate and return the exit code: 0 done, 1 further from the model than allowed, 2 could not
    run.
    """
    try:
        simulated = SimulatedNetwork.read(args.manifest)
        if args.compare is None:
            if args.max_apart is not None:
                raise CompileError("--max-apart is about a comparison: name a model by --compare.")
            _answer(simulated, args)
            return DONE
        if args.output or args.keep:
            raise CompileError(
                "--compare answers with figures, and --output and --keep are of answers row by "
                "row. Leave one of them out."
            )
        found = _compared(simulated, read_model(args.compare), args)
    except (CompileError, DataError, ModelError, WriteError) as error:
        complain(str(error))
        return FAILED
    usual = NUMBERS_APART if found.differing is None else CLASSES_APART
    allowed = usual if args.max_apart is None else args.max_apart
    if args.format == "json":
        document = {
            "version": 1,
            "rows": found.rows,
            "agreement": found.agreement,
            "differing": found.differing,
            "error": found.error,
            "largest": found.largest,
            "allowed": allowed,
            "within": found.is_within(allowed),
        }
        give(f"{to_json(plain(document), indent=2, allow_nan=False)}\n")
    else:
        say([str(found)])
    if found.is_within(allowed):
        return DONE
    what = "error" if found.differing is None else "share of other classes"
    complain(f"{args.manifest}: the {what} is above the {allowed:g} % that --max-apart allows.")
    return APART


def _answer(simulated: SimulatedNetwork, args: argparse.Namespace) -> None:
    """Write the answers row by row; no file is left where that fails."""
    keep = [name for names in args.keep for name in names.split(",") if name]
    names = simulated.form.answer_names()
    lines = args.format == "json" and args.output is None
    writer = open_writer(args.output, lines=lines)
    whole = False
    try:
        for part in simulated.predicted(_rows(simulated.form, args, keep)):
            writer.write(beside_kept(part, answer_columns(part, names), keep))
        writer.finish()
        whole = True
    finally:
        if not whole:
            writer.discard()


def _rows(
    form: ModelForm, args: argparse.Namespace, keep: Sequence[str] = ()
) -> Iterator[EncodedRows]:
    """Yield the rows of a table, or samples of files that have the streams of inputs."""
    query = files_query(args, args.data, changed_options(form.read_options(), args))
    inputs = [InputStream(one.name, (one.size,)) for one in form.streams]
    streams = RowStreams(inputs)
    if not form.streams or not bring_streams(query, streams.wanted(form.dtype, query.streams)):
        if args.stream or args.reader:
            raise DataError("--stream and --reader are for data that have names of streams.")
        return form.rows(args.data, query.options, keep)
    if keep:
        raise DataError("--keep copies columns of a table, and samples by names have none.")
    demand_streams(query, [one.name for one in inputs])
    return rows_of_files(query, streams)


def _compared(simulated: SimulatedNetwork, model: Model, args: argparse.Namespace) -> AnswersApart:
    form = simulated.form
    own = ModelForm.of(model)
    if form.streams and own.classes and form.classes and len(own.classes) == len(form.classes):
        # Such a model has no names of its own.
        model.name_classes(form.classes)
        own = ModelForm.of(model)
    if (own.encoding, own.streams, own.classes) != (form.encoding, form.streams, form.classes):
        raise CompileError(
            f"{args.compare}: the manifest is of another model: its columns or classes differ. "
            "Name the one that it was compiled from."
        )
    found = ComparedAnswers(form.objective)
    for part in _rows(form, args):
        outputs = model.compute(part.features)
        found.add(simulated.compute(part.features), outputs)
    return found.result()
