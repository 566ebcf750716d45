"""Runs the commands of a run: trains, tests and writes; the entry point of `cntk.training`.

Reads disk and writes what the configuration names; knows no terminal.
"""

from __future__ import annotations

import os
import platform
import re
import time
import zlib
from functools import partial

from netsharp_engine.cntk.computing import BACKEND, Requested
from netsharp_engine.cntk.descent.reports import DIVERGED, FINISHED
from netsharp_engine.data import DataError
from netsharp_engine.distributed.ranks import ALONE, Ranks
from netsharp_engine.graph import GraphError, SamplesError
from netsharp_engine.plain_files import kind_at
from netsharp_lsp.cntk.commands.runs import OverDisk, PlacedRun, declared_runs, supposed_run
from netsharp_lsp.cntk.commands.settings import declared_in
from netsharp_lsp.cntk.commands.subjects import ExperimentSubject
from netsharp_lsp.cntk.configuration.items import read_items
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.cntk.suffixes import STARTS
from netsharp_lsp.cntk.training.actions.train import Train
from netsharp_lsp.cntk.training.jobs import Undertaking, prepared
from netsharp_lsp.cntk.training.networks.lowering import Seeds
from netsharp_lsp.cntk.training.networks.models import (
    ModelFiles,
    RunNamed,
    StoredModelError,
    not_written,
)
from netsharp_lsp.cntk.training.options import Options, idle
from netsharp_lsp.cntk.training.plans.devices import training_job
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, UnreadFileError, where_of
from netsharp_lsp.cntk.training.reporting import RunReporter, stamped
from netsharp_lsp.cntk.training.samples.given_images import images_as_read
from netsharp_lsp.cntk.training.trained_rows import samples_trained_on
from netsharp_lsp.cntk.training.work import Workshop
from netsharp_lsp.limits import MODEL_CONFIGURATIONS
from netsharp_lsp.outcome import PlannedTraining
from netsharp_lsp.questions import Answer
from netsharp_lsp.workspace import Run, no_file, outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TextIO

    from netsharp_engine.cntk.samples.given import SampleReading
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.outcome import TrainedOn
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.questions import Follower, Performance

DONE, FAULTY, FAILED, STOPPED = 0, 1, 2, 130
_COMPLETED = "__COMPLETED__"
#: Actions that several processes may do together.
_TRAINING = ("train", "trainRNN")
#: Every parameter has the same seed.
_CONSTANT = "forceConstantRandomSeed"
#: The name of an epoch's model ends with the epoch.
_EPOCH = re.compile(r"\.[0-9]+$")
#: The release whose log had other lines.
_OLD_LOG = "2016-08"


class _MissingRun(Exception):  # noqa: N818
    """A run with missing configurations."""


def perform(request: Performance, follower: Follower) -> Answer:
    """Check all commands, then run those that can be run in order; the first that fails ends the
    run.
    """
    try:
        subject, shop = _subject(request)
    except _MissingRun as missing:
        return Answer(FAILED, (str(missing),))
    reports, errors = subject.errors()
    if errors:
        return Answer(FAULTY, reports=(reports,))
    answer = Answer()
    jobs: list[tuple[Command, Undertaking]] = []
    refusals: list[RunRefusal] = []
    logged = _Logged(follower)
    stamps, done = False, ""

    def prepare() -> int:
        nonlocal stamps, done
        stamps = _stamps(shop)
        shop.seeds.constant = Options(shop.experiment.configuration.root).truth(_CONSTANT, False)
        found = prepared(shop)
        if not found.jobs and found.refusals:
            raise Refused(*found.refusals)
        done = _done_file(shop)
        logged.open(_log_of(shop) if shop.ranks.leads else "")
        jobs.extend(found.jobs)
        refusals.extend(found.refusals)
        return DONE

    with logged:
        ended = _tried(prepare, subject, answer)
        answer.printed = _sentences(refusals, subject)
        for sentence in answer.printed:
            follower.notice(sentence)
        if ended == DONE:
            _report_idle(shop, [command for command, _ in jobs], follower)
        for command, job in jobs:
            if ended == DONE:
                old = request.log == _OLD_LOG
                reporter = RunReporter(logged, command.name, job.work.action, old, stamps)
                ended = _agreed(shop.ranks, job, partial(_done, job, reporter), subject, answer)
                answer.lines = (*answer.lines, *reporter.results)
        if ended == DONE and refusals:
            ended = FAILED
        if ended == DONE:
            ended = _tried(partial(_write_done, done, shop), subject, answer)
        if ended == DONE:
            logged.line(stamped(_COMPLETED) if stamps else _COMPLETED)
    answer.code = ended
    return answer


