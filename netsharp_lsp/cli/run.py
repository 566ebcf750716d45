"""`netsharp run`: train what a specification describes on a table of data.

Puts together specification, run file, data, engine, progress and files; computes nothing.
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Any

from netsharp_engine.data import DataError
from netsharp_engine.distributed.comm import CommError
from netsharp_engine.graph import GraphError
from netsharp_engine.model import ModelError, evaluate, load_model, save_model
from netsharp_engine.train import (
    TrainingError,
    catch_interrupts,
    examine,
    load_data,
    settings_to_resume,
)
from netsharp_engine.train.drafting.devices import device_of
from netsharp_engine.train.tasks import OutputForm
from netsharp_lsp.cli.arguments.experiments import add_experiment_arguments
from netsharp_lsp.cli.arguments.settings import add_settings_arguments
from netsharp_lsp.cli.arguments.training import add_setting_arguments
from netsharp_lsp.cli.console.host_log import HostLog
from netsharp_lsp.cli.console.outlet import Outlet
from netsharp_lsp.cli.console.progress import choose_display
from netsharp_lsp.cli.console.terminal import complain, say
from netsharp_lsp.cli.experiment_run import experiments_meant, run_experiment
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
    report_restart,
    with_one_order,
)
from netsharp_lsp.cli.machines.launching import launch
from netsharp_lsp.cli.machines.options import Machines, add_machine_arguments, machines_asked
from netsharp_lsp.cli.outputs.curve import CurveError, spark_lines, write_curve
from netsharp_lsp.cli.specifications.calls import (
    origins_of,
    report_call,
    show_settings,
)
from netsharp_lsp.cli.specifications.faults import show_errors
from netsharp_lsp.cli.specifications.host_facts import host_facts
from netsharp_lsp.cli.specifications.ordering import RunError, RunOrder, ordered
from netsharp_lsp.cli.specifications.start_report import event_of, show_start
from netsharp_lsp.cli.specifications.training import Training
from netsharp_lsp.context import FIELDS, Context
from netsharp_lsp.diagnostics.reports import FORMATS
from netsharp_lsp.memory import settled, uncollected
from netsharp_lsp.project.writing import remove_leftovers

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from netsharp_engine.distributed.ranks import Ranks
    from netsharp_engine.graph import Graph
    from netsharp_engine.model import Model
    from netsharp_engine.train import TrainingData, TrainingResult, TrainingSettings
    from netsharp_lsp.cli.console.progress import Display

    BuildGraph = Callable[[str, Mapping[str, Any]], Graph]

DONE, FAULTY, FAILED = 0, 1, 2
#: How models of a configuration are written, first as its program does.
MODEL_FORMATS = ("original", "safetensors")
#: Exit codes by the status of a run; that of an interrupted one depends on the signal.
EXITS = {"finished": DONE, "early": DONE, "diverged": FAULTY}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp run` understands: every setting is also a flag."""
    add = parser.add_argument
    add("specification", metavar="SPEC", help="the specification to train, or a configuration")
    add("items", metavar="ITEM", nargs="*", help="after a configuration: A+B, KEY=VALUE")
    add("--stdin-filename", metavar="NAME", help="the file name to report for '-'")
    add("--run-file", metavar="FILE", help="settings; by default the .toml beside SPEC")
    add("--resume", action="store_true", help="continue from the saved model")
    add("--show-settings", action="store_true", help="print every setting and its origin, and stop")
    add("--quiet", action="store_true", help="show no progress and no report")
    add("--events", action="store_true", help="print the run log instead of progress and report")
    add(
        "--rx-log",
        action="store_true",
        help="print the log of the original hosts instead of progress",
    )
    add("--examine", action="store_true", help="predict how the training would start, and stop")
    add("--format", choices=FORMATS, default="text", help="the format of the report of --examine")
    add_settings_arguments(parser)
    group = add_experiment_arguments(parser)
    group.add_argument(
        "--cd", metavar="DIR", default="", help="the folder that paths are relative to"
    )
    add = group.add_argument
    versions = ("2016-11", "2016-08")
    add("--cntk-log", choices=versions, help="print the log of the toolkit's version of that month")
    add("--model-format", choices=MODEL_FORMATS, help="the format of its models")
    add(
        "--allow-commands",
        action="store_true",
        help="start the programs that the configuration names",
    )
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

    code = _reported(work, machines)
    if machines is None or not machines.joined:
        return code
    if code == LOST:
        return code
    if machines.prints_errors:
        record(code)
    return DONE


