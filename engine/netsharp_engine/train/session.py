"""Train and resume: the loop's outcome together with all that a model file needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from netsharp_engine.backends import Device, title_of
from netsharp_engine.backends.naming import BF16
from netsharp_engine.distributed.comm import CommError
from netsharp_engine.distributed.ranks import ALONE, Ranks
from netsharp_engine.excerpt import excerpt
from netsharp_engine.graph import Graph
from netsharp_engine.model import Model
from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.program import Backend
from netsharp_engine.train.drafting.devices import device_facts, device_of, device_text
from netsharp_engine.train.drafting.sharing import with_threads
from netsharp_engine.train.examining.start import TrainingStart, examine_start
from netsharp_engine.train.failures import TrainingError
from netsharp_engine.train.loop import Event, EventCallback, Outcome, Run
from netsharp_engine.train.preparation import TrainingData
from netsharp_engine.train.report import Report
from netsharp_engine.train.settings import CALL, CHOSEN, TrainingSettings, precision_fault
from netsharp_engine.train.settings.keys import AUTO
from netsharp_engine.train.state import TrainingState
from netsharp_engine.train.steps.quantizing import TableMaker, quantized_graph

CHANGEABLE = frozenset(
    ("cache", "checkpoint", "device", "dtype", "epochs", "patience", "precision", "threads")
)
PLACES = frozenset(("train", "test", "labels", "model", "log", "plot"))


@dataclass(slots=True)
class TrainingResult:
    """The result of a run.

    ``status`` is ``finished``, ``early``, ``interrupted`` or ``diverged``; ``message`` is a
    sentence, empty when finished. ``reports`` has training and, if there are such rows, validation;
    ``history`` the epoch events. ``doubt`` says that nothing was learned, and why; mostly empty.
    """

    model: Model
    status: str
    message: str
    reports: list[Report]
    history: list[Event]
    doubt: str = ""

    @property
    def report(self) -> Report:
        """Return the report on validation rows if there are any, else on training rows."""
        return self.reports[-1]


def train(
    graph: Graph,
    data: TrainingData,
    settings: TrainingSettings | None = None,
    *,
    specification: str = "",
    context: dict[str, Any] | None = None,
    on_event: EventCallback | None = None,
    on_checkpoint: Callable[[Model], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    measured: bool = False,
    backend: Backend | None = None,
    tables: TableMaker | None = None,
    ranks: Ranks = ALONE,
) -> TrainingResult:
    """Train a network from its initial weights, computed by the device of the settings.

    ``backend`` computes in its place where one is given. ``specification`` and ``context`` (over
    that of the data) are stored in the model, so that the graph can be built again. ``on_event``
    gets every line of the run log; ``on_checkpoint`` a model to save that can be resumed, every
    ``settings.checkpoint`` seconds and before the last figures are measured; ``should_stop`` is
    asked after every step and while validation rows are measured. ``measured``: the events "start"
    and "epoch" that ``on_event`` gets have in "training" the figures of all training rows with the
    weights of then. ``tables`` makes transfer tables, which ``settings.quantize`` asks for.
    ``ranks`` are the processes that train together, each of which calls this with the same. Raises
    TrainingError where network, data and settings do not fit, CommError where another process is
    lost. Raises GraphError where memory is too small.
    """
    _check_features(graph, data)
    settings = settings or data.settings
    _check_tables(settings, tables)
    graph = quantized_graph(graph, settings.quantize)
    computed = _computed(graph, data, settings, backend, ranks)
    settings = with_threads(graph, data, settings, computed.backend)
    callback = _measuring(on_event, lambda: run.training_report()) if measured else on_event
    run = _run(graph, data, settings, computed, (callback, should_stop, tables, ranks))
    chosen = {**data.context(), **(context or {})}
    return _Session(run, graph, data, settings, specification, chosen).result(on_checkpoint)


def resume(
    model: Model,
    data: TrainingData,
    settings: TrainingSettings | None = None,
    *,
    on_event: EventCallback | None = None,
    on_checkpoint: Callable[[Model], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    measured: bool = False,
    tables: TableMaker | None = None,
    ranks: Ranks = ALONE,
) -> TrainingResult:
    """Continue a stored run, bit-equal to one that was never interrupted.

    The model must be bound to its graph. ``settings`` may differ from the model's in what is
    ``CHANGEABLE`` only; ``data`` is prepared with ``settings_to_resume``; ``measured``, ``tables``
    and ``ranks`` are those of `train`. Raises TrainingError for other data or settings. Raises
    GraphError where memory is too small.
    """
    if model.state is None:
        raise TrainingError(
            "This model holds no state of a run to resume. Train again, or resume from a model "
            "that was saved with its state."
        )
    chosen = model.settings if settings is None else settings_to_resume(model.settings, settings)
    reached = model.state.epoch
    if reached > chosen.epochs or (model.state.finished and reached == chosen.epochs):
        raise TrainingError(
            f"The stored run has finished {reached} epochs; {chosen.epochs} are asked for. "
            f"Give more to go on, for example epochs = {2 * reached}."
        )
    if not _same_data(model, data, chosen):
        raise TrainingError(
            f"The data is not that of the stored run: {data.fingerprint()} now, "
            f"{excerpt(model.state.data)} then. Resume with the same files, or train again."
        )
    _check_features(model.graph, data)
    _check_tables(chosen, tables)
    callback = _measuring(on_event, lambda: run.training_report()) if measured else on_event
    kept = model.backend if chosen.device == model.settings.device else NumpyDraft
    computed = _computed(model.graph, data, chosen, None if kept is NumpyDraft else kept, ranks)
    run = _run(model.graph, data, chosen, computed, (callback, should_stop, tables, ranks))
    run.restore(model.state, model.tensors, model.history)
    session = _Session(run, model.graph, data, chosen, model.specification, model.context)
    return session.result(on_checkpoint)


def train_further(
    model: Model,
    data: TrainingData,
    epochs: int = 1,
    *,
    on_event: EventCallback | None = None,
    should_stop: Callable[[], bool] | None = None,
    tables: TableMaker | None = None,
) -> TrainingResult:
    """Train a model ``epochs`` more epochs on these rows, whatever it was trained on before.

    The optimiser continues from its state, or from zero without one. ``data`` must be prepared with
    ``fitted=model``; ``tables`` are those of `train`. Raises TrainingError where data and network
    do not fit, GraphError where memory is too small.
    """
    _check_features(model.graph, data)
    _check_tables(model.settings, tables)
    state = model.state or TrainingState(rate=model.settings.learning_rate)
    # An epoch that was broken off is not finished on other rows: its sums go.
    state = replace(
        state,
        data=data.fingerprint(),
        position=0,
        loss_sum=0.0,
        weight_sum=0.0,
        right=0,
        seen=0,
    )
    settings = replace(model.settings, epochs=state.epoch + epochs, patience=0)
    kept = None if model.backend is NumpyDraft else model.backend
    computed = _computed(model.graph, data, settings, kept, ALONE)
    run = _run(model.graph, data, settings, computed, (on_event, should_stop, tables, ALONE))
    run.restore(state, model.tensors, model.history)
    return _Session(run, model.graph, data, settings, model.specification, model.context).result()


def examine(
    graph: Graph,
    data: TrainingData,
    settings: TrainingSettings | None = None,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    backend: Backend = NumpyDraft,
) -> TrainingStart:
    """Examine the start of a training; nothing is trained. Raises TrainingError where network, data
    and settings do not fit.
    """
    _check_features(graph, data)
    return examine_start(graph, data, settings or data.settings, backend, should_stop)


def _same_data(model: Model, data: TrainingData, chosen: TrainingSettings) -> bool:
    """Return whether data are those of a stored run: of numbers of another type the extent."""
    assert model.state is not None
    known, here = model.state.data, data.fingerprint()
    if chosen.dtype == model.settings.dtype:
        return known == here
    return known.partition(", checksum")[0] == here.partition(", checksum")[0]


def _fitting_precision(stored: TrainingSettings, given: dict[str, Any]) -> dict[str, Any]:
    """Return what else changes of ``dtype`` and ``precision`` where one of them was given."""
    precision = given.get("precision", stored.precision)
    dtype = given.get("dtype", stored.dtype)
    if precision_fault(dtype, precision) is None:
        return {}
    if "precision" in given:
        return {"dtype": "float32" if precision == BF16 else precision}
    return {"precision": None}


def settings_to_resume(stored: TrainingSettings, wanted: TrainingSettings) -> TrainingSettings:
    """Return a stored run's settings with changes taken from ``wanted`` where they were given.

    Settings that are ``CHANGEABLE`` may change, and paths of files. Raises TrainingError for any
    other setting that was given (by call, file or flag) and differs.
    """
    given: dict[str, Any] = {}
    for _, name, shown, origin in wanted.listing():
        value = getattr(wanted, name)
        if origin not in (CALL, *CHOSEN) or value == getattr(stored, name):
            continue
        if name == "threads" and value == AUTO:
            continue  # what was measured then stays
        if name not in CHANGEABLE | PLACES:
            raise TrainingError(
                f"A resumed run keeps its settings: {name} was "
                f"{excerpt(repr(getattr(stored, name)))} and is "
                f"now {excerpt(shown)}. Leave it out, or train again. "
                f"{', '.join(sorted(CHANGEABLE))} may change."
            )
        given[name] = value
    given |= _fitting_precision(stored, given)
    origins = {**stored.origins, **{name: wanted.origins[name] for name in given}}
    return replace(stored, origins=origins, directory=wanted.directory, **given)


def _computed(
    graph: Graph,
    data: TrainingData,
    settings: TrainingSettings,
    backend: Backend | None,
    ranks: Ranks,
) -> Device:
    """Return the device that computes: the back end that a caller gave, or the device of the
    settings.
    """
    if backend is not None:
        return Device(settings.device, backend, title_of(backend), "it was given")
    return device_of(graph, data, settings, shared=not ranks.alone)


def _run(
    graph: Graph,
    data: TrainingData,
    settings: TrainingSettings,
    device: Device,
    watching: tuple[EventCallback | None, Callable[[], bool] | None, TableMaker | None, Ranks],
) -> Run:
    watching[-1].same("device", device.name)
    run = Run(graph, data, settings, device.backend, *watching)
    run.device = device_facts(device, settings)
    return run


def _measuring(
    callback: EventCallback | None, report: Callable[[], Report]
) -> EventCallback | None:
    """Return a callback that adds a report of that moment to the events of starts and epochs."""
    if callback is None:
        return None

    def with_training_figures(event: Event) -> object:
        if event["event"] in ("start", "epoch"):
            found = report()
            event = {**event, "training": {"loss": found.loss, **found.metrics}}
        return callback(event)

    return with_training_figures


def _check_tables(settings: TrainingSettings, tables: TableMaker | None) -> None:
    if settings.quantize is not None and tables is None:
        raise TrainingError(
            f"quantize = {settings.quantize} needs what makes transfer tables, and none was given. "
            "Train with netsharp run or the Python package, or leave it out."
        )


def _check_features(graph: Graph, data: TrainingData) -> None:
    if graph.features == data.features:
        return
    layers = ", ".join(f"{node.name} {node.size}" for node in graph.inputs)
    raise TrainingError(
        f"The data has {data.features} features after encoding; the input layers take "
        f"{graph.features} ({layers}). Change their sizes, or use auto."
    )


@dataclass(frozen=True, slots=True)
class _Session:
    """A run together with what turns its outcome into a model."""

    run: Run
    graph: Graph
    data: TrainingData
    settings: TrainingSettings
    specification: str
    context: dict[str, Any]

    def result(self, on_checkpoint: Callable[[Model], None] | None = None) -> TrainingResult:
        """Run to the end."""
        if on_checkpoint is not None:
            keep = on_checkpoint
            self.run.on_checkpoint = lambda outcome: keep(self._model(outcome))
        try:
            outcome = self.run.run()
        except CommError:
            self.run.keep()
            raise
        return TrainingResult(
            self._model(outcome),
            outcome.status,
            outcome.message,
            outcome.reports,
            outcome.history,
            outcome.doubt,
        )

    def _model(self, outcome: Outcome) -> Model:
        model = Model(
            specification=self.specification,
            context=self.context,
            settings=self.settings,
            encoding=self.data.encoding,
            normalizer=self.data.normalizer,
            classes=self.data.classes,
            answer=self.run.answer,
            tensors=outcome.tensors,
            state=outcome.state,
            reports=outcome.reports,
            history=outcome.history,
            labels=self.data.labels,
            scale=self.run.objective.scale,
            trained_on=device_text(self.run.device),
            backend=self.run.backend,
        )
        model.bind(self.graph)
        return model
