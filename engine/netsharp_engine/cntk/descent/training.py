"""Training of a network by CNTK's SGD: sums over samples, momentum with unit gain.

It drives a program and reports events as values; it writes no file and no line.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.computing import draft_of
from netsharp_engine.cntk.descent.adjusting import (
    AFTER,
    NEVER,
    Adjusting,
    closed,
    counted,
    decide,
    is_due,
    is_worse,
)
from netsharp_engine.cntk.descent.reports import (
    DIVERGED,
    FINISHED,
    INTERRUPTED,
    CriterionMeans,
    Ending,
    EpochBegun,
    EpochEnded,
    RateChanged,
    RolledBack,
    Shown,
    State,
    Tried,
    Watcher,
    criterion_means,
)
from netsharp_engine.cntk.descent.rules import Updates
from netsharp_engine.cntk.descent.schedules import Noise, Schedule, of_epoch
from netsharp_engine.cntk.descent.searching import Search, found_rate, found_size
from netsharp_engine.cntk.descent.sharing import GRADIENTS, Sharing, Workers, require_same_samples
from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.minibatches import Minibatch, Parts, Sweeps
from netsharp_engine.distributed.ranks import ALONE, Ranks
from netsharp_engine.graph import Graph
from netsharp_engine.phases import PhasedBackend, PhasedDraft, gathered
from netsharp_engine.program import Batch, Figures, Job
from netsharp_engine.room import require_room

#: CNTK's default of minLearningRatePerSample, which it keeps in float32.
LEAST_RATE = float(np.float32(1e-9))
#: At this share of the least rate or below, CNTK skips the gradient and the update
#: (SGDLib/SGD.cpp, TrainOneEpoch).
_UNCHANGED = 0.01
_ADVICE = "Set a smaller minibatchSize, or make layers smaller."


class TrainingPlan(NamedTuple):
    """The plan of a training: figures are reported every ``every`` minibatches, and after each of
    the ``first`` ones. ``backend`` computes it, where it is not the usual one.
    """

    schedule: Schedule
    epochs: int
    epoch_size: int = 0
    every: int = 10
    first: int = 0
    least_rate: float = LEAST_RATE
    dtype: str = "float32"
    updates: Updates = Updates()
    adjusting: Adjusting = Adjusting()
    parts: Parts = Parts()
    noise: Noise = Noise()
    backend: PhasedBackend | None = None


#: Evaluates parameters on data that are not trained on.
Validate = Callable[[Mapping[str, Array], int], CriterionMeans]


class _Stopped(Exception):  # noqa: N818
    """A request to stop."""


class Descent:
    """One training of a graph, which minimises its first criterion.

    ``validate`` is called after every epoch, with the samples of a minibatch. ``ranks`` are the
    processes that train together, by ``sharing``.
    """

    def __init__(
        self,
        graph: Graph,
        source: Sweeps,
        plan: TrainingPlan,
        state: State,
        validate: Validate | None = None,
        sharing: Sharing = GRADIENTS,
        ranks: Ranks = ALONE,
    ) -> None:
        self._source, self._plan, self._validate = source, plan, validate
        self._names = [node.name for node in graph.criteria]
        self._gathered = frozenset(node.name for node in gathered(graph))
        self._epoch, self._samples = state.epochs, state.samples
        self._control = state.control
        self._minibatches = 0
        rows = plan.parts.widest(source, max(plan.schedule.sizes))
        self._program = _roomy(graph, rows, plan).program()
        self._program.load(state.values)
        if state.memory.arrays:
            self._program.load_memory(state.memory)
        require_same_samples(ranks, source)
        self._ranks, self._workers = ranks, Workers(ranks, sharing, self._program)
        self._workers.blocks = state.blocks
        self._stops: Callable[[], bool] = lambda: False

    def run(self, watcher: Watcher) -> Ending:
        """Train to the last epoch, to a request to stop, or to the first criterion that is not
        finite.
        """
        self._stops = self._ranks.asked(watcher.stops)
        ending: Ending | None = None
        while ending is None and self._epoch < self._plan.epochs:
            ending = self._next(watcher)
        return ending or Ending(FINISHED)

    def _next(self, watcher: Watcher) -> Ending | None:
        """Train the next epoch; return an ending where none follows."""
        plan, number = self._plan, self._epoch
        schedule = plan.schedule
        try:
            rate = self._rate(number, watcher)
            if not math.isnan(rate) and rate >= plan.least_rate:
                size = self._size(number, rate, watcher)
        except _Stopped:
            return self._stopped()
        if math.isnan(rate):
            return self._diverged(1)
        if rate < plan.least_rate:
            return self._early(
                watcher,
                f"The learning rate per sample of epoch {number + 1}, {rate:.8g}, is less than "
                f"minLearningRatePerSample={plan.least_rate:.8g}: training ends.",
            )
        watcher.begun(
            EpochBegun(
                number + 1,
                rate,
                schedule.effective_momentum(number, size),
                schedule.time_constant(number),
            )
        )
        started = time.perf_counter()
        ending = self._trained(rate, size, watcher)
        due = is_due(plan.adjusting, number, len(schedule.rates))
        criterion = math.nan
        if ending is None:
            figures = self._program.figures()
            self._samples += figures.rows
            means, seconds = self._means(figures), time.perf_counter() - started
            compared = means
            validation = None
            if self._validate is not None:
                validation = self._validate(self._program.store(), size)
                compared = validation if plan.adjusting.validated else means
            criterion = compared.means[plan.adjusting.criterion or self._names[0]]
            minibatches = self._minibatches
            watcher.ended(
                EpochEnded(number + 1, means, self._samples, minibatches, rate, seconds, validation)
            )
        elif ending.status == INTERRUPTED or not (due and plan.adjusting.goes_back):
            return ending
        control = self._control._replace(rate=rate, minibatch=size)
        self._control = counted(plan.adjusting, control, number, criterion)
        self._epoch += 1
        if due:
            return self._adjusted(rate, watcher)
        self._close(watcher)
        return None

    def _rate(self, epoch: int, watcher: Watcher) -> float:
        """Return the rate of an epoch: its own, else the adjusted or searched one."""
        plan = self._plan
        schedule, adjusting = plan.schedule, plan.adjusting
        if adjusting.when == NEVER or epoch < len(schedule.rates):
            return schedule.rate(epoch)
        if adjusting.when == AFTER:
            return self._control.rate
        search = self._search(epoch)
        with self._forgotten() as start:
            trial = partial(self._tried, watcher, start, search.samples)
            rate = found_rate(search, plan.least_rate, epoch < adjusting.sided, trial)
        if math.isnan(self._control.rate):
            self._control = self._control._replace(minibatch=schedule.size(epoch))
        self._control = self._control.found(epoch, rate, adjusting.former)
        return rate

    def _size(self, epoch: int, rate: float, watcher: Watcher) -> int:
        """Return the samples of a minibatch: the epoch's own, or the result of a search."""
        schedule, sizes = self._plan.schedule, self._plan.adjusting.sizes
        if sizes is None or epoch < len(schedule.sizes):
            return schedule.size(epoch)
        search, change = self._search(epoch), self._control.factor
        if schedule.rates:
            change *= schedule.rate(epoch) / schedule.rate(0)
        with self._forgotten() as start:
            trial = partial(self._tried, watcher, start, search.samples)
            return found_size(search, sizes, rate, change, trial)

    def _search(self, epoch: int) -> Search:
        plan = self._plan
        samples = of_epoch(plan.adjusting.samples, epoch)
        samples = min(samples, plan.epoch_size) if plan.epoch_size else samples
        return Search(epoch, plan.schedule.size(epoch), samples, plan.epoch_size, self._control)

    @contextmanager
    def _forgotten(self) -> Iterator[State]:
        """Run trials, after which everything is as before."""
        start = self._state()
        try:
            yield start
        finally:
            self._program.count(Figures())
            self._load(start)

    def _tried(self, watcher: Watcher, start: State, samples: int, rate: float, size: int) -> float:
        """Return the criterion of a trial of a number of samples; NaN where it is not finite."""
        plan, number, program = self._plan, self._epoch, self._program
        momentum = plan.schedule.momentum(number)
        program.begin(plan.noise.phase(number, plan.dtype))
        program.count(Figures())
        self._load(start)
        self._workers.begin(number)
        batches = self._source.epoch(number, plan.epoch_size, size)
        for minibatch, batch in enumerate(batches, 1):
            if self._stops():
                raise _Stopped
            if not self._step(batch, rate, momentum, size, (number, minibatch)):
                return math.nan
            if program.figures().rows > samples:
                break
        means = self._means(program.figures())
        watcher.tried(Tried(number + 1, means, rate, size))
        return means.means[self._names[0]]

    def _trained(self, rate: float, size: int, watcher: Watcher) -> Ending | None:
        """Train one epoch of minibatches; return an ending where it stops within."""
        plan, number, program = self._plan, self._epoch, self._program
        momentum = plan.schedule.momentum(number)
        program.begin(plan.noise.phase(number, plan.dtype))
        program.count(Figures())
        shown, shown_at, first_shown = program.figures(), time.perf_counter(), 0
        samples = plan.epoch_size or self._source.count
        batches = self._source.epoch(number, plan.epoch_size, size)
        minibatch = 0
        self._workers.begin(number)
        for minibatch, batch in enumerate(batches, 1):
            if self._stops():
                return self._stopped()
            if not self._step(batch, rate, momentum, size, (number, minibatch)):
                return self._diverged(minibatch)
            if minibatch <= plan.first or (plan.every and minibatch % plan.every == 0):
                figures, now = program.figures(), time.perf_counter()
                watcher.shown(
                    Shown(
                        number + 1,
                        first_shown + 1,
                        minibatch,
                        figures.rows / samples,
                        self._means(figures, shown),
                        now - shown_at,
                        self._samples + figures.rows,
                        rate,
                    )
                )
                shown, shown_at, first_shown = figures, now, minibatch
        self._workers.average()
        self._minibatches = minibatch
        return None

    def _step(
        self,
        batch: Minibatch,
        rate: float,
        momentum: float,
        size: int,
        seed: tuple[int, ...],
    ) -> bool:
        """Train one minibatch, or this process's share of it; return False where a number is not
        finite.
        """
        compute = partial(self._gradient, size=size)
        fine, columns = self._workers.computed(batch, self._source, compute)
        if not fine or rate <= _UNCHANGED * self._plan.least_rate:
            return fine
        rule = self._plan.updates.rule(rate, momentum, columns, seed)
        if columns and not self._program.update(rule):
            return False
        self._workers.updated()
        return True

    def _gradient(self, batch: Minibatch, size: int) -> bool:
        """Compute in parts whose gradients add up; False where a number is not finite."""
        program, adds = self._program, False
        for number, part in enumerate(self._plan.parts.of(batch, self._source, size)):
            if not part.samples:
                continue  # The last sequences have ended in these rows.
            program.feed(Batch(part.inputs, expected=1.0, adds=adds, part=number))
            if not program.step():
                return False
            adds = True
        return True

    def _adjusted(self, rate: float, watcher: Watcher) -> Ending | None:
        """Adjust the rate after the last epoch of an interval, or return to an earlier model with a
        smaller rate.
        """
        adjusting, last = self._plan.adjusting, self._epoch
        back: State | None = None
        if adjusting.goes_back and is_worse(self._control):
            back = watcher.recalled(last - adjusting.interval)
            self._load(back)
            before = rate if math.isnan(back.control.rate) else back.control.rate
            self._control = back.control._replace(
                rate=before, mean=self._control.mean, reduced=self._control.reduced
            )
        verdict = decide(adjusting, self._control)
        self._control = verdict.control
        if verdict.ends:
            return self._early(watcher, "The learning rate was reduced before: training ends.")
        if verdict.change:
            watcher.changed(RateChanged(self._control.rate, verdict.change))
        if back is None:
            self._close(watcher)
            return None
        watcher.rolled_back(RolledBack(self._epoch, last), self._state())
        if self._control.rate == rate:
            return self._early(
                watcher,
                f"Epoch {last} is worse than the one before and would be repeated with the same "
                "rate for ever: training ends. Set learnRateDecreaseFactor below 1.",
            )
        return None

    def _close(self, watcher: Watcher) -> None:
        """Close an epoch that counts: update the control and keep the state."""
        self._control = closed(self._plan.adjusting, self._control, self._epoch - 1)
        watcher.kept(self._state())

    def _early(self, watcher: Watcher, sentence: str) -> Ending:
        """Return the ending before the last epoch; where rates are adjusted the model counts as
        final.
        """
        if self._plan.adjusting.when != NEVER:
            watcher.completed(self._state())
        return Ending(FINISHED, sentence)

    def _load(self, state: State) -> None:
        self._epoch, self._samples = state.epochs, state.samples
        self._program.load(state.values)
        self._program.load_memory(state.memory)
        self._workers.blocks = state.blocks

    def _state(self) -> State:
        program = self._program
        values, memory = program.store(), program.store_memory()
        blocks = self._workers.blocks
        return State(self._epoch, self._samples, values, memory, self._control, blocks)

    def _stopped(self) -> Ending:
        number = self._epoch
        return Ending(
            INTERRUPTED,
            f"Stopped in epoch {number + 1}; the checkpoint is that of epoch {number}.",
        )

    def _diverged(self, minibatch: int) -> Ending:
        fault = self._program.figures().fault
        where = "" if fault is None or fault.place is None else f", first in '{fault.place.name}'"
        return Ending(
            DIVERGED,
            f"The training criterion is not a number (NAN): epoch {self._epoch + 1}, minibatch "
            f"{minibatch:,}{where}. Set a smaller learning rate.",
        )

    def _means(self, figures: Figures, before: Figures | None = None) -> CriterionMeans:
        """Return the means of the sums since ``before``, or of the whole epoch."""
        sums: Sequence[float] = figures.sums
        rows = figures.rows
        if before is not None:
            sums = [
                after if name in self._gathered else after - known
                for name, after, known in zip(self._names, sums, before.sums, strict=True)
            ]
            rows -= before.rows
        return criterion_means(self._names, sums, rows, self._gathered)


def require_parameters(graph: Graph, plan: TrainingPlan) -> None:
    """Raise GraphError where memory is too small to train a graph, even without data."""
    _roomy(graph, 1, plan)


def _roomy(graph: Graph, rows: int, plan: TrainingPlan) -> PhasedDraft:
    """Return the draft of a program for which there is enough memory."""
    rule = plan.updates.rule(0.0, 0.0, 1)
    draft = draft_of(Job(graph, rows, plan.dtype, rule), plan.backend)
    require_room("Training", [draft.needs()], _ADVICE)
    return draft