def planned_trainings(request: Performance) -> tuple[Answer, Sequence[PlannedTraining]]:
    """Return the training commands of a run before they run.

    The answer says why the run cannot be read; what a command before has to write first is left
    out.
    """
    answer = Answer()
    found: list[PlannedTraining] = []
    try:
        subject, shop = _subject(request)
    except _MissingRun as missing:
        return Answer(FAILED, (str(missing),)), ()
    reports, errors = subject.errors()
    if errors:
        return Answer(FAULTY, reports=(reports,)), ()

    def prepare() -> int:
        made = prepared(shop)
        if made.refusals:
            raise Refused(*made.refusals)
        for command, job in made.jobs:
            if isinstance(job, Train):
                found.append(_planned(command.name, job))
        return DONE

    answer.code = _tried(prepare, subject, answer)
    return answer, found


def _planned(name: str, train: Train) -> PlannedTraining:
    """Return a training command as other processes compare it."""
    shared = train.sharing.exchanged if train.sharing.shares and not train.ranks.alone else None
    described = [
        *(str((node.op, node.name, node.shape)) for node in train.graph.nodes),
        str(train.plan._replace(backend=None)),
        str(shared),
    ]
    settings = f"checksum {zlib.crc32(chr(10).join(described).encode()):08x}"
    return PlannedTraining(
        name,
        training_job(train.graph, train.plan, train.sharing),
        BACKEND,
        settings,
        train.source.sequences.fingerprint,
    )


def reading_of(request: Performance) -> SampleReading:
    """Return a reader of images like that of a run's command; DataError, a sentence, where the run
    does not exist or has no such reader.
    """
    try:
        subject, shop = _subject(request)
    except _MissingRun as missing:
        raise DataError(str(missing)) from None
    try:
        return images_as_read(shop.experiment).read
    except Refused as refused:
        raise DataError(" ".join(_sentences(refused.refusals, subject))) from None


def trained_on(path: str, label: str, request: Performance) -> TrainedOn | None:
    """Return the samples that trained a model: those of the run that its checkpoint names, else of
    the runs around it and the current folder; None where none of them trains it.

    ``label`` is what it is compared with. DataError, a sentence, where several train it on
    different files, or where the run that does cannot be read.
    """
    roots = request.roots_for([path, request.folder])
    model = os.path.realpath(path)
    models = list(dict.fromkeys((model, _EPOCH.sub("", model))))
    found: dict[str, TrainedOn] = {}
    reasons: list[str] = []
    for subject, shop in _runs_around(models, request, roots, reasons):
        try:
            one = samples_trained_on(shop, models, label)
        except Refused as refused:
            raise DataError(" ".join(_sentences(refused.refusals, subject))) from None
        if one is not None:
            begins = next(iter(subject.experiment.first_read), None)
            one.run = subject.name if begins is None else subject.shown(begins)
            found.setdefault(os.path.realpath(one.learned.path), one)
    if len(found) > 1:
        names = ", ".join(f"{one.command} of {one.run}" for one in found.values())
        raise DataError(f"several runs train the model, each on different rows: {names}.")
    if reasons and not found:
        raise DataError(f"the run that the model's checkpoint names cannot be read: {reasons[0]}")
    return next(iter(found.values()), None)


