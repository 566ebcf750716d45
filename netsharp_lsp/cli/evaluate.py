"""`netsharp evaluate`: figures of a trained model on labelled data, beside a trivial baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.data import DataError
from netsharp_engine.graph import GraphError
from netsharp_engine.model import ModelError, evaluate
from netsharp_engine.train.runlog import plain
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
from netsharp_lsp.cli.console.terminal import complain, give, say
from netsharp_lsp.text.json_text import to_json

if TYPE_CHECKING:
    import argparse

    from netsharp_engine.data.answers import CriteriaReport, SampleQuery
    from netsharp_engine.model import Model
    from netsharp_engine.train import Report
    from netsharp_lsp.cli.console.progress import Display

DONE, FAILED = 0, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp evaluate` understands."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file, also one of another program")
    add("--format", choices=("text", "json"), default="text", help="the format of the output")
    add("--quiet", action="store_true", help="show no progress")
    add_device_argument(parser)
    add_network_arguments(parser)
    add_data_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate; 0 done, 2 could not run."""
    try:
        model = read_model(args.model)
        name_classes(model, args.classes)
        device = choose_device(model, args)
        if device is not None and not args.quiet:
            complain(device)
        query = sample_query(model, args, ())
        with choose_display(args.quiet) as display:
            criteria = _criteria(model, query)
            alone = criteria is not None and not criteria.of_rows
            report = None if alone else _reported(model, query, display)
    except (DataError, GraphError, ModelError) as error:
        complain(str(error))
        return FAILED
    if args.format == "json":
        found = {"version": 1, **({} if report is None else report.to_json())}
        if criteria is not None:
            found |= {"samples": criteria.samples, "criteria": dict(criteria.means)}
        give(f"{to_json(plain(found), indent=2, allow_nan=False)}\n")
        return DONE
    say([*([] if report is None else report.lines()), *([criteria.line] if criteria else [])])
    return DONE


def _criteria(model: Model, query: SampleQuery) -> CriteriaReport | None:
    """Return the values of the network's own criteria on data that have its streams."""
    network = model.network
    if network is not None and query.reading is not None:
        return network.criteria_on(query)
    if network is None or not (network.over_time or network.brought_by(query)):
        return None
    return network.criteria_on(query) if network.over_time or network.has_criteria else None


def _reported(model: Model, query: SampleQuery, display: Display) -> Report:
    """Return the figures beside those of a trivial baseline."""
    return evaluate(
        model, query.paths, query.options, directory=query.directory, progress=display.reading
    )
