"""`netsharp run`: train what a specification describes on a table of data.

Puts together specification, run file, data, engine, progress and files; computes nothing.
"""

from __future__ import annotations

import os
import sys
import zlib
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from netsharp_engine.data import DataError, find_files
from netsharp_engine.data.reading.arrays import beside_labels
from netsharp_engine.distributed.comm import CommError
from netsharp_engine.graph import GraphError
from netsharp_engine.model import ModelError, evaluate, load_model, save_model
from netsharp_engine.plain_files import may_be_file
from netsharp_engine.train import (
    TrainingError,
    catch_interrupts,
    examine,
    load_data,
    read_settings,
    settings_to_resume,
)
from netsharp_engine.train.tasks import OutputForm
from netsharp_lsp.cli.arguments.experiments import add_experiment_arguments
from netsharp_lsp.cli.arguments.settings import add_settings_arguments, roots_for
from netsharp_lsp.cli.arguments.training import add_setting_arguments, given_flags
from netsharp_lsp.cli.console.host_log import HostLog
from netsharp_lsp.cli.console.outlet import Outlet
from netsharp_lsp.cli.console.progress import choose_display
from netsharp_lsp.cli.console.terminal import complain, say
from netsharp_lsp.cli.experiment_run import experiments_meant, run_experiment
from netsharp_lsp.cli.inputs.files import STDIN, Input, named_input, read_source
from netsharp_lsp.cli.machines.asked import Machines, add_machine_arguments, machines_asked
from netsharp_lsp.cli.machines.emitting import slurm_script
from netsharp_lsp.cli.machines.joining import (
    LOST,
    DisagreementError,
    agreed,
    compared,
    compared_settings,
    in_turns,
    joined,
    met,
    model_to_resume,
    record,
    tell_restart,
    with_one_order,
)
from netsharp_lsp.cli.machines.launching import launch
from netsharp_lsp.cli.outputs.curve import CurveError, check_picture, spark_lines, write_curve
from netsharp_lsp.cli.specifications.calls import (
    Trainee,
    origins_of,
    show_settings,
    table_of,
    tell_call,
)
from netsharp_lsp.cli.specifications.faults import show_errors
from netsharp_lsp.cli.specifications.host_facts import host_facts
from netsharp_lsp.cli.specifications.start_report import event_of, show_start
from netsharp_lsp.cli.specifications.training import Training
from netsharp_lsp.context import FIELDS, Context
from netsharp_lsp.diagnostics.reports import FORMATS
from netsharp_lsp.language import families, family_of, main_family
from netsharp_lsp.memory import settled, uncollected
from netsharp_lsp.outcome import ReadError
from netsharp_lsp.project.writing import refusal, sweep_beside
from netsharp_lsp.settings import SettingsError, read_toml
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from netsharp_engine.graph import Graph
    from netsharp_engine.model import Model
    from netsharp_engine.train import TrainingData, TrainingResult, TrainingSettings
    from netsharp_lsp.project.roots import Roots

    BuildGraph = Callable[[str, Mapping[str, Any]], Graph]

DONE, FAULTY, FAILED = 0, 1, 2
#: How models of a configuration are written, first as its program does.
MODEL_FORMATS = ("original", "safetensors")
#: What a specification from stdin is called, but for its suffix, unless somebody names it.
STDIN_STEM = "network"
#: Settings that name files which are read, and which are written.
INPUTS, OUTPUTS = ("train", "test", "labels", "validation"), ("model", "log", "plot")
#: What came of a run, as an exit code; that of an interrupted one says by what.
EXITS = {"finished": DONE, "early": DONE, "diverged": FAULTY}


