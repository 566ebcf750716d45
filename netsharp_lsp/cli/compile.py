"""`netsharp compile`: a trained network as C99 in integers, with tables between its layers."""

from __future__ import annotations

import argparse
import json
import os
from typing import TYPE_CHECKING

from netsharp_compile.calibrating.ranges import RANGES, USUAL_PERCENT
from netsharp_compile.compiled import compile_model, explain_model
from netsharp_compile.judging.gate import USUAL_DROP, USUAL_ERROR, GateRows
from netsharp_compile.judging.pages import report_values
from netsharp_compile.refusal import CompileError
from netsharp_compile.widths import (
    ACTIVATIONS,
    LOGITS,
    REQUANTISATIONS,
    TRANSFERS,
    WEIGHTS,
    CompileSettings,
)
from netsharp_compile.writing.c_files import require_prefix
from netsharp_compile.writing.c_rows import TARGETS
from netsharp_compile.writing.ending import ANSWERS
from netsharp_compile.writing.packages import PACKAGES
from netsharp_engine.data import DataError
from netsharp_engine.model import ModelError
from netsharp_lsp.cli.arguments.models import (
    add_network_arguments,
    files_query,
    name_classes,
    read_model,
)
from netsharp_lsp.cli.arguments.parser import not_negative
from netsharp_lsp.cli.console.terminal import complain, give_exactly, say
from netsharp_lsp.cli.inputs.compile_rows import NamedRows, compile_rows
from netsharp_lsp.cli.inputs.device_room import add_room_arguments, device_room
from netsharp_lsp.language import trained_on
from netsharp_lsp.project.roots import roots_around
from netsharp_lsp.questions import Performance
from netsharp_lsp.settings import SettingsError, SettingsFinder

if TYPE_CHECKING:
    from netsharp_compile.compiled import CompiledNetwork
    from netsharp_engine.data.answers import SampleQuery
    from netsharp_engine.model import Model
    from netsharp_lsp.outcome import TrainedOn
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.settings import Settings

