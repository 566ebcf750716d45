"""`netsharp compile`: a trained network as C99 in integers, with tables between its layers."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from netsharp_compile.compiled import explain_model
from netsharp_compile.evaluating.pages import report_values
from netsharp_compile.refusal import CompileError
from netsharp_compile.writing.c_files import require_prefix
from netsharp_compile.writing.ending import ANSWERS
from netsharp_compile.writing.packages import PACKAGES
from netsharp_compile.writing.products.targets import TARGETS
from netsharp_engine.data import DataError
from netsharp_engine.model import ModelError
from netsharp_lsp.cli.arguments.compiling import NOT_EVALUATED, about_model, compiled_as_asked
from netsharp_lsp.cli.arguments.models import add_network_arguments, read_model
from netsharp_lsp.cli.arguments.quantisation import add_quantisation, settings_of
from netsharp_lsp.cli.console.terminal import complain, give_exactly, say
from netsharp_lsp.cli.inputs.device_room import add_room_arguments, device_room
from netsharp_lsp.settings import SettingsError

if TYPE_CHECKING:
    from netsharp_compile.compiled import CompiledNetwork
    from netsharp_lsp.cli.arguments.compiling import AskedNetwork

DONE, LOST, FAILED = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp compile` understands."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="a trained model file")
    add("--output", metavar="DIR", help="the folder to write to")
    add("--report", metavar="DIR", help="a folder for the report alone")
    add("--explain", action="store_true", help="print the plan, without data, and write nothing")
    add_quantisation(parser)
    add(
        "--answers",
        choices=ANSWERS,
        default=ANSWERS[0],
        help="also generate a function that returns the class, or probabilities",
    )
    add(
        "--target",
        choices=TARGETS,
        default=TARGETS[0],
        help="the processors that the code is for; results are the same bits on all",
    )
    add(
        "--package",
        choices=PACKAGES,
        help="lay the files out for a build system, with what it reads and an example",
    )
    add("--prefix", default="net", help="the prefix of names in C (default: %(default)s)")
    add("--format", choices=("text", "json"), default="text", help="the format of the report")
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
        made, _, notes = _compiled(args)
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
        is_of_model = isinstance(error, CompileError)
        complain(about_model(args.model, error) if is_of_model else str(error))
        return FAILED
    except OSError as error:
        complain(f"{error.filename or args.output}: cannot be written: {error.strerror}.")
        return FAILED
    if args.format == "json":
        found = {"version": 1, "files": names, "report": report_values(made.report)}
        give_exactly(f"{json.dumps(found, indent=2)}\n".encode())
    else:
        notice = [] if gate is not None else [NOT_EVALUATED]
        written = [f"{args.output}: {', '.join(names)}"] if names else []
        say([*notes, *str(made.report).splitlines(), *notice, *written])
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
    """Return why a network is not written without --force."""
    gate, room = made.report.gate, made.report.room
    lost = gate is not None and not gate.is_met
    full = room is not None and not room.is_met
    return [
        *(["more is lost than --max-drop allows"] if lost else []),
        *(["the device has no room for it"] if full else []),
    ]


def _explain(args: argparse.Namespace) -> None:
    pairs = explain_model(read_model(args.model), settings_of(args))
    if args.format == "json":
        found = {"version": 1, "pairs": [one._asdict() for one in pairs]}
        give_exactly(f"{json.dumps(found, indent=2)}\n".encode())
    else:
        say(map(str, pairs))


def _compiled(args: argparse.Namespace) -> AskedNetwork:
    if args.output is None:
        raise CompileError("name the folder that is written with --output, or ask with --explain.")
    settings_of(args)
    require_prefix(args.prefix)
    return compiled_as_asked(args, read_model(args.model), device_room(args))
