"""The training loop: epochs of steps, validation, early stopping, and a state to resume from.

It drives a plan and an optimiser and tells what happens as run-log events; it writes no file.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import Design, build_plan
from netsharp_engine.room import require_room

from .diagnosis import explain, layer_of_values, layer_of_vector, propose
from .feeding import Feeder
from .measure import Meter, measure_part, measure_until, measuring_design
from .metrics import tally_bytes, trivial_answer
from .objective import choose_objective
from .optimizers import bind_optimizer, kept_bytes, reduced_rate
from .preparation import TrainingData
from .report import Report
from .settings import Settings
from .state import Tensors, TrainingState

Event = dict[str, Any]
EventCallback = Callable[[Event], None]
STEP_SECONDS = 0.1
RISKY_SQUARE = 1e30
#: What makes a run need less memory, by the type of its numbers.
ADVICE = {
    "float32": "Make layers or kernels smaller, or set a smaller batch_size.",
    "float64": 'Make layers or kernels smaller, or set a smaller batch_size or dtype = "float32".',
}


@dataclass(slots=True)
class Outcome:
    """How a run ended.

    ``status`` is ``finished``, ``early``, ``interrupted`` or ``diverged``; ``message`` is a
    sentence, empty when finished.  ``tensors`` are canonical weights (of the best epoch with
    early stopping); ``state`` resumes the run, None after divergence.
    """

    status: str
    message: str
    tensors: Tensors
    state: TrainingState | None
    reports: list[Report]
    history: list[Event] = field(default_factory=list)


class Run:
    """One run of training, from the beginning or from a state.

    ``on_checkpoint`` gets where the run stands, as if interrupted, when the setting's seconds have
    passed since it was done the last time, and at the end, before the last figures are measured.
    """

    def __init__(
        self,
        graph: Graph,
        data: TrainingData,
        settings: Settings,
        on_event: EventCallback | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self.on_checkpoint: Callable[[Outcome], None] | None = None
        self.objective = choose_objective(graph, data.classes, settings.loss)
        self._graph, self._data, self._settings = graph, data, settings
        self._on_event = on_event or (lambda event: None)
        self._should_stop = should_stop or (lambda: False)
        batch = min(settings.batch_size, data.train.rows)
        design = Design(graph, batch, self.objective.loss, settings.dtype)
        measuring = measuring_design(graph, self.objective, settings.dtype)
        require_room(
            f"Training in steps of {batch:,} row{'s' * (batch > 1)}",
            (
                design.needs(),
                measuring.needs(),
                kept_bytes(graph, settings),
                tally_bytes(self.objective),
            ),
            ADVICE[settings.dtype],
        )
        self._plan = build_plan(design, settings.threads)
        self._plan.initialise(settings.seed, settings.init_diameter)
        self._optimizer = bind_optimizer(self._plan, settings)
        self._meter = Meter(measuring, self.objective, settings.threads)
        self._feeder = Feeder(self._plan, data.train, shuffle=settings.shuffle, seed=settings.seed)
        part = data.train
        weights = part.row_weights()
        self.answer = trivial_answer(self.objective, part.targets[part.index], weights)
        self._state = TrainingState(rate=settings.learning_rate, data=data.fingerprint())
        self._best: Tensors | None = None
        self._history: list[Event] = []
        self._before = np.empty_like(self._plan.weights)
        self._large = self._risky = False
        self._started = self._reported = self._kept = time.perf_counter()

    def restore(self, state: TrainingState, tensors: Tensors, history: list[Event]) -> None:
        """Continue from a stored state; ``tensors`` are those of the model."""
        last = state.vectors.get("last")
        self._plan.load(tensors if last is None else last)
        vectors = {
            name: self._plan.vector(values)
            for name, values in state.vectors.items()
            if name != "last"
        }
        if vectors.keys() >= self._optimizer.state.keys():
            self._optimizer.restore(state.updates, state.rate, vectors)
        else:
            self._optimizer.rate = state.rate
        self._state = replace(state, vectors={}, finished=False)
        self._best = tensors if last is not None and self._settings.patience else None
        self._history = list(history)
        self._started = time.perf_counter() - state.seconds

    def run(self) -> Outcome:
        """Train to the end, the stop, or the first number that is not finite."""
        self._emit("start", metrics=self._extent())
        status, message = "finished", ""
        with np.errstate(all="ignore"):
            while self._state.epoch < self._settings.epochs:
                verdict = self._epoch()
                if verdict is not None:
                    status, message = verdict
                    break
            return self._outcome(status, message)

    def _extent(self) -> dict[str, float]:
        return {
            "epochs": self._settings.epochs,
            "steps": self._feeder.steps,
            "rows": self._data.train.rows,
            "parameters": len(self._plan.weights),
        }

    def _epoch(self) -> tuple[str, str] | None:
        """One epoch from where the state stands; a verdict ends the run."""
        state = self._state
        self._feeder.start_epoch(state.epoch)
        while state.position < self._feeder.steps:
            fault = self._step()
            if fault is not None:
                return "diverged", fault
            if time.perf_counter() - self._reported >= STEP_SECONDS:
                self._emit("step", loss=self._mean_loss(), metrics=self._running_metrics())
            if self._should_stop():
                return self._stopped()
            self._checkpoint()
        return self._finish_epoch()

    def _stopped(self) -> tuple[str, str]:
        state = self._state
        return "interrupted", f"Stopped after step {state.step:,} in epoch {state.epoch + 1}."

    def _step(self) -> str | None:
        """One mini-batch; a sentence when a number is no longer finite."""
        state, plan = self._state, self._plan
        weight = self._feeder.feed(state.position)
        if weight:
            plan.step()
            fault = self._check_step()
            if fault is not None:
                return fault
            self._weigh(weight)
            if self._risky:
                np.copyto(self._before, plan.weights)
            self._optimizer.update()
            fault = self._check_weights()
            if fault is not None:
                return fault
            state.loss_sum += plan.loss * weight
            state.weight_sum += weight
            state.right += self._feeder.right(self.objective.classes is not None)
            state.seen += self._feeder.count
        state.position += 1
        state.step += 1
        state.samples += self._feeder.count
        return None

    def _weigh(self, weight: float) -> None:
        """Let heavy batches count more than light ones."""
        factor = self._feeder.importance(weight)
        if factor != 1.0:
            gradient = self._plan.gradient
            assert gradient is not None
            np.multiply(gradient, factor, out=gradient)

    def _check_step(self) -> str | None:
        plan = self._plan
        assert plan.gradient is not None
        if not math.isfinite(plan.loss):
            return self._explain("loss", layer_of_values(self._graph, plan))
        square = float(np.dot(plan.gradient, plan.gradient))
        rate = max(self._optimizer.rate, 1.0)
        self._risky = self._large or not square * rate * rate < RISKY_SQUARE
        if not math.isfinite(square) and not np.isfinite(plan.gradient).all():
            return self._explain("gradient", layer_of_vector(plan, plan.gradient))
        return None

    def _check_weights(self) -> str | None:
        weights = self._plan.weights
        square = float(np.dot(weights, weights))
        self._large = not square < RISKY_SQUARE
        if math.isfinite(square) or np.isfinite(weights).all():
            return None
        fault = self._explain("weight", layer_of_vector(self._plan, weights))
        np.copyto(weights, self._before)
        return fault

    def _explain(self, what: str, layer: str) -> str:
        rate = self._optimizer.rate
        change = propose(self._settings, self._data.train, rate)
        return explain(what, layer, self._state.step + 1, rate, change)

    def _finish_epoch(self) -> tuple[str, str] | None:
        """Close the books of an epoch: rate, validation, early stopping.

        A stop while validation rows are measured leaves the epoch open: it is closed when resumed.
        """
        state, settings = self._state, self._settings
        report = self._validate()
        if report is None and self._data.validation is not None:
            return self._stopped()
        loss, metrics = self._mean_loss(), self._running_metrics()
        state.epoch += 1
        state.position = 0
        if loss is not None:
            rate = reduced_rate(
                self._optimizer.rate, settings, state.epoch, loss, state.previous_loss
            )
            state.previous_loss = loss
        else:
            rate = self._optimizer.rate
        validation = None if report is None else _figures(report)
        self._emit("epoch", loss=loss, metrics=metrics, validation=validation)
        self._optimizer.rate = state.rate = rate
        state.loss_sum = state.weight_sum = 0.0
        state.right = state.seen = 0
        verdict = None
        if settings.patience and validation is not None:
            verdict = self._watch(validation.get("loss", math.inf))
        return verdict

    def _checkpoint(self) -> None:
        """Let the state be kept when it is time."""
        seconds = self._settings.checkpoint
        if self.on_checkpoint is None or not seconds:
            return
        if time.perf_counter() - self._kept >= seconds:
            self._keep("interrupted", "", self._plan.store())

    def _keep(self, status: str, message: str, last: Tensors) -> TrainingState:
        """Let the state be kept now; seconds count from when that is done."""
        tensors = last if self._best is None else self._best
        state = self._snapshot(status, last)
        if self.on_checkpoint is not None:
            self.on_checkpoint(Outcome(status, message, tensors, state, [], list(self._history)))
        self._kept = time.perf_counter()
        return state

    def _watch(self, loss: float) -> tuple[str, str] | None:
        """Early stopping: keep the best weights, count epochs without improvement."""
        state = self._state
        if state.best_loss is None or loss < state.best_loss:
            state.best_loss, state.best_epoch, state.waited = loss, state.epoch, 0
            self._best = self._plan.store()
            return None
        state.waited += 1
        if state.waited < self._settings.patience:
            return None
        return "early", (
            f"Stopped after epoch {state.epoch}: no better validation loss for {state.waited} "
            f"epochs. The weights are those of epoch {state.best_epoch}."
        )

    def _validate(self) -> Report | None:
        """The figures of the validation rows; None without such rows, or when it is to stop."""
        part = self._data.validation
        if part is None:
            return None
        self._meter.load(self._plan.store())
        return measure_until(self._meter, part, self.answer, "validation", self._should_stop)

    def _mean_loss(self) -> float | None:
        state = self._state
        return state.loss_sum / state.weight_sum if state.weight_sum else None

    def _running_metrics(self) -> dict[str, float]:
        state, loss = self._state, self._mean_loss()
        if self.objective.classes is not None:
            return {"accuracy": state.right / state.seen} if state.seen else {}
        return {} if loss is None else {"rmse": math.sqrt(max(loss, 0.0))}

    def _emit(self, name: str, **more: Any) -> None:
        state = self._state
        self._reported = time.perf_counter()
        running = name == "step" or (name == "end" and state.position > 0)
        event: Event = {
            "event": name,
            "epoch": state.epoch + (1 if running else 0),
            "step": state.step,
            "samples": state.samples,
            **{key: value for key, value in more.items() if value not in (None, {})},
            "rate": self._optimizer.rate,
            "seconds": round(self._reported - self._started, 3),
        }
        if name == "epoch":
            self._history.append(event)
        self._on_event(event)

    def _outcome(self, status: str, message: str) -> Outcome:
        last = self._plan.store()
        tensors = last if self._best is None else self._best
        # Measuring takes a while, for which whoever stops a program may not wait.
        state = None if status == "diverged" else self._keep(status, message, last)
        self._meter.load(tensors)
        data = self._data
        reports = [measure_part(self._meter, data.train, self.answer, "training")]
        if data.validation is not None:
            reports.append(measure_part(self._meter, data.validation, self.answer, "validation"))
        figures = [{"loss": report.loss, **report.metrics} for report in reports]
        self._emit(
            "end",
            loss=reports[0].loss,
            metrics=reports[0].metrics,
            validation=figures[1] if len(figures) > 1 else None,
        )
        return Outcome(status, message, tensors, state, reports, self._history)

    def _snapshot(self, status: str, last: Tensors) -> TrainingState:
        """The state to resume from."""
        vectors = {name: self._plan.store(vector) for name, vector in self._optimizer.state.items()}
        if self._best is not None:
            vectors["last"] = last
        return replace(
            self._state,
            rate=self._optimizer.rate,
            updates=self._optimizer.steps,
            seconds=time.perf_counter() - self._started,
            finished=status in ("finished", "early"),
            vectors=vectors,
        )


def _figures(report: Report) -> dict[str, float]:
    """Loss and metrics of a report as an event has them."""
    loss = {} if report.loss is None else {"loss": report.loss}
    return {**loss, **report.metrics}
