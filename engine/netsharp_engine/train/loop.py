"""The training loop: epochs of steps, validation, early stopping, and a state to resume from.

It drives a program and reports run-log events; it must not write files.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from netsharp_engine.distributed.ranks import ALONE, Ranks
from netsharp_engine.graph import Graph
from netsharp_engine.initial import diameters, initial_values
from netsharp_engine.program import Backend, Fault, Figures, Memory
from netsharp_engine.room import require_room
from netsharp_engine.train.diagnosis import explain, propose
from netsharp_engine.train.drafting.drafts import draft_run, run_facts
from netsharp_engine.train.examining.layers import layer_figures, some_rows
from netsharp_engine.train.examining.trivial import Evidence, explain_trivial, is_no_better
from netsharp_engine.train.failures import TrainingError
from netsharp_engine.train.feeding import Feeder
from netsharp_engine.train.measure import Meter, measure_part, measure_until
from netsharp_engine.train.metrics import trivial_answer
from netsharp_engine.train.objective import choose_objective
from netsharp_engine.train.preparation import TrainingData
from netsharp_engine.train.rates import reduced_rate, rule_of
from netsharp_engine.train.report import Report
from netsharp_engine.train.settings import TrainingSettings
from netsharp_engine.train.state import Tensors, TrainingState
from netsharp_engine.train.steps.dropping import (
    hidden_layers,
)
from netsharp_engine.train.steps.quantizing import KeptTables, TableMaker
from netsharp_engine.train.steps.schedules import scheduled_rate, vanishing

Event = dict[str, Any]
#: A true answer to an event of an epoch ends the run after that epoch.
EventCallback = Callable[[Event], object]
STEP_SECONDS = 0.1  # between events of steps: a display is not updated faster
#: What makes a run need less memory, by the type of its numbers.
ADVICE = {
    "float32": "Make layers or kernels smaller, or set a smaller batch_size.",
    "float64": 'Make layers or kernels smaller, or set a smaller batch_size or dtype = "float32".',
}


@dataclass(slots=True)
class Outcome:
    """The end of a run.

    ``status`` is ``finished``, ``early``, ``interrupted`` or ``diverged``; ``message`` is a
    sentence, empty when finished. ``tensors`` are canonical weights (of the best epoch with early
    stopping); ``state`` resumes the run, None after divergence. ``doubt`` says that a run which
    came to its end learned nothing, and why; mostly empty.
    """

    status: str
    message: str
    tensors: Tensors
    state: TrainingState | None
    reports: list[Report]
    history: list[Event] = field(default_factory=list)
    doubt: str = ""


class Run:
    """One run of training, from the beginning or from a state.

    ``on_checkpoint`` gets the outcome so far, as if interrupted, when the setting's seconds have
    passed since the last time, and at the end, before the last figures are measured. ``tables``
    makes the transfer tables of a graph that has some. ``device`` is the log's entry about the
    device: its "name" and "title", and "why" it was chosen.
    """

    def __init__(
        self,
        graph: Graph,
        data: TrainingData,
        settings: TrainingSettings,
        backend: Backend,
        on_event: EventCallback | None = None,
        should_stop: Callable[[], bool] | None = None,
        tables: TableMaker | None = None,
        ranks: Ranks = ALONE,
    ) -> None:
        self.on_checkpoint: Callable[[Outcome], None] | None = None
        self.device: dict[str, str] = {}
        self.objective = choose_objective(
            graph, data.classes, settings.loss, data.outputs, data.scale
        )
        self.backend = backend
        self._graph, self._data, self._settings = graph, data, settings
        self._on_event = ranks.answered(on_event or (lambda event: None))
        self._should_stop = ranks.asked(should_stop or (lambda: False))
        self._clock, self._earliest = (
            ranks.clock,
            ranks.earliest_of(one.name for one in graph.nodes),
        )
        self._tables = KeptTables(graph, settings.quantize, tables)
        batch = min(settings.batch_size, data.train.rows)
        self._rule = rule_of(settings)
        fault = vanishing(settings)
        if fault:
            raise TrainingError(fault)
        drafts = draft_run(graph, self.objective, settings, ranks.most(batch), backend)
        require_room(
            f"Training in steps of {batch:,} row{'s' * (batch > 1)}",
            drafts.needs(),
            ADVICE[settings.dtype],
            {f"layer '{node.name}'": node.origin for node in graph.nodes},
        )
        trained, measuring = drafts.training.graph, drafts.measuring
        self._program = drafts.trainer.program(drafts.threads)
        ranks.join(self._program)
        parameters = graph.parameters
        diameter = diameters(graph, settings.init, settings.init_diameter)
        self._program.load(initial_values(parameters, settings.seed, diameter, settings.dtype))
        self._criteria = len(trained.criteria)
        self._size = sum(parameter.size for parameter in parameters if parameter.trained)
        shared = drafts.meter.program(1, self._program)
        self._meter = Meter(measuring, shared, self.objective, ranks)
        self._feeder = Feeder(
            trained,
            data.train,
            batch,
            self.objective.scale,
            shuffle=settings.shuffle,
            seed=settings.seed,
            ranks=ranks,
        )
        self.answer = trivial_answer(self.objective, data.train.weighted_targets())
        self._state = TrainingState(rate=settings.learning_rate, data=data.fingerprint())
        self._best: Tensors | None = None
        self._ends = False
        self._history: list[Event] = []
        self._started = time.perf_counter()
        self._reported = self._kept = self._clock()

    def restore(self, state: TrainingState, tensors: Tensors, history: list[Event]) -> None:
        """Continue from a stored state; ``tensors`` are those of the model."""
        last = state.vectors.get("last")
        self._program.load(tensors if last is None else last)
        remembered = {name: each for name, each in state.vectors.items() if name != "last"}
        self._program.load_memory(Memory(state.updates, remembered))
        self._rule = self._rule._replace(rate=state.rate)
        self._program.count(
            Figures(
                (state.loss_sum, float(state.right))[: self._criteria],
                state.weight_sum,
                state.seen,
                state.position,
            )
        )
        self._state = replace(state, vectors={}, finished=False, data=self._state.data)
        self._best = tensors if last is not None and self._settings.patience else None
        self._history = list(history)
        self._started = time.perf_counter() - state.seconds

    def run(self) -> Outcome:
        """Train to the end, to a request to stop, or to the first number that is not finite."""
        self._emit("start", metrics=self._extent(), device=run_facts(self.device, self._program))
        status, message = "finished", ""
        while self._state.epoch < self._settings.epochs:
            verdict = self._epoch()
            if verdict is not None:
                status, message = verdict
                break
        return self._outcome(status, message)

    def _extent(self) -> dict[str, float]:
        threads = self._settings.shards
        return {
            "epochs": self._settings.epochs,
            "steps": self._feeder.steps,
            "rows": self._data.train.rows,
            "parameters": self._size,
            **({"threads": threads} if threads > 1 else {}),
        }

    def _epoch(self) -> tuple[str, str] | None:
        """Train one epoch from the state's position; a verdict ends the run."""
        state = self._state
        self._feeder.start_epoch(state.epoch)
        while state.position < self._feeder.steps:
            if not self._step():
                return "diverged", self._explain(self._read())
            if self._clock() - self._reported >= STEP_SECONDS:
                if (fault := self._read()) is not None:
                    return "diverged", self._explain(fault)
                self._emit("step", loss=self._mean_loss(), metrics=self._running_metrics())
            if self._should_stop():
                return self._stopped()
            self._checkpoint()
        return self._finish_epoch()

    def _stopped(self) -> tuple[str, str]:
        state = self._state
        return "interrupted", f"Stopped after step {state.step:,} in epoch {state.epoch + 1}."

    def _step(self) -> bool:
        """Train one mini-batch; return False when a number is known not to be finite."""
        state, program = self._state, self._program
        program.feed(self._feeder.batch(state.position))
        if not (program.step() and program.update(self._rule)):
            return False
        state.position += 1
        state.step += 1
        state.samples += self._feeder.count
        return True

    def _read(self) -> Fault | None:
        """Take over the program's sums; steps after a fault do not count."""
        state, figures = self._state, self._program.figures()
        rows = self._feeder.rows
        state.samples -= rows(state.position) - rows(figures.steps)
        state.step -= state.position - figures.steps
        state.position = figures.steps
        state.loss_sum, *right = figures.sums
        state.right = int(sum(right))
        state.weight_sum, state.seen = figures.weight, figures.rows
        return figures.fault

    def _explain(self, fault: Fault | None) -> str:
        assert fault is not None
        rate = self._rule.rate
        scaled = self.objective.scale is not None
        change = propose(self._settings, self._data.train, rate, scaled=scaled)
        return explain(fault, self._earliest, self._state.step + 1, rate, change)

    def _finish_epoch(self) -> tuple[str, str] | None:
        """Close the books of an epoch: rate, validation, early stopping.

        A stop while validation rows are measured leaves the epoch open: it is closed when resumed.
        """
        state, settings = self._state, self._settings
        fault = self._read()
        if fault is not None:
            return "diverged", self._explain(fault)
        self._tables.remake(self._program)
        report = self._validate()
        if report is None and self._data.validation is not None:
            return self._stopped()
        loss, metrics = self._mean_loss(), self._running_metrics()
        state.epoch += 1
        state.position = 0
        if loss is not None:
            rate = reduced_rate(self._rule.rate, settings, state.epoch, loss, state.previous_loss)
            state.previous_loss = loss
        else:
            rate = self._rule.rate
        state.rate = rate
        validation = None if report is None else _figures(report)
        watched = loss if validation is None else validation.get("loss")
        rate = scheduled_rate(settings, state, watched)
        self._emit("epoch", loss=loss, metrics=metrics, validation=validation)
        state.rate = rate
        self._rule = self._rule._replace(rate=rate)
        self._program.count(Figures())
        state.loss_sum = state.weight_sum = 0.0
        state.right = state.seen = 0
        verdict = None
        if settings.patience and validation is not None:
            verdict = self._watch(validation.get("loss", math.inf))
        if verdict is None and state.epoch < settings.epochs and self._ends:
            verdict = "interrupted", f"Stopped after epoch {state.epoch}."
        return verdict

    def _checkpoint(self) -> None:
        """Let the state be kept when it is time."""
        seconds = self._settings.checkpoint
        if self.on_checkpoint is None or not seconds:
            return
        if self._clock() - self._kept >= seconds:
            self._keep("interrupted", "", self._program.store())

    def keep(self) -> None:
        """Keep the state as it is, since the run cannot continue."""
        self._keep("interrupted", "", self._program.store())

    def _keep(self, status: str, message: str, last: Tensors) -> TrainingState:
        """Let the state be kept now; seconds count from when that is done."""
        tensors = last if self._best is None else self._best
        state = self._snapshot(status, last)
        if self.on_checkpoint is not None:
            self.on_checkpoint(Outcome(status, message, tensors, state, [], list(self._history)))
        self._kept = self._clock()
        return state

    def _watch(self, loss: float) -> tuple[str, str] | None:
        """Apply early stopping: keep the best weights, count epochs without improvement."""
        state = self._state
        if state.best_loss is None or loss < state.best_loss:
            state.best_loss, state.best_epoch, state.waited = loss, state.epoch, 0
            self._best = self._program.store()
            return None
        state.waited += 1
        if state.waited < self._settings.patience:
            return None
        return "early", (
            f"Stopped after epoch {state.epoch}: no better validation loss for {state.waited} "
            f"epochs. The weights are those of epoch {state.best_epoch}."
        )

    def _validate(self) -> Report | None:
        """Return the figures of the validation rows; None without such rows, or if it stops."""
        part = self._data.validation
        if part is None:
            return None
        return measure_until(self._meter, part, self.answer, "validation", self._should_stop)

    def training_report(self) -> Report:
        """Return the figures of the training rows with the present weights."""
        return measure_part(self._meter, self._data.train, self.answer, "training")

    def _mean_loss(self) -> float | None:
        state = self._state
        return state.loss_sum / state.weight_sum if state.weight_sum else None

    def _running_metrics(self) -> dict[str, float]:
        state, loss = self._state, self._mean_loss()
        if self.objective.classes is not None:
            return {"accuracy": state.right / state.seen} if state.seen else {}
        if loss is None or (self.objective.scale is not None and self.objective.outputs > 1):
            return {}
        scale = self.objective.scale
        unit = 1.0 if scale is None else scale.spread[0]
        return {"rmse": unit * math.sqrt(max(loss, 0.0))}

    def _emit(self, name: str, **more: Any) -> None:
        state = self._state
        self._reported = self._clock()
        running = name == "step" or (name == "end" and state.position > 0)
        event: Event = {
            "event": name,
            "epoch": state.epoch + (1 if running else 0),
            "step": state.step,
            "samples": state.samples,
            **{key: value for key, value in more.items() if value not in (None, {})},
            "rate": self._rule.rate,
            "seconds": round(time.perf_counter() - self._started, 3),
        }
        if name == "epoch":
            self._history.append(event)
        self._ends = bool(self._on_event(event)) and name == "epoch"

    def _outcome(self, status: str, message: str) -> Outcome:
        last = self._program.store()
        tensors = last if self._best is None else self._best
        # Measuring takes a while; a program that stops this one may not wait for it.
        state = None if status == "diverged" else self._keep(status, message, last)
        self._meter.load(tensors)
        data = self._data
        reports = [self.training_report()]
        if data.validation is not None:
            reports.append(measure_part(self._meter, data.validation, self.answer, "validation"))
        figures = [{"loss": report.loss, **report.metrics} for report in reports]
        self._emit(
            "end",
            loss=reports[0].loss,
            metrics=reports[0].metrics,
            validation=figures[1] if len(figures) > 1 else None,
        )
        doubt = self._doubt(reports) if status in ("finished", "early") else ""
        return Outcome(status, message, tensors, state, reports, self._history, doubt)

    def _doubt(self, reports: list[Report]) -> str:
        """Return why nothing was learned; empty where something was."""
        if not is_no_better(reports[-1]):
            return ""
        part, graph = self._data.train, self._graph
        values = self._meter.values(hidden_layers(graph), part.matrix[some_rows(part)])
        layers = layer_figures(graph, values.__getitem__)
        rate = self._history[-1]["rate"] if self._history else self._rule.rate
        given = (self._settings, part, self._history, rate, reports, layers)
        return explain_trivial(Evidence(graph, *given))

    def _snapshot(self, status: str, last: Tensors) -> TrainingState:
        """Return the state to resume from."""
        self._read()
        memory = self._program.store_memory()
        vectors = dict(memory.arrays)
        if self._best is not None:
            vectors["last"] = last
        return replace(
            self._state,
            rate=self._rule.rate,
            updates=memory.updates,
            seconds=time.perf_counter() - self._started,
            finished=status in ("finished", "early"),
            vectors=vectors,
        )


def _figures(report: Report) -> dict[str, float]:
    """Return loss and metrics of a report as an event has them."""
    loss = {} if report.loss is None else {"loss": report.loss}
    return {**loss, **report.metrics}