def _runs_around(
    models: Sequence[str], request: Performance, roots: Roots, reasons: list[str]
) -> Iterator[tuple[ExperimentSubject, Workshop]]:
    """Yield only the run that a checkpoint names, else those that may have trained a model; the
    reasons why runs cannot be read are added to ``reasons``.
    """
    place = os.path.dirname(models[0])
    named = next(filter(None, map(ModelFiles(roots).run_of, models)), None)
    if named is not None:
        folder = os.path.normpath(os.path.join(place, named.folder))
        try:
            yield _subject(request.of_run(named.items, folder, roots))
            return
        except _MissingRun as error:
            reasons.append(str(error))
    files = OverDisk({}, roots)
    above = [os.path.abspath(request.folder), place]
    while roots.holds(parent := os.path.dirname(above[-1])) and parent != above[-1]:
        above.append(parent)
    runs: list[PlacedRun] = []
    for folder in dict.fromkeys(map(os.path.realpath, above)):
        settings = request.settings_for(folder, roots)
        runs += declared_runs(settings, files)
        given = declared_in(settings).given
        names = [name for name in files.names_in(folder) if name.lower().endswith(STARTS)]
        several = sorted(names)[: MODEL_CONFIGURATIONS.most]
        runs += [supposed_run(os.path.join(folder, name), given, files) for name in several]
    for placed in runs:
        if placed.configurations and not placed.missing and not placed.outside:
            name = os.path.relpath(placed.configurations[0])
            experiment = Experiment(placed.run, files, None, placed.given)
            subject = ExperimentSubject(name, "cntk", experiment, files)
            for folder in (placed.run.directory, *placed.run.also):
                yield subject, Workshop(experiment, folder, ModelFiles(roots), Seeds())


def _report_idle(shop: Workshop, commands: list[Command], follower: Follower) -> None:
    """Report once which options are accepted and have no effect."""
    experiment = shop.experiment
    visits = [one for one in experiment.visits if one.command in commands]
    names = idle(visits, experiment.configuration.root)
    if names:
        follower.notice(f"without effect here: {', '.join(names)}.")


def _stamps(shop: Workshop) -> bool:
    """Return whether lines of the log begin with the time."""
    return Options(shop.experiment.configuration.root).truth("timestamping", False)


def _write_done(path: str, shop: Workshop) -> int:
    """Write the file that shows other programs that a run is complete."""
    if path:
        now = time.strftime("%Y/%m/%d %H:%M:%S")
        shop.store.write_text(path, [f"Successfully finished at {now} on {platform.node()}\n"])
    return DONE


def _log_of(shop: Workshop) -> str:
    """Return the configured file of CNTK's log lines; empty for none.

    Where lines have the time, the commands are part of its name (CNTK/CNTK.cpp,
    wmainOldCNTKConfig).
    """
    root = shop.experiment.configuration.root
    options = Options(root)
    name = options.path("stderr")
    found = options.found("stderr")
    if name and options.truth("timestamping", False):
        commands = options.names("command") or ["train"]
        name = "_".join((name, *commands)) + ".log"
    return _file_to_write(found, name, shop)


def _done_file(shop: Workshop) -> str:
    """Return the file that is written at the end of a run; empty for none."""
    options = Options(shop.experiment.configuration.root)
    return _file_to_write(options.found("doneFile"), options.path("doneFile"), shop)


def _file_to_write(found: Found | None, name: str, shop: Workshop) -> str:
    """Return the path of a file that an option names; Refused where it cannot be written."""
    if found is None or not name:
        return ""
    path = shop.path(name)
    if not shop.store.writable(path):
        raise Refused(RunRefusal(not_written(path), where_of(found.text)))
    kind = kind_at(path)
    if kind not in (None, "file"):
        raise Refused(RunRefusal(f"'{name}' is a {kind}, not a file.", where_of(found.text)))
    return path


class _Logged:
    """A follower, with a file for CNTK's log lines if one is configured."""

    def __init__(self, follower: Follower) -> None:
        self.event, self.notice = follower.event, follower.notice
        self.stops = follower.stops
        self._line = follower.line
        self._stream: TextIO | None = None

    def open(self, path: str) -> None:
        """Open a file for lines, from its beginning; none where the path is empty."""
        if path:
            os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
            self._stream = open(path, "w", encoding="utf-8")  # noqa: SIM115

    def line(self, line: str) -> None:
        """Log a line."""
        if self._stream is not None:
            self._stream.write(f"{line}\n")
            self._stream.flush()
        self._line(line)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        if self._stream is not None:
            self._stream.close()


