"""Model files as commands use them: loading with its network, finding the data's flags."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from netsharp_engine.plain_files import open_plain
from netsharp_engine.train.settings.keys import MISSING
from netsharp_lsp.cli.arguments.parser import positive
from netsharp_lsp.language import read_model as model_in
from netsharp_lsp.memory import settled

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from netsharp_engine.cntk.samples.given import SampleReading
    from netsharp_engine.data import ReadOptions
    from netsharp_engine.data.answers import SampleQuery
    from netsharp_engine.model import Model


def read_model(path: str) -> Model:
    """Read a model and build its network.  Raises ModelError."""
    return settled(lambda: model_in(path))


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say how rows for a model are read."""
    group = parser.add_argument_group("the table")
    group.add_argument("--data", nargs="+", required=True, metavar="FILE", help="files or globs")
    group.add_argument("--labels", nargs="+", metavar="FILE", help="IDX label files")
    group.add_argument("--label", metavar="COLUMN", help="the label column")
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--header", action="store_true", default=None, help="the first row holds column names"
    )
    header.add_argument(
        "--no-header", dest="header", action="store_false", help="the first row holds values"
    )
    group.add_argument("--delimiter", metavar="CHARACTER", help="the character between cells")
    group.add_argument("--decimal", metavar="WORD", help="comma or point in numbers")
    group.add_argument("--encoding", metavar="NAME", help="how text is encoded")
    group.add_argument(
        "--missing",
        choices=MISSING,
        help="what to do with missing numbers (default: as in training)",
    )
    group.add_argument("--rows", type=positive, metavar="N", help="read only the first N rows")


def add_device_argument(parser: argparse.ArgumentParser) -> None:
    """Add the flag that says what computes."""
    parser.add_argument(
        "--device",
        metavar="DEVICE",
        help="the device: auto, cpu (the default), torch[:cuda|mps|xpu|cpu] or wgpu[:NAME]",
    )


def choose_device(model: Model, args: argparse.Namespace) -> str | None:
    """Move a model to the device that is asked for, and return a sentence that names it.

    None where no device is asked for; raises ModelError where it cannot be used.
    """
    return None if args.device is None else model.compute_on(args.device)


def add_network_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of models whose networks go by names of nodes, as CNTK's do."""
    group = add_stream_arguments(parser)
    group.add_argument("--classes", metavar="FILE", help="names of the classes, one a line")


def add_stream_arguments(parser: argparse.ArgumentParser) -> argparse._ActionsContainer:
    """Add the flags that say how files bring the inputs of such a network."""
    group = parser.add_argument_group("a model of another program")
    group.add_argument(
        "--stream",
        action="append",
        default=[],
        metavar="INPUT=STREAM",
        help="the name in the data of an input; may be repeated",
    )
    add_reader_argument(group)
    return group


def add_reader_argument(group: argparse._ActionsContainer) -> None:
    """Add the flag that names a reader of images."""
    group.add_argument(
        "--reader",
        nargs="+",
        default=[],
        metavar="ITEM",
        help="read image lists as the reader of this run does: CONFIGURATION command=test",
    )


def reading_of(items: Sequence[str], data: Sequence[str]) -> SampleReading | None:
    """Return the reader of data that a run uses, None where no run is named.

    Its roots are those of the run and of the data.  Raises DataError.
    """
    if not items:
        return None
    from netsharp_engine.data.reading.files import find_files
    from netsharp_lsp.language import sample_reading
    from netsharp_lsp.project.roots import roots_around
    from netsharp_lsp.questions import Performance
    from netsharp_lsp.settings import Settings

    named = find_files(list(data), os.curdir)
    return sample_reading(
        Performance(
            items,
            os.curdir,
            lambda run: roots_around([*run, *named]),
            lambda folder, roots: Settings(),
        )
    )


def sample_query(model: Model, args: argparse.Namespace, outputs: Sequence[str]) -> SampleQuery:
    """Return which samples a network is asked about; ModelError where a flag cannot be read."""
    query = files_query(args, args.data, read_options(model, args))
    if query.reading is not None and model.network is None:
        raise _misused("--reader is for networks of another program, whose inputs have names.")
    return query._replace(outputs=outputs)


def files_query(
    args: argparse.Namespace, paths: Sequence[str], options: ReadOptions
) -> SampleQuery:
    """Return the samples that the flags of `add_network_arguments` mean.

    Raises ModelError where a file cannot be read.
    """
    from netsharp_engine.data.answers import SampleQuery

    streams = {}
    for given in args.stream:
        name, equals, stream = given.partition("=")
        if not (name and equals and stream):
            raise _misused(f"--stream {given}: INPUT=STREAM is expected, as in features=S0.")
        streams[name] = stream
    reading = reading_of(args.reader, paths)
    return SampleQuery(paths, options, streams, (), os.curdir, reading)


def name_classes(model: Model, path: str | None) -> None:
    """Give classes the names in a file, one a line; ModelError where they do not fit."""
    if path is None:
        return
    if model.network is None:
        raise _misused(f"--classes {path}: this model has the names of its classes in it.")
    try:
        with open_plain(path) as stream:
            names = stream.read().decode("utf-8", "replace").split()
        model.name_classes(names)
    except OSError as error:
        raise _misused(f"{path}: cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise _misused(f"{path}: {error}") from None


def _misused(sentence: str) -> Exception:
    from netsharp_engine.model import ModelError

    return ModelError(sentence)


def read_options(model: Model, args: argparse.Namespace) -> ReadOptions:
    """Return the options for reading the model's data, with those of flags."""
    return changed_options(model.read_options(), args)


def changed_options(options: ReadOptions, args: argparse.Namespace) -> ReadOptions:
    """Return options for reading data, with those of the flags of ``add_data_arguments``."""
    given = {
        "label": args.label,
        "labels": tuple(args.labels) if args.labels else None,
        "header": args.header,
        "delimiter": args.delimiter,
        "decimal": args.decimal,
        "encoding": args.encoding,
        "filling": args.missing,
        "rows": args.rows,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if args.label is not None:
        changes["more_labels"] = ()
    return replace(options, **changes)
