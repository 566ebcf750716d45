"""A trained model: weights with all that prediction needs, its file, its predictions.

The file is safetensors with JSON metadata; loading reads numbers and text and executes nothing.
The graph is built from the specification by the caller, since no language is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine import stored
from netsharp_engine.data import (
    Encoding,
    Normalizer,
    ProgressCallback,
    ReadOptions,
    Table,
    stream_rows,
)
from netsharp_engine.data.answers import NetworkAnswers, Predictions
from netsharp_engine.data.stream import EncodedRows, RowQuery
from netsharp_engine.data.table import translate_classes
from netsharp_engine.excerpt import excerpt
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.model_file import ModelError, read_file, read_network, write_file
from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.program import Backend, drafted
from netsharp_engine.room import require_room
from netsharp_engine.train.failures import TrainingError
from netsharp_engine.train.measure import Measurement, Meter, measuring_job
from netsharp_engine.train.objective import Objective, choose_objective
from netsharp_engine.train.preparation import encode_table
from netsharp_engine.train.report import Report
from netsharp_engine.train.settings import TrainingSettings, restore_settings
from netsharp_engine.train.state import Tensors, TrainingState

__all__ = [
    "Model",
    "ModelError",
    "Predictions",
    "evaluate",
    "evaluate_table",
    "load_model",
    "predict_stream",
    "save_model",
]

STATE = "state/"
GraphBuilder = Callable[[str, dict[str, Any]], Graph]
#: Reads the rows of files as ``stream_rows`` does.
RowReader = Callable[[RowQuery, Encoding], Iterator[EncodedRows]]


@dataclass(slots=True)
class Model:
    """A trained network: its weights, and how rows become features and outputs become answers.

    Attributes
    ----------
    specification : str
        The text of the network.
    context : dict
        What was known around it: "features", "outputs", "task", ...
    settings : TrainingSettings
        Every setting of the training, by name: ``model.settings.epochs``.
    encoding : Encoding
        How columns of a table become features.
    normalizer : Normalizer
        How features are scaled before they enter the network.
    classes : tuple of str, or None
        The names of the classes in the order of the outputs; None for a regression.
    answer : tuple of float
        What would be answered without a network: the share of each class, or the mean.
    tensors : dict of str to ndarray
        The parameters by name ("LAYER/SOURCE/weights", "LAYER/biases"), of the type
        ``settings.dtype``; weights of a full bundle have the shape (destination, source).
    state : TrainingState or None
        What the training goes on from; None where it was not kept.
    reports : list of Report
        The figures on the training rows, then on the validation rows if there are any.
    history : list of dict
        What the run log said of each epoch: "loss", "metrics", "validation", ...
    backend : Backend
        What computes the network: numpy's unless somebody gives another.
    graph : Graph
        The network as operations with shapes; its ``inputs`` and ``parameters`` are lists.
    inputs : dict of str to tuple of int
        The shape of a sample, by the name of each input, the last dimension together in memory.
    outputs : dict of str to tuple of int
        The same, by the name of each output.
    parameters : dict of str to ndarray
        The same as ``tensors``: the numbers of the network by name.
    network : NetworkAnswers or None
        What is asked by the names of a network's nodes: that of a model of CNTK's.
    meter : Meter
        What runs the network forward, made on first use.

    Since
    -----
    0.1
    """

    specification: str
    context: dict[str, Any]
    settings: TrainingSettings
    encoding: Encoding
    normalizer: Normalizer
    classes: tuple[str, ...] | None
    answer: tuple[float, ...]
    tensors: Tensors
    state: TrainingState | None = None
    reports: list[Report] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    backend: Backend = field(default=NumpyDraft, repr=False)
    _graph: Graph | None = field(default=None, repr=False)
    _objective: Objective | None = field(default=None, repr=False)
    _meter: Meter | None = field(default=None, repr=False)
    _rows: RowReader = field(default=stream_rows, repr=False)
    network: NetworkAnswers | None = field(default=None, repr=False)

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """The shape of a sample, by input."""
        if self.network is not None:
            return dict(self.network.inputs)
        return {node.name: node.shape for node in self.graph.inputs}

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """The shape of what comes out for a sample, by output."""
        if self.network is not None:
            return dict(self.network.outputs)
        output = self.graph.output
        return {} if output is None else {output.name: output.shape}

    @property
    def parameters(self) -> Tensors:
        """The numbers of the network by name."""
        return self.tensors

    @property
    def graph(self) -> Graph:
        """The network; a ModelError when none was bound."""
        if self._graph is None:
            raise ModelError("The model was not given its network: bind a graph to it first.")
        return self._graph

    def bind(self, graph: Graph) -> None:
        """Give the model its network; ModelError where the weights do not fit it."""
        needed = {parameter.name: parameter.shape for parameter in graph.parameters}
        for name, shape in needed.items():
            if name not in self.tensors:
                raise ModelError(f"The model has no weights '{name}', which its network needs.")
            if self.tensors[name].shape != shape:
                raise ModelError(
                    f"The model's weights '{name}' have the shape "
                    f"{list(self.tensors[name].shape)}; its network needs {list(shape)}."
                )
        extra = [name for name in self.tensors if name not in needed]
        if extra:
            raise ModelError(
                f"The model has weights '{excerpt(extra[0])}' that its network does not know."
            )
        if graph.features != self.encoding.features:
            raise ModelError(
                f"The model's data has {self.encoding.features} features; its network takes "
                f"{graph.features}."
            )
        try:
            self._objective = choose_objective(graph, self.classes, self.settings.loss)
        except TrainingError as error:
            raise ModelError(str(error)) from None
        if len(self.answer) != (1 if self.classes is None else len(self.classes)):
            raise ModelError("The model's baseline is not that of its classes.")
        self._graph = graph
        self._meter = None

    def install(
        self,
        graph: Graph,
        objective: Objective,
        rows: RowReader,
        network: NetworkAnswers | None = None,
    ) -> None:
        """Give the model a network that is no specification's, and what reads its files."""
        self._graph, self._objective, self._rows = graph, objective, rows
        self.network, self._meter = network, None

    def name_classes(self, names: Sequence[str]) -> None:
        """Call the classes so, in the order of the outputs; ValueError where they are not as many,
        or two have one name.
        """
        count = 0 if self.classes is None else len(self.classes)
        if len(names) != count or len(set(names)) != count:
            twice = "" if len(set(names)) == len(names) else ", two of which are the same"
            raise ValueError(f"The model has {count:,} classes; {len(names):,} names{twice}.")
        assert self._objective is not None
        self.classes, self._meter = tuple(names), None
        self._objective = replace(self._objective, classes=self.classes)

    def rows(self, query: RowQuery) -> Iterator[EncodedRows]:
        """The rows of files, read as this model's are; see ``stream_rows``."""
        return self._rows(query, self.encoding)

    @property
    def meter(self) -> Meter:
        """What runs the network with these weights, made on first use; ModelError without room."""
        if self._meter is None:
            graph, objective = self.graph, self._objective
            assert objective is not None
            try:
                job = measuring_job(graph, objective, self.settings.dtype)
                draft = drafted(self.backend, job)
                require_room("The network", [draft.needs()], "Use a computer with more of it.")
            except GraphError as error:
                raise ModelError(str(error)) from None
            meter = Meter(job, draft.program(self.settings.threads), objective)
            meter.load(self.tensors)
            self._meter = meter
        return self._meter

    def compute(self, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """Return the network's outputs for features that are not normalised yet.

        ``features`` [rows, features] are numbers; the outputs [rows, outputs] have the type
        ``settings.dtype``.  Each row is taken by itself: how rows are grouped changes no bit.
        ModelError where there is no memory for the network.
        """
        matrix = np.array(features, dtype=self.settings.dtype, order="C")
        self.normalizer.apply(matrix)
        return self.meter.outputs(matrix)

    def predict(
        self,
        features: npt.NDArray[np.floating] | Mapping[str, Any],
        kept: tuple[Sequence[str], ...] = (),
        *,
        outputs: Sequence[str] = (),
    ) -> Predictions:
        """Return the answers for features [rows, features] that are not normalised yet.

        ``kept`` goes through to the answers.  A network of CNTK's also takes a dict of arrays by
        the names of its inputs: rows [rows, ...], of one that goes through sequences a list of
        these [steps, ...], or indices in their place; ``values`` then has what the ``outputs`` are
        that are named, any nodes of it.  ModelError where there is no memory for the network,
        ValueError for other arrays.
        """
        if isinstance(features, Mapping):
            if self.network is not None:
                return self.network.predicted(features, outputs, self.answered)
            features = _side_by_side(features, self.inputs)
        elif self.network is not None and self.network.over_time:
            names = ", ".join(f"'{name}': [...]" for name in self.inputs)
            raise ValueError(
                f"The network goes through sequences: give them by its inputs, {{{names}}}."
            )
        if outputs:
            raise ValueError("Outputs are named where features are given by the names of inputs.")
        return self.answered(self.compute(features), kept)

    def answered(
        self, outputs: npt.NDArray[np.floating], kept: tuple[Sequence[str], ...] = ()
    ) -> Predictions:
        """Return what outputs [rows, outputs] of the network answer."""
        objective = self._objective
        assert objective is not None
        found = objective.predicted(outputs)
        if self.classes is None:
            return Predictions(found.astype(np.float64), None, kept)
        names = self.classes
        chosen = [names[code] for code in found.astype(np.intp).tolist()]
        return Predictions(chosen, objective.probabilities(outputs), kept)

    def read_options(self) -> ReadOptions:
        """How data for this model is read unless somebody says otherwise."""
        return replace(
            self.settings.read_options(), labels=(), header=None, delimiter=None, rows=None
        )


def _side_by_side(
    given: Mapping[str, Any], inputs: Mapping[str, tuple[int, ...]]
) -> npt.NDArray[np.floating]:
    """Features of arrays by the names of inputs; ValueError where one is not there."""
    absent = [name for name in inputs if name not in given]
    if absent:
        raise ValueError(f"There is no array of the input '{absent[0]}'.")
    rows = [np.asarray(given[name]) for name in inputs]
    if any(array.ndim < 2 or len(array) != len(rows[0]) for array in rows):
        raise ValueError("Every input needs an array [rows, ...], all of as many rows.")
    return np.concatenate([array.reshape(len(array), -1) for array in rows], axis=1)


def predict_stream(
    model: Model,
    paths: str | Sequence[str],
    options: ReadOptions | None = None,
    *,
    keep: Sequence[str] = (),
    directory: str = ".",
    progress: ProgressCallback | None = None,
) -> Iterator[Predictions]:
    """Answers for every row of the files, in order, at constant memory.

    Columns are found as ``stream_rows`` says; faults in the columns are raised at the call, those
    of cells while reading (DataError).
    """
    options = options or model.read_options()
    query = RowQuery(paths, options, keep, directory=directory, progress=progress)
    return (model.predict(part.features, part.kept) for part in model.rows(query))


def evaluate(
    model: Model,
    paths: str | Sequence[str],
    options: ReadOptions | None = None,
    *,
    directory: str = ".",
    progress: ProgressCallback | None = None,
    part: str = "test",
) -> Report:
    """The figures of the model on labelled files, read as a stream.  Raises DataError.

    Memory is constant but for two classes, whose AUC needs 25 bytes a row (and as many for the
    baseline's).
    """
    options = options or model.read_options()
    measurement = Measurement(model.meter, model.answer)
    classes = model.classes or ()
    query = RowQuery(paths, options, (), True, classes, directory, progress)
    for rows in model.rows(query):
        _measure(model, measurement, rows)
    return measurement.report(part)


def evaluate_table(model: Model, table: Table, part: str = "test") -> Report:
    """The figures of the model on a labelled table.  Raises DataError."""
    features = encode_table(table, model.encoding, model.settings.dtype)
    codes = None if model.classes is None else translate_classes(table, model.classes)
    measurement = Measurement(model.meter, model.answer)
    rows = EncodedRows(features, (), codes, table.targets, table.weights)
    _measure(model, measurement, rows)
    return measurement.report(part)


def _measure(model: Model, measurement: Measurement, rows: EncodedRows) -> None:
    targets = rows.targets if model.classes is None else rows.class_codes
    assert targets is not None
    model.normalizer.apply(rows.features)
    measurement.add(rows.features, targets, rows.weights)


def save_model(model: Model, path: str, *, state: bool = True) -> None:
    """Write a model file: aside first, then renamed, so that no partial file is ever seen.

    Without ``state`` the run cannot be resumed and the file is smaller.  ModelError when it
    cannot be written.
    """
    # What reads rows by other means has a network of a file, and no text to write.
    if model._rows is not stream_rows:
        raise ModelError("This model has no specification: only the run that trains it writes it.")
    texts: dict[str, Any] = {
        "specification": model.specification,
        "context": model.context,
        "settings": model.settings.to_json(),
        "encoding": model.encoding.to_json(),
        "normalizer": model.normalizer.to_json(),
        "classes": None if model.classes is None else list(model.classes),
        "baseline": list(model.answer),
        "reports": [report.to_json() for report in model.reports],
        "history": model.history,
    }
    tensors = dict(model.tensors)
    if state and model.state is not None:
        texts["state"] = model.state.to_json()
        for vector, values in model.state.vectors.items():
            tensors |= {f"{STATE}{vector}/{name}": array for name, array in values.items()}
    write_file(path, texts, tensors)


def load_model(path: str, build_graph: GraphBuilder | None = None) -> Model:
    """Read a model file.

    ``build_graph(specification, context)`` makes the network, which must fit the weights;
    without it ``bind`` one before predicting.  ModelError, a sentence, for a file that is
    damaged, foreign or of a newer version.
    """
    texts, tensors = read_file(path)
    try:
        model = _restored(texts, tensors)
    except ValueError as error:
        raise ModelError(f"{path} is damaged: {error}. Train again or take a copy.") from None
    if build_graph is not None:
        try:
            model.bind(build_graph(model.specification, model.context))
        except (GraphError, ModelError) as error:
            raise ModelError(f"{path}: {error}") from None
    return model


def _restored(texts: dict[str, Any], tensors: Tensors) -> Model:
    """A model of a file's entries; ValueError where they are not one."""
    settings = restore_settings(stored.table(texts, "settings"))
    if isinstance(settings, list):
        raise ValueError(settings[0].removesuffix("."))
    specification, context = read_network(texts)
    classes = stored.optional(texts, "classes", stored.items)
    if classes == []:
        raise ValueError("it has no classes")
    reports = [stored.table({"report": each}, "report") for each in stored.items(texts, "reports")]
    answer = stored.items(texts, "baseline")
    model = Model(
        specification=specification,
        context=context,
        settings=settings,
        encoding=Encoding.from_json(stored.table(texts, "encoding")),
        normalizer=Normalizer.from_json(stored.table(texts, "normalizer")),
        classes=None
        if classes is None
        else tuple(stored.as_text(each, "class") for each in classes),
        answer=tuple(stored.as_number(each, "baseline") for each in answer),
        tensors={name: array for name, array in tensors.items() if not _of_state(name)},
        reports=[Report.from_json(report) for report in reports],
        history=[_event(each) for each in stored.items(texts, "history")],
    )
    if texts.get("state") is not None:
        table = stored.table(texts, "state")
        model.state = TrainingState.from_json(table, _vectors(tensors))
    for name, array in model.tensors.items():
        if not np.isfinite((array.min(initial=0), array.max(initial=0))).all():
            raise ValueError(f"the weights '{excerpt(name)}' hold a number that is not finite")
    steps = np.concatenate((model.normalizer.offset, model.normalizer.scale))
    if np.any(np.abs(steps) > np.finfo(settings.dtype).max):
        raise ValueError(f"its normalizer goes beyond {settings.dtype}")
    if context.get("features") != model.encoding.features:
        raise ValueError("context and encoding have different numbers of features")
    if len(model.normalizer.offset) != model.encoding.features:
        raise ValueError("normaliser and encoding have different numbers of features")
    return model


def _event(values: Any) -> dict[str, Any]:
    """An epoch of the history: what is drawn and told of it must be numbers."""
    event = dict(stored.table({"event": values}, "event"))
    for key in event.keys() & {"metrics", "validation"}:
        event[key] = stored.numbers(event, key, finite=False)
    for key in event.keys() & {"loss", "rate", "seconds"}:
        event[key] = stored.number(event, key, finite=False)
    for key in event.keys() & {"epoch", "step", "samples"}:
        event[key] = stored.whole(event, key)
    return event


def _of_state(name: str) -> bool:
    """Whether a tensor is ``state/VECTOR/PARAMETER``; a layer may itself be called ``state``."""
    return name.startswith(STATE) and name.count("/") > 2


def _vectors(tensors: Tensors) -> dict[str, Tensors]:
    """The arrays below ``state/VECTOR/`` by vector and parameter name."""
    vectors: dict[str, Tensors] = {}
    for name, array in tensors.items():
        if _of_state(name):
            vector, _, parameter = name.removeprefix(STATE).partition("/")
            vectors.setdefault(vector, {})[parameter] = array
    return vectors