def _done(job: Undertaking, reporter: RunReporter) -> int:
    """Run a job; return the exit code for how it ended."""
    return {FINISHED: DONE, DIVERGED: FAULTY}.get(job.run(reporter), STOPPED)


def _agreed(
    ranks: Ranks,
    job: Undertaking,
    work: Callable[[], int],
    subject: ExperimentSubject,
    answer: Answer,
) -> int:
    """Run a job, of several processes together where they train, else in the first; return the most
    severe of their codes.
    """
    works = ranks.leads or (
        job.work.action in _TRAINING and job.work.options.truth("parallelTrain", False)
    )
    code = _tried(work, subject, answer) if works else DONE
    return max(int(one) for one in ranks.comm.gather(str(code).encode()))


def _tried(work: Callable[[], int], subject: ExperimentSubject, answer: Answer) -> int:
    """Run a function; reasons of failure are added to the answer."""
    try:
        return work()
    except Refused as refused:
        answer.complaints = _sentences(refused.refusals, subject)
        return FAILED
    except UnreadFileError as error:
        answer.complaints = _sentences([RunRefusal(str(error), error.where)], subject)
        return FAULTY
    except DataError as error:
        answer.complaints = (str(error),)
        return FAULTY
    except SamplesError as error:
        answer.complaints = (f"{str(error).removesuffix('.')}.",)
        return FAULTY
    except (StoredModelError, GraphError) as error:
        answer.complaints = (str(error),)
    except OSError as error:
        answer.complaints = (f"{error.filename}: {error.strerror}.",)
    return FAILED


def _sentences(refusals: Iterable[RunRefusal], subject: ExperimentSubject) -> tuple[str, ...]:
    return tuple(f"{_placed(subject, *where)}: {message}" for message, where in refusals)


def _placed(subject: ExperimentSubject, source: str, start: int, end: int) -> str:
    """Return a place for users; the run where nothing is written in it."""
    if not source:
        return subject.name
    shown = subject.shown(source)
    return f"{shown}, line {subject.lines(source).line_at(start) + 1}"


def _subject(request: Performance) -> tuple[ExperimentSubject, Workshop]:
    """Return the run that items name, and where it writes."""
    folder = request.folder or os.curdir
    named = [folder]
    for item in read_items(request.items):
        if item.kind == "folder":
            folder = os.path.join(folder, item.paths[0])
            named.append(folder)
        elif item.kind == "files":
            named += [os.path.join(folder, path) for path in item.paths]
    roots = request.roots_for(named)
    files = OverDisk(request.texts, roots)
    given = declared_in(request.settings_for(os.path.abspath(folder), roots)).given
    run = Run(tuple(request.items), os.path.abspath(request.folder or os.curdir))
    placed = PlacedRun(run, given, files)
    for path in placed.outside:
        raise _MissingRun(outside(path))
    for path, kind in placed.missing.items():
        raise _MissingRun(f"{no_file(path, kind)} Name a configuration.")
    for path in filter(os.path.isdir, placed.configurations):
        raise _MissingRun(f"{os.path.relpath(path)}: is a folder. Name a file in it.")
    experiment = Experiment(run, files, None, given)
    subject = ExperimentSubject(request.items[0], "cntk", experiment, files)
    place = os.path.abspath(folder)
    started = RunNamed(run.items, run.directory)
    ranks = ALONE if request.ranks is None else request.ranks
    silent = not ranks.leads
    store = ModelFiles(roots, tensors=request.tensors, run=started, silent=silent)
    starts = request.starts_programs
    shop = Workshop(experiment, place, store, Seeds(), starts, ranks=ranks)
    shop = shop._replace(requested=Requested(request.device, request.precision))
    return subject, shop