class RunError(Exception):
    """A run that cannot start, as one or more sentences."""

    def __init__(self, *sentences: str) -> None:
        super().__init__(" ".join(sentences))
        self.sentences = sentences


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp run` understands: every setting is also a flag."""
    add = parser.add_argument
    add("specification", metavar="SPEC", help="the specification to train, or a configuration")
    add("items", metavar="ITEM", nargs="*", help="behind a configuration: A+B, KEY=VALUE")
    add("--stdin-filename", metavar="NAME", help="what the specification from '-' is called")
    add("--run-file", metavar="FILE", help="settings; by default the .toml beside SPEC")
    add("--resume", action="store_true", help="continue the run whose model is there")
    add("--show-settings", action="store_true", help="print every setting and its origin, and stop")
    add("--quiet", action="store_true", help="show no progress and no report")
    add("--events", action="store_true", help="print the run log instead of progress and report")
    add("--rx-log", action="store_true", help="print the log of the hosts instead of progress")
    add("--examine", action="store_true", help="look at how the training would start, and stop")
    add("--format", choices=FORMATS, default="text", help="how --examine writes what it saw")
    add_settings_arguments(parser)
    group = add_experiment_arguments(parser)
    group.add_argument("--cd", metavar="DIR", default="", help="the folder that paths start from")
    add = group.add_argument
    versions = ("2016-11", "2016-08")
    add("--cntk-log", choices=versions, help="print the log of the original program")
    add("--model-format", choices=MODEL_FORMATS, help="how its models are written")
    add("--allow-commands", action="store_true", help="start the programs that it names")
    add_machine_arguments(parser)
    add_setting_arguments(parser, ("data", "train", "output"))


def run(args: argparse.Namespace) -> int:
    """Train; 0 done, 1 faulty specification or diverged, 2 could not run or write all that is
    asked for, 130 interrupted (143 by SIGTERM, 129 by SIGHUP).
    """
    experiments = experiments_meant((args.specification, *args.items))
    if experiments is not None and args.rx_log:
        complain(f"{args.specification}: --rx-log goes with a specification. Use --cntk-log.")
        return FAILED
    if experiments is not None and args.examine:
        complain(f"{args.specification}: only the start of a specification's run is looked at.")
        return FAILED
    machines = machines_asked(args)
    if isinstance(machines, str):
        complain(machines)
        return FAILED

    def work() -> int:
        if experiments is not None:
            return run_experiment(experiments, args, machines)
        return _run(args, machines)

    code = _told(work, machines)
    if machines is None or not machines.joined:
        return code
    if code == LOST:
        return code
    if machines.speaks:
        record(code)
    return DONE


def _told(work: Callable[[], int], machines: Machines | None) -> int:
    """Do the work, and tell what is in the way."""
    sentences: Sequence[str]
    code = FAILED
    try:
        return work()
    except (RunError, DisagreementError) as error:
        sentences = error.sentences
    except (DataError, TrainingError, ModelError, GraphError, CurveError) as error:
        sentences = str(error).splitlines()
    except CommError as error:
        sentences, code = (str(error),), LOST
    if machines is None or machines.speaks:
        for sentence in sentences:
            complain(sentence)
    return code


def _flags_of_runs(args: argparse.Namespace) -> list[str]:
    """The flags that are given and say something to a configuration alone."""
    flags = ("--cd", "--cntk-log", "--model-format", "--allow-commands")
    return [flag for flag in flags if getattr(args, flag[2:].replace("-", "_"))]


def _run(args: argparse.Namespace, machines: Machines | None) -> int:
    given = next(iter((*args.items, *args.set, *_flags_of_runs(args))), None)
    if given is not None:
        raise RunError(f"'{given}' goes with a configuration, and {args.specification} is none.")
    stdin_name = args.stdin_filename or f"{STDIN_STEM}{next(iter(main_family().suffixes))}"
    item = named_input(args.specification, stdin_name)
    trained = family_of(item.language)
    experiments = trained.experiments
    if trained.training is None and experiments is not None:
        raise RunError(
            f"{item.name}: no run begins with it. Name {experiments.beginning} that uses it."
        )
    if trained.training is None:
        able = " and ".join(one.title for one in families() if one.training is not None)
        raise RunError(
            f"{item.name}: only {able} is trained here. "
            f"'netsharp check' and 'netsharp describe' read {trained.title}."
        )
    if args.format != "text" and not args.examine:
        raise RunError("--format goes with --examine, which looks at the start alone.")
    if args.rx_log and (args.events or args.quiet or args.examine):
        raise RunError("--rx-log prints a run: it does not go with --events, --quiet or --examine.")
    roots = _roots(args, item)
    trainee = _read_trainee(item, roots)
    text, embedded, call, name = trainee.text, trainee.embedded, trainee.call, item.name
    settings = _settings(args, name, trainee, roots)
    if args.show_settings:
        show_settings(settings, origins_of(call, name))
        return DONE
    launches = machines is not None and not machines.joined
    tell_call(call, name, settings, quiet=args.quiet or args.events or launches)
    trainable = trained.training
    refusal = uncollected(lambda: trainable.refusal(text))
    if refusal is not None:
        raise RunError(f"{trainee.name}: {refusal}")
    if show_errors(trainee.name, text, Context(), embedded):
        return FAULTY
    path = model_path(name, settings)
    given = given_flags(args)
    _stay_inside(OUTPUTS, replace(settings, model=path), given, roots)
    if not args.examine:
        _check_outputs(settings, path)
    if machines is not None and machines.emit:
        say(slurm_script(machines, args.given_words, name))
        return DONE
    if machines is not None and launches:
        return launch(machines, args.given_words)
    ranks = joined(machines)
    silent = not ranks.leads
    compared(ranks, "specification", f"checksum {zlib.crc32(text):08x}")
    build_graph = trainable.build_graph
    before = model_to_resume(ranks, machines, path, args.resume)
    stored = None
    if before is not None:
        stored = agreed(ranks, lambda: _stored_run(before, text.decode(), build_graph))
        tell_restart(ranks, machines, stored)
    if stored is not None:
        settings = settings_to_resume(stored.settings, settings)
    _stay_inside(INPUTS, settings, given, roots)
    log = None if silent or not args.rx_log else HostLog()
    with log or choose_display(args.quiet or silent, args.events and not silent) as display:
        form = trainable.output(text)
        output = None if form is None else OutputForm(*form)
        data = in_turns(
            ranks,
            lambda: load_data(
                settings,
                progress=display.reading,
                output=output,
                model=path,
                resumes=stored is not None,
            ),
        )
        data = with_one_order(ranks, data)
        settings = data.settings
        compared_settings(ranks, settings.to_json()["values"])
        compared(ranks, "data", data.fingerprint())
        if show_errors(trainee.name, text, context_of(data), embedded):
            return FAULTY
        if args.examine:
            return _examine(args, trainee, build_graph, data)
        if machines is not None and machines.check:
            graph = settled(lambda: build_graph(text.decode(), data.context()))
            numbers = sum(each.size for each in graph.parameters if each.trained)
            lines = met(ranks, machines, numbers, data.fingerprint())
            say(() if silent else lines)
            return DONE
        if log is not None:
            log.facts = settled(lambda: host_facts(text, context_of(data), trainable, data))
        with catch_interrupts() as should_stop:
            training = Training(
                text.decode(),
                build_graph,
                data,
                settings,
                display,
                path,
                should_stop,
                [],
                args.rx_log,
                ranks,
            )
            result = training.run(stored)
            if log is not None:
                log.close(result.status)
            if not silent:
                save_model(result.model, path)
    if not silent:
        if settings.plot:
            write_curve(result.history, settings.plot)
        _report(args, result, settings, path, data.notes)
    code = EXITS.get(result.status, should_stop.exit_code)
    return FAILED if code == DONE and training.lost else code


def _examine(
    args: argparse.Namespace, trainee: Trainee, build_graph: BuildGraph, data: TrainingData
) -> int:
    """Look at how the training would start; 1 where something grave is seen."""
    text, name, embedded = trainee.text, trainee.name, trainee.embedded
    graph = settled(lambda: build_graph(text.decode(), data.context()))
    with catch_interrupts() as should_stop:
        start = examine(graph, data, should_stop=should_stop)
    if should_stop():
        complain("The look at the start was interrupted.")
        return should_stop.exit_code
    if args.events:
        say([event_of(start)])
        return DONE
    if args.format == "text":
        say(f"note: {sentence}" for sentence in data.notes)
    return show_start(name, text, context_of(data), start, args.format, embedded)


def _read_trainee(item: Input, roots: Roots) -> Trainee:
    """What is to be trained of a file."""
    source = read_source(item)
    if isinstance(source, ReadError):
        raise RunError(source.message)
    assert source is not None
    if item.host is None:
        return Trainee(item.name, source.text, None, None)
    from netsharp_lsp.cli.specifications.trainees import trainee_in

    found = trainee_in(item, source.text, roots)
    if isinstance(found, str):
        raise RunError(found)
    return found


def _roots(args: argparse.Namespace, item: Input) -> Roots:
    """Where the run file may lead; RunError where the person's own settings cannot be used."""
    named = [item.path or item.name, *([args.run_file] if args.run_file else [])]
    try:
        return roots_for(named, args)
    except SettingsError as error:
        raise RunError(str(error)) from None


def _stay_inside(
    names: Sequence[str], settings: TrainingSettings, given: dict[str, Any], roots: Roots
) -> None:
    """Raise RunError where a file would be read or written outside that no flag names.

    What a stored run remembers of flags is no word of whoever resumes it.
    """
    for name in names:
        value = getattr(settings, "validation_path" if name == "validation" else name)
        if given.get(name) is not None or not value:
            continue
        for path in (value,) if isinstance(value, str) else value:
            if path != STDIN and any(
                roots.target(one) is None for one in (path, *_meant(name, path, roots))
            ):
                raise RunError(f"'{name}' is not named by a flag, and {outside(path)}")


def _meant(name: str, path: str, roots: Roots) -> Iterator[str]:
    """The files that a path means which is a pattern, and the one beside that goes with it."""
    if name in OUTPUTS or not roots.holds(path):
        return
    with suppress(DataError):
        for file in find_files(path):
            yield file
            labels = beside_labels(file)
            if labels is not None:
                yield labels


def _settings(
    args: argparse.Namespace, name: str, trainee: Trainee, roots: Roots
) -> TrainingSettings:
    """The settings of flags, of the run file beside a file, of the call in it, in this order."""
    path = args.run_file or f"{os.path.splitext(name)[0]}.toml"
    table: dict[str, Any] = {}
    if args.run_file is None and os.path.isfile(path) and not roots.holds(path):
        raise RunError(f"{path}: is a link, and {outside(os.path.realpath(path))}")
    if args.run_file or may_be_file(path):
        table = _run_file(path)
    known = {} if trainee.embedded is None else trainee.embedded.region.context.known()
    call = trainee.call
    read = read_settings(
        table,
        given_flags(args),
        directory=os.path.dirname(path),
        file_name=os.path.basename(path),
        call={"train": known} if call is None else table_of(call, name),
        call_name=name if call is None else f"{name}:{call.line}",
    )
    if isinstance(read, list):
        raise RunError(*read)
    return read


def _run_file(path: str) -> dict[str, Any]:
    try:
        return read_toml(path)
    except SettingsError as error:
        raise RunError(str(error)) from None


def _check_outputs(settings: TrainingSettings, model: str) -> None:
    """Say before the run what would fail after it."""
    for path in filter(None, (model, settings.log, settings.plot)):
        reason = refusal(path)
        if reason is not None:
            raise RunError(reason)
    if settings.plot:
        check_picture(settings.plot)


def _stored_run(path: str, specification: str, build_graph: BuildGraph) -> Model:
    """The model whose run is to go on.

    Where that has ended and its last save was killed, nothing else would clear up behind it.
    """
    model = load_model(path, build_graph)
    sweep_beside(path)
    if model.specification != specification:
        raise RunError(
            "The specification is not that of the stored run. Resume with the same text, or "
            "train again without --resume."
        )
    return model


def context_of(data: TrainingData) -> Context:
    """What the data tells about the network."""
    known = data.context()
    context = Context(**{field: known[field] for field in FIELDS if field in known})
    context.origin = dict.fromkeys(context.known(), "the data")
    return context


def model_path(specification: str, settings: TrainingSettings) -> str:
    """Where the model goes: as set, else beside the specification."""
    return settings.model or f"{os.path.splitext(specification)[0]}.safetensors"


def _report(
    args: argparse.Namespace,
    result: TrainingResult,
    settings: TrainingSettings,
    path: str,
    notes: Sequence[str],
) -> None:
    if result.message:
        complain(result.message)
    if args.quiet or args.events:
        return
    out = Outlet(sys.stdout)
    say((f"note: {sentence}" for sentence in (*notes, *settings.notes())), out)
    say(spark_lines(result.history), out)
    reports = list(result.reports)
    if settings.test:
        reports.append(evaluate(result.model, settings.test))
    for report in reports:
        say(report.lines(), out)
    if result.doubt:
        say([f"note: {result.doubt}"], out)
    say([f"model: {path}"], out)
