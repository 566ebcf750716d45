"""`netsharp evaluate`: figures of a trained model on labelled data, beside a trivial baseline."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from netsharp_engine.data import DataError
from netsharp_engine.model import ModelError, evaluate
from netsharp_engine.train.runlog import plain
from netsharp_lsp.cli.arguments.models import add_data_arguments, read_model, read_options
from netsharp_lsp.cli.console.progress import choose_display
from netsharp_lsp.cli.console.terminal import complain, give, say
from netsharp_lsp.text.json_text import to_json

if TYPE_CHECKING:
    import argparse

DONE, FAILED = 0, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp evaluate` understands."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file, of whatever program")
    add("--format", choices=("text", "json"), default="text", help="how to say it")
    add("--quiet", action="store_true", help="show no progress")
    add_data_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate; 0 done, 2 could not run."""
    try:
        model = read_model(args.model)
        with choose_display(args.quiet) as display:
            report = evaluate(
                model,
                args.data,
                read_options(model, args),
                directory=os.curdir,
                progress=display.reading,
            )
    except (DataError, ModelError) as error:
        complain(str(error))
        return FAILED
    if args.format == "json":
        values = plain({"version": 1, **report.to_json()})
        give(f"{to_json(values, indent=2, allow_nan=False)}\n")
    else:
        say(report.lines())
    return DONE