def _reported(work: Callable[[], int], machines: Machines | None) -> int:
    """Do the work, and print why it cannot be done."""
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
    if machines is None or machines.prints_errors:
        for sentence in sentences:
            complain(sentence)
    return code


def _flags_of_runs(args: argparse.Namespace) -> list[str]:
    """Return the flags that are given and say something to a configuration alone."""
    flags = ("--cd", "--cntk-log", "--model-format", "--allow-commands")
    return [flag for flag in flags if getattr(args, flag[2:].replace("-", "_"))]


def _run(args: argparse.Namespace, machines: Machines | None) -> int:
    given = next(iter((*args.items, *args.set, *_flags_of_runs(args))), None)
    if given is not None:
        raise RunError(f"'{given}' goes with a configuration, and {args.specification} is none.")
    order = ordered(args)
    trainee = order.trainee
    if args.show_settings:
        show_settings(order.settings, origins_of(trainee.call, order.name))
        return DONE
    launches = machines is not None and not machines.joined
    quiet = args.quiet or args.events or launches
    report_call(trainee.call, order.name, order.settings, quiet=quiet)
    refusal = uncollected(lambda: order.training.refusal(trainee.text))
    if refusal is not None:
        raise RunError(f"{trainee.name}: {refusal}")
    if show_errors(trainee.name, trainee.text, Context(), trainee.embedded):
        return FAULTY
    order.require_outputs(written=not args.examine)
    if machines is not None and machines.emit:
        say(slurm_script(machines, args.given_words, order.name))
        return DONE
    if machines is not None and launches:
        return launch(machines, args.given_words)
    return _trained(args, order, machines, joined(machines))


def _trained(
    args: argparse.Namespace, order: RunOrder, machines: Machines | None, ranks: Ranks
) -> int:
    """Load the data, then train, examine the start, or compare the processes, as requested."""
    trainee, silent = order.trainee, not ranks.leads
    compared(ranks, "specification", f"checksum {zlib.crc32(trainee.text):08x}")
    stored = _stored(args, order, machines, ranks)
    settings = order.settings
    if stored is not None:
        settings = settings_to_resume(stored.settings, settings)
    order.require_inputs(settings)
    log = None if silent or not args.rx_log else HostLog()
    with log or choose_display(args.quiet or silent, args.events and not silent) as display:
        data = _loaded(order, settings, ranks, display, resumes=stored is not None)
        context = context_of(data)
        if show_errors(trainee.name, trainee.text, context, trainee.embedded):
            return FAULTY
        if args.examine:
            return _examine(args, order, data)
        if machines is not None and machines.check:
            lines = _met(order, machines, ranks, data)
            say(() if silent else lines)
            return DONE
        if log is not None:
            log.facts = settled(lambda: host_facts(trainee.text, context, order.training, data))
        with catch_interrupts() as should_stop:
            training = _training(order, data, display, should_stop, ranks, measured=args.rx_log)
            result = training.run(stored)
            if log is not None:
                log.close(result.status)
            if not silent:
                save_model(result.model, order.path)
    if not silent:
        _report(args, result, data, order.path)
    code = EXITS.get(result.status, should_stop.exit_code)
    return FAILED if code == DONE and training.lost else code


