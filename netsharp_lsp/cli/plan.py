"""`netsharp plan`: what a device would run in a step of training, before anything is created.

No data is needed, and none of the device: only the package of its family.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from netsharp_engine.backends import AUTO, CPU, choose, planner, title_of
from netsharp_engine.graph import GraphError
from netsharp_engine.memory import shown_bytes
from netsharp_engine.planned import Planned, planned
from netsharp_engine.program import Unusable, drafted
from netsharp_engine.train import TrainingError
from netsharp_engine.train.drafting.drafts import expected_objective, run_jobs
from netsharp_engine.train.steps.quantizing import quantized_graph
from netsharp_lsp.cli.arguments.context import add_context_arguments
from netsharp_lsp.cli.arguments.experiments import show_answer
from netsharp_lsp.cli.arguments.settings import add_settings_arguments, roots_for, settings_finder
from netsharp_lsp.cli.arguments.training import add_setting_arguments
from netsharp_lsp.cli.console.terminal import complain, give, say
from netsharp_lsp.cli.experiment_run import experiments_meant, unfitting
from netsharp_lsp.cli.specifications.faults import show_errors
from netsharp_lsp.cli.specifications.settings_beside import settings_beside
from netsharp_lsp.cli.specifications.subjects import SubjectError, read_subject
from netsharp_lsp.context import FIELDS
from netsharp_lsp.language import family_of, language_for, trained_families
from netsharp_lsp.memory import uncollected
from netsharp_lsp.questions import Performance
from netsharp_lsp.settings import SettingsError
from netsharp_lsp.text.json_text import to_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from netsharp_engine.backends import Device
    from netsharp_engine.planned import PlannedCall
    from netsharp_engine.program import Backend, Job
    from netsharp_engine.train import TrainingSettings
    from netsharp_lsp.cli.specifications.subjects import Subject
    from netsharp_lsp.family import Experiments
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.settings import Settings

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
    add("items", nargs="*", metavar="KEY=VALUE", help="assignments to a configuration")
    add(
        "--cd",
        metavar="DIR",
        default="",
        help="the folder that a configuration's paths are relative to",
    )
    add("--stdin-filename", metavar="NAME", help="the file name to report for '-'")
    add("--format", choices=("text", "json"), default="text", help="the format of the output")
    add_context_arguments(parser)
    add_setting_arguments(parser, ("train",), FLAGS)
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Plan; 0 done, 1 where the specification has errors, 2 where it cannot be planned."""
    experiments = experiments_meant((args.specification,))
    if experiments is not None:
        return uncollected(lambda: _run_experiment(experiments, args))
    return uncollected(lambda: _run(args))


def _run(args: argparse.Namespace) -> int:
    name = args.specification
    if args.items or args.cd:
        odd = args.items[0] if args.items else "--cd"
        complain(f"'{odd}' goes with a configuration, and {name} is a specification.")
        return FAILED
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
    _show(args, device, found)
    return DONE


def _show(args: argparse.Namespace, device: Device, found: Planned) -> None:
    if args.format == "json":
        give(f"{to_json(as_json(device, found), indent=2)}\n")
    else:
        say(_lines(device, found))


def _run_experiment(experiments: Experiments, args: argparse.Namespace) -> int:
    """Plan the trainings of a configuration; as a document one of them alone."""

    def around(named: Iterable[str]) -> Roots:
        return roots_for(named, args)

    def settings_for(folder: str, roots: Roots) -> Settings:
        return settings_finder(args, roots)(folder)

    problem, name = unfitting(args), args.specification
    if problem is not None:
        complain(problem)
        return FAILED
    try:
        request = Performance((name, *args.items), args.cd, around, settings_for)
        answer, trainings = experiments.planned_trainings(request)
        if answer.code:
            show_answer(answer)
            return answer.code
        _require_trainings(name, [each.command for each in trainings], args.format)
        for each in trainings:
            device = _device(args.device or CPU, args.precision or "", each.job, each.processor)
            found = _found(f"{name}: {each.command}", device, each.job)
            if len(trainings) > 1:
                say([f"{each.command}:"])
            _show(args, device, found)
    except (SettingsError, SubjectError) as error:
        complain(str(error))
        return FAILED
    return DONE


def _require_trainings(name: str, commands: Sequence[str], form: str) -> None:
    """Raise SubjectError where no command trains, or several do and a document is asked for."""
    if not commands:
        raise SubjectError(f"{name}: no command trains, so nothing is planned.")
    if form == "json" and len(commands) > 1:
        names = ", ".join(commands)
        raise SubjectError(
            f"{name}: {names} train, and a document describes one: put command={commands[0]} after "
            "the name."
        )


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
    except (GraphError, TrainingError) as error:
        raise SubjectError(f"{subject.name}: {error}") from None
    device = _device(settings.device, settings.precision or "", job)
    return device, _found(subject.name, device, job)


def _found(name: str, device: Device, job: Job) -> Planned:
    """Return the calls that would run. Raises SubjectError where the device cannot report them."""
    try:
        found = planned(drafted(device.backend, job))
    except GraphError as error:
        raise SubjectError(f"{name}: {error}") from None
    if found is None:
        raise SubjectError(f"{name}: {device.name} does not report what it would run.")
    return found


def _device(device: str, precision: str, job: Job, processor: Backend | None = None) -> Device:
    """Return the device that would compute, ``processor`` on the processor where it is given; only
    ``auto`` requires it to be present.
    """
    from netsharp_engine.backends import Device

    if device == AUTO:
        chosen = choose(AUTO, [job], precision, processor)
        if isinstance(chosen, Unusable):
            raise SubjectError(str(chosen))
        return chosen
    made = planner(device, precision, processor)
    if isinstance(made, Unusable):
        raise SubjectError(f"device = {device}: {made}")
    name = getattr(made, "name", device)
    return Device(str(name), made, title_of(made), "requested")


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
