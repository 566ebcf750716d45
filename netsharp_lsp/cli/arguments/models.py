"""Model files as commands use them: loading with its network, finding the data's flags."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from netsharp_lsp.cli.arguments.parser import positive
from netsharp_lsp.language import read_model as model_in
from netsharp_lsp.memory import settled

if TYPE_CHECKING:
    import argparse

    from netsharp_engine.data import ReadOptions
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
    header.add_argument("--header", action="store_true", default=None, help="the first row is one")
    header.add_argument("--no-header", dest="header", action="store_false", help="there is none")
    group.add_argument("--delimiter", metavar="CHARACTER", help="what separates cells")
    group.add_argument("--missing", choices=("error", "mean", "zero"), help="for missing numbers")
    group.add_argument("--rows", type=positive, metavar="N", help="read only so many rows")


def read_options(model: Model, args: argparse.Namespace) -> ReadOptions:
    """How the model's data is read, with what the flags change."""
    given = {
        "label": args.label,
        "labels": tuple(args.labels) if args.labels else None,
        "header": args.header,
        "delimiter": args.delimiter,
        "missing": args.missing,
        "rows": args.rows,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    return replace(model.read_options(), **changes)
