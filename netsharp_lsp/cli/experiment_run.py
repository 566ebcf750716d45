"""`netsharp run` of a configuration: its commands are done in order, as its program does them."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from netsharp_engine.backends.naming import BF16
from netsharp_engine.train import KEYS, RunLog, TrainingError, catch_interrupts
from netsharp_lsp.cli.arguments.experiments import show_answer
from netsharp_lsp.cli.arguments.settings import roots_for, settings_finder
from netsharp_lsp.cli.console.outlet import Outlet
from netsharp_lsp.cli.console.progress import choose_display
from netsharp_lsp.cli.console.terminal import complain, say
from netsharp_lsp.cli.machines.emitting import slurm_script
from netsharp_lsp.cli.machines.joining import compared, joined, met
from netsharp_lsp.cli.machines.launching import launch
from netsharp_lsp.language import families
from netsharp_lsp.questions import Performance
from netsharp_lsp.settings import SettingsError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    from netsharp_engine.distributed.ranks import Ranks
    from netsharp_lsp.cli.console.progress import Display
    from netsharp_lsp.cli.machines.options import Machines
    from netsharp_lsp.family import Experiments
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.settings import Settings

DONE, FAILED, STOPPED = 0, 2, 130
#: What a process reports to the others about its configuration.
_READ = {True: "it can be run", False: "it cannot be run"}
#: The options of a configuration that correspond to flags of a specification.
_INSTEAD = {
    "epochs": "maxEpochs=N",
    "batch_size": "minibatchSize=N",
    "learning_rate": "learningRatesPerSample=N",
    "momentum": "momentumPerSample=N",
    "model": "modelPath=FILE",
    "dtype": "precision=float|double",
    "shuffle": "randomize=false",
    "threads": "numCPUThreads=N",
    "precision": "precision=float|double",
    "optimizer": "gradUpdateType=none|adagrad|fsAdaGrad|rmsProp",
    "nesterov": "useNAG=true",
    "weight_decay": "L2RegWeight=N",
    "clip_value": "clippingThresholdPerSample=N",
    "clip_norm": "clippingThresholdPerSample=N gradientClippingWithTruncation=false",
    "dropout": "dropoutRate=N",
    "schedule": "learningRatesPerSample=A*EPOCHS:B",
    "patience": "TRAIN=[SGD=[AutoAdjust=[...]]]",
    "validation": "TRAIN=[cvReader=[...]]",
    "train": "TRAIN=[reader=[file=FILE]]",
    "test": "TEST=[reader=[file=FILE]]",
    "label": "TRAIN=[reader=[input=[...]]]",
    "plot": "action=plot in a command",
}
_OF_TRAINING = {"resume": "--resume", "show_settings": "--show-settings", "run_file": "--run-file"}


def experiments_meant(items: Sequence[str]) -> Experiments | None:
    """Return the interface that runs the items, None where no item is a file of a run."""
    for family in families():
        experiments = family.experiments
        if experiments is not None and any(_begins(item, experiments.starts) for item in items):
            return experiments
    return None


def _begins(item: str, starts: Sequence[str]) -> bool:
    key, equals, rest = item.partition("=")
    paths = rest if equals and key.lower() == "configfile" else item
    return any(os.path.splitext(path)[1].lower() in starts for path in paths.split("+"))


def run_experiment(
    experiments: Experiments, args: argparse.Namespace, machines: Machines | None = None
) -> int:
    """Do it; 0 done, 1 where data or configuration are wrong, 2 where it cannot be done, 130
    interrupted.
    """
    problem = unfitting(args)
    if problem is not None:
        complain(problem)
        return FAILED
    try:
        if machines is not None and machines.emit:
            say(slurm_script(machines, args.given_words, args.specification))
            return DONE
        if machines is not None and not machines.joined:
            return launch(machines, args.given_words)
        return _run(experiments, args, machines)
    except (SettingsError, TrainingError) as error:
        complain(str(error))
        return FAILED


def _run(experiments: Experiments, args: argparse.Namespace, machines: Machines | None) -> int:
    ranks = joined(machines)
    silent = not ranks.leads

    def around(named: Iterable[str]) -> Roots:
        return roots_for(named, args)

    def settings_for(folder: str, roots: Roots) -> Settings:
        return settings_finder(args, roots)(folder)

    items = (args.specification, *args.items, *args.set)
    request = Performance(items, args.cd, around, settings_for)
    request.log = args.cntk_log or ""
    request.tensors = args.model_format == "safetensors"
    request.starts_programs = args.allow_commands
    request.ranks = ranks
    request.device = args.device or ""
    request.precision = args.precision or ""
    if machines is not None and machines.check:
        return check_experiment(experiments, request, machines, ranks)
    with ExitStack() as stack:
        log = stack.enter_context(RunLog(args.log)) if args.log and not silent else None
        quiet = args.quiet or silent or args.cntk_log is not None
        display = stack.enter_context(choose_display(quiet, args.events and not silent))
        should_stop = stack.enter_context(catch_interrupts())
        lines = args.cntk_log is not None and not silent
        follower = _Following(display, log, lines, should_stop, silent=silent)
        answer = experiments.perform(request, follower)
    if quiet or args.events:
        answer.lines = ()
    if not silent:
        show_answer(answer)
    return should_stop.exit_code if answer.code == STOPPED else answer.code


def unfitting(args: argparse.Namespace) -> str | None:
    """Return a sentence on a flag without meaning for a configuration; None without one."""
    for key in KEYS:
        given = getattr(args, key.name, None)
        if key.name == "precision" and given == BF16:
            continue
        if key.name not in ("log", "device") and given is not None:
            instead = _INSTEAD.get(key.name)
            hint = f"Write {instead}" if instead else "Write a key of the configuration"
            return (
                f"{key.flag} is a setting of a specification, and a configuration has keys. "
                f"{hint} after its name, as in 'netsharp run FILE KEY=VALUE'."
            )
    for name, flag in _OF_TRAINING.items():
        if getattr(args, name, None):
            return (
                f"{flag} goes with a specification. A configuration continues by itself where it "
                "stopped, unless makeMode=false; 'netsharp config' shows its values."
            )
    return None


def check_experiment(
    experiments: Experiments, request: Performance, machines: Machines, ranks: Ranks
) -> int:
    """Compare the trainings of all processes, and train nothing."""
    answer, trainings = experiments.planned_trainings(request)
    if answer.code and machines.prints_errors:
        show_answer(answer)
    compared(ranks, "outcome of reading the configuration", _READ[answer.code == DONE])
    if answer.code:
        return answer.code
    compared(ranks, "training commands", ", ".join(each.command for each in trainings) or "none")
    data, numbers = [], 1
    for each in trainings:
        compared(ranks, f"settings of {each.command}", each.settings)
        data.append(f"{each.command} {each.samples()}")
        compared(ranks, "data", data[-1])
        parameters = each.job.graph.parameters
        numbers = max(numbers, sum(one.size for one in parameters if one.trained))
    lines = met(ranks, machines, numbers, "; ".join(data))
    say(lines if ranks.leads else ())
    return DONE


class _Following:
    """Shows, logs and prints the events of a run."""

    def __init__(
        self,
        display: Display,
        log: RunLog | None,
        lines: bool,
        should_stop: Callable[[], bool],
        *,
        silent: bool = False,
    ) -> None:
        self._silent = silent
        self._display, self._log, self._lines = display, log, lines
        self._should_stop = should_stop
        self._out = Outlet(sys.stderr)

    def event(self, event: dict[str, Any]) -> None:
        """Show and log an event."""
        if self._log is not None:
            try:
                self._log.write(event)
            except TrainingError as error:
                self._log = None
                complain(f"{error} The run continues without it.")
        self._display.event(event)

    def line(self, line: str) -> None:
        """Print a line of CNTK's log where these are asked for."""
        if self._lines:
            self._out.line(line)

    def notice(self, sentence: str) -> None:
        """Print a notice."""
        if not self._silent:
            complain(sentence)

    def stops(self) -> bool:
        """Return whether to stop: on a request, or where no reader is left."""
        return self._should_stop() or not self._display.heard