DONE, LOST, FAILED = 0, 1, 2
_UNJUDGED = (
    "note: no rows were held back that could judge it: name labelled ones with --holdout, or train "
    "with validation rows"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp compile` understands."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="a trained model file")
    add("--output", metavar="DIR", help="the folder that is written")
    add("--report", metavar="DIR", help="a folder for the report alone, whatever else is written")
    add("--explain", action="store_true", help="print the plan, without data, and write nothing")
    add(
        "--calibrate",
        nargs="+",
        metavar="DATA",
        help="rows from which ranges are read (default: those of the training)",
    )
    add(
        "--holdout",
        nargs="+",
        metavar="DATA",
        help="labelled rows that judge the result (default: those for validation or test)",
    )
    add(
        "--run-file",
        metavar="FILE",
        help="what names those rows where the model's own are not there (default: the run file "
        "beside the model)",
    )
    add(
        "--activations",
        default=ACTIVATIONS[0],
        metavar="|".join((*ACTIVATIONS, "uint10", "int16/12", "...")),
        help="kind and bits of features and hidden operands; behind / those by which a table is "
        "looked up (default: %(default)s)",
    )
    add(
        "--layer",
        action="append",
        default=[],
        metavar="NAME=WIDTH",
        help="the same for one layer or input; repeated for others",
    )
    add("--weights", choices=WEIGHTS, default=WEIGHTS[0], help="a scale for each node, or a layer")
    add(
        "--requant",
        choices=REQUANTISATIONS,
        default=REQUANTISATIONS[0],
        help="how sums become codes: by a multiplier, or by a shift alone, which scales of weights "
        "are then chosen for; auto shifts where that loses nothing",
    )
    add(
        "--transfer",
        choices=TRANSFERS,
        default=TRANSFERS[0],
        help="how codes of sums become those of values: by tables, or by formulas in fixed point, "
        "for comparison",
    )
    add("--big-tables", action="store_true", help="allow tables of more than 4,096 entries")
    add("--logits", choices=LOGITS, default=LOGITS[0], help="the answers")
    add(
        "--share-tables",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="the same range for bounded operators, so that layers share a table",
    )
    add(
        "--range",
        default=RANGES[0],
        metavar="|".join((*RANGES[:2], f"{RANGES[2]}:{USUAL_PERCENT:g}", *RANGES[3:])),
        help="what codes cover of what the rows show (default: %(default)s)",
    )
    add(
        "--answers",
        choices=ANSWERS,
        default=ANSWERS[0],
        help="beside the values: a call for the class, or one for probabilities",
    )
    add(
        "--target",
        choices=TARGETS,
        default=TARGETS[0],
        help="the processors that the code is for; all give the same bits",
    )
    add(
        "--package",
        choices=PACKAGES,
        help="lay the files out for a build system, with what it reads and an example",
    )
    add(
        "--max-drop",
        type=not_negative,
        metavar="POINTS",
        help="percentage points of accuracy that may be lost on the rows held back (default: "
        f"{USUAL_DROP:g}); of a regression the percentage of their spread that answers may be off "
        f"(default: {USUAL_ERROR:g})",
    )
    add(
        "--auto-widths",
        action="store_true",
        help="where more is lost, take the cheapest wider operands that pass",
    )
    add("--force", action="store_true", help="write what loses more, or does not fit, too")
    add("--prefix", default="net", help="what names in C begin with (default: %(default)s)")
    add("--format", choices=("text", "json"), default="text", help="of the report")
    add_room_arguments(parser)
    add_network_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Compile a network and write its files; 0 done, 1 worse or larger than allowed, 2 could not
    run.
    """
    try:
        if args.explain:
            _explain(args)
            return DONE
        made, notes = _compiled(args)
        how = {"answers": args.answers, "package": args.package, "target": args.target}
        gate, reasons = made.report.gate, _refused(made)
        if args.report is not None and not made.write_report(args.report):
            raise CompileError(
                f"{args.report} holds more than a report: give a folder that is new."
            )
        if reasons and not args.force:
            names = made.write_report(args.output)
        else:
            names = made.write(args.output, args.prefix, **how)
    except (CompileError, DataError, ModelError, SettingsError) as error:
        complain(f"{args.model}: {error}" if isinstance(error, CompileError) else str(error))
        return FAILED
    except OSError as error:
        complain(f"{error.filename or args.output}: cannot be written: {error.strerror}.")
        return FAILED
    if args.format == "json":
        found = {"version": 1, "files": names, "report": report_values(made.report)}
        give_exactly(f"{json.dumps(found, indent=2)}\n".encode())
    else:
        unjudged = [] if gate is not None else [_UNJUDGED]
        written = [f"{args.output}: {', '.join(names)}"] if names else []
        say([*notes, *str(made.report).splitlines(), *unjudged, *written])
    if not reasons:
        return DONE
    if args.force:
        done = "It was written all the same."
    elif names:
        done = f"Only the report was written, {args.output}/report.md; --force writes it."
    else:
        done = f"{args.output} stays as it was; --force writes it."
    complain(f"{args.model}: {', and '.join(reasons)}. {done}")
    return LOST


def _refused(made: CompiledNetwork) -> list[str]:
    """Why a network is not written unless somebody insists."""
    gate, room = made.report.gate, made.report.room
    lost = gate is not None and not gate.is_met
    full = room is not None and not room.is_met
    return [
        *(["more is lost than --max-drop allows"] if lost else []),
        *(["the device has no room for it"] if full else []),
    ]


def _explain(args: argparse.Namespace) -> None:
    pairs = explain_model(read_model(args.model), _settings(args))
    if args.format == "json":
        found = {"version": 1, "pairs": [one._asdict() for one in pairs]}
        give_exactly(f"{json.dumps(found, indent=2)}\n".encode())
    else:
        say(map(str, pairs))


def _settings(args: argparse.Namespace) -> CompileSettings:
    layers = []
    for given in args.layer:
        name, equals, width = given.rpartition("=")
        if not (name and equals and width):
            raise CompileError(f"--layer {given}: NAME=WIDTH is expected, as in Hidden=uint10.")
        layers.append((name, width))
    return CompileSettings(
        activations=args.activations,
        weights=args.weights,
        logits=args.logits,
        share_tables=args.share_tables,
        range=args.range,
        layers=tuple(layers),
        requant=args.requant,
        big_tables=args.big_tables,
        transfer=args.transfer,
    )


def _compiled(args: argparse.Namespace) -> tuple[CompiledNetwork, list[str]]:
    """The network in integers, and notes on what nobody named."""
    if args.output is None:
        raise CompileError("name the folder that is written with --output, or ask with --explain.")
    settings = _settings(args)
    require_prefix(args.prefix)
    room = device_room(args)
    model = read_model(args.model)
    if model.network is not None:
        if args.run_file is not None:
            raise CompileError("--run-file is for models of specifications; name rows themselves.")
        explain_model(model, settings)  # What cannot be compiled is said before which rows lack.
    elif args.stream or args.reader:
        raise CompileError("--stream and --reader are for models whose inputs have names.")
    trained = _Trained(args.model, model)
    calibration, held_back = (_query(model, args, one) for one in (args.calibrate, args.holdout))
    named = NamedRows(calibration, held_back, args.run_file)
    rows = compile_rows(model, args.model, named, trained)
    notes = [*([f"note: {rows.said}"] if rows.said else []), *_name_classes(model, args, trained)]
    gate = None
    if rows.held_back is not None:
        gate = GateRows(rows.held_back, rows.what, args.max_drop)
    elif args.max_drop is not None:
        raise CompileError(
            "--max-drop is about rows that were held back, and the training had none for "
            "validation or test: name labelled ones with --holdout."
        )
    made = compile_model(
        model, rows.calibration, settings, gate, auto_widths=args.auto_widths, room=room
    )
    return made, notes


def _query(model: Model, args: argparse.Namespace, paths: list[str] | None) -> SampleQuery | None:
    return files_query(args, paths, model.read_options()) if paths else None


class _Trained:
    """What a model of another program was trained on, looked for once."""

    def __init__(self, path: str, model: Model) -> None:
        self._path, self._model = path, model
        self._found: list[TrainedOn | None] = []

    def __call__(self) -> TrainedOn | None:
        """Return it; DataError where it cannot be told."""
        if not self._found:
            label = "" if self._model.network is None else self._model.network.compared
            asked = Performance((), os.curdir, roots_around, _settings_of)
            self._found.append(trained_on(self._path, label, asked))
        return self._found[0]


def _settings_of(folder: str, roots: Roots) -> Settings:
    return SettingsFinder(roots.leads_out, complain).find(folder)


def _name_classes(model: Model, args: argparse.Namespace, trained: _Trained) -> list[str]:
    """Give classes the names of a file that is named, else of the mapping of the run."""
    if args.classes is not None or model.network is None or model.classes is None:
        name_classes(model, args.classes)
        return []
    try:
        found = trained()
    except DataError:
        return []
    if found is None or not found.classes:
        return []
    try:
        model.name_classes(found.classes)
    except ValueError as error:
        return [f"note: classes are numbered, as their mapping does not fit. {error}"]
    return []
