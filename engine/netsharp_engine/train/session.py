"""Train and resume: the loop's outcome together with all that a model file needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from netsharp_engine.graph import Graph
from netsharp_engine.model import Model

from .failures import TrainingError
from .loop import Event, EventCallback, Outcome, Run
from .preparation import TrainingData
from .report import Report
from .settings import Settings
from .state import TrainingState

CHANGEABLE = frozenset(("epochs", "patience", "threads"))
INFORMATIVE = frozenset(
    ("train", "test", "labels", "header", "delimiter", "model", "log", "plot", "rows", "host")
)


@dataclass(slots=True)
class TrainingResult:
    """What came of a run.

    ``status`` is ``finished``, ``early``, ``interrupted`` or ``diverged``; ``message`` is a
    sentence, empty when finished.  ``reports`` has training and, if there are such rows,
    validation; ``history`` the epoch events.
    """

    model: Model
    status: str
    message: str
    reports: list[Report]
    history: list[Event]

    @property
    def report(self) -> Report:
        """The report on validation rows if there are any, else on training rows."""
        return self.reports[-1]


def train(
    graph: Graph,
    data: TrainingData,
    settings: Settings | None = None,
    *,
    specification: str = "",
    context: dict[str, Any] | None = None,
    on_event: EventCallback | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TrainingResult:
    """Train a network from its initial weights.

    ``specification`` and ``context`` (that of the data by default) are stored in the model, so
    that the graph can be built again.  ``on_event`` gets every line of the run log;
    ``should_stop`` is asked after every step.  Raises TrainingError where network, data and
    settings do not fit.
    """
    settings = settings or data.settings
    _check_features(graph, data)
    run = Run(graph, data, settings, on_event, should_stop)
    chosen = context if context is not None else data.context()
    return _result(run, run.run(), graph, data, settings, specification, chosen)


def resume(
    model: Model,
    data: TrainingData,
    settings: Settings | None = None,
    *,
    on_event: EventCallback | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TrainingResult:
    """Continue a stored run, bit-equal to one that was never interrupted.

    The model must be bound to its graph.  ``settings`` may differ from the model's in epochs,
    patience and threads only.  Raises TrainingError for other data or settings.
    """
    if model.state is None:
        raise TrainingError(
            "This model holds no state of a run to resume. Train again, or resume from a model "
            "that was saved with its state."
        )
    chosen = _changed(model.settings, settings)
    if model.state.data != data.fingerprint():
        raise TrainingError(
            f"The data is not that of the stored run: {data.fingerprint()} now, "
            f"{model.state.data} then. Resume with the same files, or train again."
        )
    graph = model.graph
    _check_features(graph, data)
    run = Run(graph, data, chosen, on_event, should_stop)
    run.restore(model.state, model.tensors, model.history)
    return _result(run, run.run(), graph, data, chosen, model.specification, model.context)


def train_further(
    model: Model,
    data: TrainingData,
    epochs: int = 1,
    *,
    on_event: EventCallback | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TrainingResult:
    """Train a model ``epochs`` more epochs on these rows, whatever it was trained on before.

    The optimiser goes on from its state, or from zero without one.  ``data`` must be prepared
    with ``fitted=model``.
    """
    _check_features(model.graph, data)
    state = model.state or TrainingState(rate=model.settings.learning_rate)
    state = replace(state, data=data.fingerprint(), position=0)
    settings = replace(model.settings, epochs=state.epoch + epochs, patience=0)
    run = Run(model.graph, data, settings, on_event, should_stop)
    run.restore(state, model.tensors, model.history)
    return _result(run, run.run(), model.graph, data, settings, model.specification, model.context)


def _changed(stored: Settings, wanted: Settings | None) -> Settings:
    if wanted is None:
        return stored
    for _, name, shown, origin in wanted.listing():
        same = getattr(wanted, name) == getattr(stored, name)
        if same or name in CHANGEABLE or name in INFORMATIVE or origin in ("host", "default"):
            continue
        raise TrainingError(
            f"A resumed run keeps its settings: {name} was {getattr(stored, name)!r} and is now "
            f"{shown}. Leave it out, or train again. {', '.join(sorted(CHANGEABLE))} may change."
        )
    origins = {**stored.origins, **{name: wanted.origins[name] for name in CHANGEABLE}}
    given = {
        name: getattr(wanted, name)
        for name in CHANGEABLE
        if wanted.origins[name] in ("file", "flag")
    }
    return replace(stored, origins=origins, **given)


def _check_features(graph: Graph, data: TrainingData) -> None:
    if graph.features == data.features:
        return
    layers = ", ".join(f"{node.name} {node.size}" for node in graph.inputs)
    raise TrainingError(
        f"The data has {data.features} features after encoding; the input layers take "
        f"{graph.features} ({layers}). Change their sizes, or use auto."
    )


def _result(
    run: Run,
    outcome: Outcome,
    graph: Graph,
    data: TrainingData,
    settings: Settings,
    specification: str,
    context: dict[str, Any],
) -> TrainingResult:
    model = Model(
        specification=specification,
        context=context,
        settings=settings,
        encoding=data.encoding,
        normalizer=data.normalizer,
        classes=data.classes,
        answer=run.answer,
        tensors=outcome.tensors,
        state=outcome.state,
        reports=outcome.reports,
        history=outcome.history,
    )
    model.bind(graph)
    return TrainingResult(model, outcome.status, outcome.message, outcome.reports, outcome.history)