def _stored(
    args: argparse.Namespace, order: RunOrder, machines: Machines | None, ranks: Ranks
) -> Model | None:
    """Return the model from which all processes go on; None where the run begins."""
    before = model_to_resume(ranks, machines, order.path, args.resume)
    if before is None:
        return None
    text, build_graph = order.trainee.text.decode(), order.training.build_graph
    stored = agreed(ranks, lambda: _stored_run(before, text, build_graph))
    report_restart(ranks, machines, stored)
    return stored


def _loaded(
    order: RunOrder, settings: TrainingSettings, ranks: Ranks, display: Display, *, resumes: bool
) -> TrainingData:
    """Return the data, the same for all processes."""
    form = order.training.output(order.trainee.text)
    output = None if form is None else OutputForm(*form)

    def load() -> TrainingData:
        return load_data(
            settings,
            progress=display.reading,
            output=output,
            model=order.path,
            resumes=resumes,
        )

    data = with_one_order(ranks, in_turns(ranks, load))
    compared_settings(ranks, data.settings.to_json()["values"])
    compared(ranks, "data", data.fingerprint())
    return data


def _met(order: RunOrder, machines: Machines, ranks: Ranks, data: TrainingData) -> list[str]:
    """Return the lines on processes that met and compared."""
    graph = _graph(order, data)
    device = agreed(ranks, lambda: device_of(graph, data, data.settings, shared=True))
    compared(ranks, "device", device.name)
    numbers = sum(each.size for each in graph.parameters if each.trained)
    return met(ranks, machines, numbers, data.fingerprint())


def _graph(order: RunOrder, data: TrainingData) -> Graph:
    text, build_graph = order.trainee.text.decode(), order.training.build_graph
    return settled(lambda: build_graph(text, data.context()))


def _training(
    order: RunOrder,
    data: TrainingData,
    display: Display,
    should_stop: Callable[[], bool],
    ranks: Ranks,
    *,
    measured: bool,
) -> Training:
    return Training(
        order.trainee.text.decode(),
        order.training.build_graph,
        data,
        data.settings,
        display,
        order.path,
        should_stop,
        [],
        measured,
        ranks,
    )


def _examine(args: argparse.Namespace, order: RunOrder, data: TrainingData) -> int:
    """Examine how the training would start; return 1 where a warning is found."""
    trainee = order.trainee
    graph = _graph(order, data)
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
    return show_start(
        trainee.name, trainee.text, context_of(data), start, args.format, trainee.embedded
    )


def _stored_run(path: str, specification: str, build_graph: BuildGraph) -> Model:
    """Return the model whose run is to continue.

    Where that has ended and its last save was killed, its remains are removed.
    """
    model = load_model(path, build_graph)
    remove_leftovers(path)
    if model.specification != specification:
        raise RunError(
            "The specification is not that of the stored run. Resume with the same text, or "
            "train again without --resume."
        )
    return model


def context_of(data: TrainingData) -> Context:
    """Return the facts about the network that the data gives."""
    known = data.context()
    context = Context(**{field: known[field] for field in FIELDS if field in known})
    context.origin = dict.fromkeys(context.known(), "the data")
    return context


def _report(
    args: argparse.Namespace, result: TrainingResult, data: TrainingData, path: str
) -> None:
    """Draw the curve that is asked for, and print the result of the run."""
    settings = data.settings
    if settings.plot:
        write_curve(result.history, settings.plot)
    if result.message:
        complain(result.message)
    if args.quiet or args.events:
        return
    out = Outlet(sys.stdout)
    say((f"note: {sentence}" for sentence in (*data.notes, *settings.notes())), out)
    say(spark_lines(result.history), out)
    reports = list(result.reports)
    if settings.test:
        reports.append(evaluate(result.model, settings.test))
    for report in reports:
        say(report.lines(), out)
    if result.doubt:
        say([f"note: {result.doubt}"], out)
    say([f"model: {path}"], out)
