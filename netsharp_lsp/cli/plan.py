"""`netsharp plan`: what a device would run in a step of training, before anything is created.

No data is needed, and none of the device: only the package of its family.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from netsharp_engine.backends import AUTO, choose, planner, title_of
from netsharp_engine.graph import GraphError
from netsharp_engine.memory import shown_bytes
from netsharp_engine.planned import Planned, planned
from netsharp_engine.program import Unusable, drafted
from netsharp_engine.train import TrainingError
from netsharp_engine.train.drafting.drafts import expected_objective, run_jobs
from netsharp_engine.train.steps.quantizing import quantized_graph
from netsharp_lsp.cli.arguments.context import add_context_arguments
from netsharp_lsp.cli.arguments.settings import add_settings_arguments, roots_for, settings_finder
from netsharp_lsp.cli.arguments.training import add_setting_arguments
from netsharp_lsp.cli.console.terminal import complain, give, say
from netsharp_lsp.cli.specifications.faults import show_errors
from netsharp_lsp.cli.specifications.settings_beside import settings_beside
from netsharp_lsp.cli.specifications.subjects import SubjectError, read_subject
from netsharp_lsp.context import FIELDS
from netsharp_lsp.language import family_of, language_for, trained_families
from netsharp_lsp.memory import uncollected
from netsharp_lsp.settings import SettingsError
from netsharp_lsp.text.json_text import to_json

if TYPE_CHECKING:
    import argparse

    from netsharp_engine.backends import Device
    from netsharp_engine.planned import PlannedCall
    from netsharp_engine.program import Job
    from netsharp_engine.train import TrainingSettings
    from netsharp_lsp.cli.specifications.subjects import Subject

DONE, FAULTY, FAILED = 0, 1, 2
#: Settings of a run that say what is computed.
FLAGS = (
    *("device", "precision", "batch_size", "optimizer", "momentum", "dtype", "loss", "dropout"),
    *("quantize", "max_norm"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp plan` understands."""
    add = parser.add_argument
    add("specification", metavar="SPEC", help="a specification, HOST::NAME, REVISION:FILE, or -")
    add("--stdin-filename", metavar="NAME", help="what the specification from '-' is called")
    add("--format", choices=("text", "json"), default="text", help="how to say it")
    add_context_arguments(parser)
    add_setting_arguments(parser, ("train",), FLAGS)
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Plan; 0 done, 1 where the specification has errors, 2 where it cannot be planned."""
    return uncollected(lambda: _run(args))


def _run(args: argparse.Namespace) -> int:
    name = args.specification
    try:
        roots = roots_for([(args.stdin_filename or ".") if name == "-" else name], args)
        find = settings_finder(args, roots)
        subject = read_subject(name, args, find, roots, args.stdin_filename)
        if show_errors(subject.name, subject.text, subject.context, subject.embedded):
            return FAULTY
        settings = settings_beside(subject, {flag: getattr(args, flag) for flag in FLAGS}, roots)
        device, found = _planned(subject, settings)
    except (SettingsError, SubjectError) as error:
        complain(str(error))
        return FAILED
    if args.format == "json":
        give(f"{to_json(as_json(device, found), indent=2)}\n")
    else:
        say(_lines(device, found))
    return DONE


def _planned(subject: Subject, settings: TrainingSettings) -> tuple[Device, Planned]:
    """Return the device and what it would run; SubjectError where it cannot."""
    trained = family_of(language_for(subject.name).id)
    if trained.training is None:
        raise SubjectError(
            f"{subject.name}: {trained_families()} is planned, and this is {trained.title}."
        )
    known = {field: getattr(subject.context, field) for field in FIELDS}
    try:
        graph = trained.training.build_graph(subject.text.decode(), known)
        graph = quantized_graph(graph, settings.quantize)
        objective = expected_objective(graph, settings)
        job, _ = run_jobs(graph, objective, settings, settings.batch_size)
        device = _device(settings, job)
        found = planned(drafted(device.backend, job))
    except (GraphError, TrainingError) as error:
        raise SubjectError(f"{subject.name}: {error}") from None
    if found is None:
        raise SubjectError(f"{subject.name}: {device.name} does not report what it would run.")
    return device, found


def _device(settings: TrainingSettings, job: Job) -> Device:
    """Return what would compute; it need not be here unless the choice is left to us."""
    from netsharp_engine.backends import Device

    precision = settings.precision or ""
    if settings.device == AUTO:
        chosen = choose(AUTO, [job], precision)
        if isinstance(chosen, Unusable):
            raise SubjectError(str(chosen))
        return chosen
    made = planner(settings.device, precision)
    if isinstance(made, Unusable):
        raise SubjectError(f"device = {settings.device}: {made}")
    name = getattr(made, "name", settings.device)
    return Device(str(name), made, title_of(made), "it was asked for")


def as_json(device: Device, found: Planned) -> dict[str, Any]:
    """Return the document of `schemas/plan.json`."""
    return {
        "version": 1,
        "device": device.name,
        "why": device.why,
        "rows": found.rows,
        "dtype": found.dtype,
        "calls": [
            {
                "stage": call.stage,
                "kernel": call.kernel,
                "formulas": list(call.formulas),
                "reads": list(call.reads),
                "writes": list(call.writes),
                "layer": call.layer,
                "origin": call.origin,
                "trips": call.trips,
            }
            for call in found.calls
        ],
        "merged": found.merged,
        "buffers": [
            {
                "name": buffer.name,
                "space": buffer.space,
                "offset": buffer.offset,
                "bytes": buffer.size,
                "shape": list(buffer.shape),
            }
            for buffer in found.buffers
        ],
        "bytes": sum(buffer.size for buffer in found.buffers),
        "sent_bytes": found.sent,
        "received_bytes": found.received,
    }


def _lines(device: Device, found: Planned) -> Iterator[str]:
    yield (
        f"A step of {found.rows:,} rows in {found.dtype} on {device.name}: "
        f"{len(found.calls):,} calls, {found.merged:,} operations merged in others"
    )
    stage = ""
    for call in found.calls:
        if call.stage != stage:
            stage = call.stage
            yield stage
        yield f"  {_line(call)}"
    yield "buffers"
    width = max((len(buffer.name) for buffer in found.buffers), default=0)
    for buffer in found.buffers:
        place = "" if buffer.offset is None else f" at {buffer.offset:,}"
        shape = " x ".join(map(str, buffer.shape))
        yield f"  {buffer.name:<{width}} {buffer.space}{place}, {buffer.size:,} bytes, [{shape}]"
    total = sum(buffer.size for buffer in found.buffers)
    yield f"{shown_bytes(total)} of buffers; {_crossing(found)}"


def _line(call: PlannedCall) -> str:
    formula = " + ".join(call.formulas)
    trips = "" if call.trips is None else f", {call.trips:,} trips"
    place = f"  ({call.origin})" if call.origin else ""
    arrow = f": {', '.join(call.reads)} -> {', '.join(call.writes)}" if call.writes else ""
    return f"{call.kernel} [{formula}]{arrow}{trips}{place}"


def _crossing(found: Planned) -> str:
    if not found.sent and not found.received:
        return "nothing crosses: the device is the host"
    return f"a step sends {found.sent:,} bytes and brings {found.received:,} back"
