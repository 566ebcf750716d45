"""A trained model: weights with all that prediction needs, and its answers for arrays.

It must not know files or languages: the caller gives it the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from netsharp_engine.backends import Device, choose
from netsharp_engine.data import (
    Encoding,
    Normalizer,
    ReadOptions,
    Table,
    stream_rows,
)
from netsharp_engine.data.answers import NetworkAnswers, Predictions
from netsharp_engine.data.errors import DataError
from netsharp_engine.data.frames import is_frame
from netsharp_engine.data.labels import Labels
from netsharp_engine.data.scaling import TargetScale
from netsharp_engine.data.stream import EncodedRows, RowQuery
from netsharp_engine.excerpt import excerpt
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.model.fast_path import FastPath, fast_path_of
from netsharp_engine.model.pages import model_page
from netsharp_engine.model_file import ModelError
from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.program import Backend, Unusable, drafted
from netsharp_engine.room import require_room
from netsharp_engine.train.failures import TrainingError
from netsharp_engine.train.measure import Meter, measuring_job
from netsharp_engine.train.objective import Objective, choose_objective
from netsharp_engine.train.preparation import check_finite, encode_table
from netsharp_engine.train.report import Report
from netsharp_engine.train.settings import TrainingSettings
from netsharp_engine.train.state import Tensors, TrainingState
from netsharp_engine.train.steps.quantizing import quantized_graph

#: The most classes that are named where a model is printed.
SHOWN_CLASSES = 6
#: Reads the rows of files as ``stream_rows`` does.
RowReader = Callable[[RowQuery, Encoding], Iterator[EncodedRows]]


@dataclass(slots=True, repr=False)
class Model:
    """A trained network: its weights, and how rows become features and outputs become answers.

    Attributes
    ----------
    specification : str
        The text of the network.
    context : dict
        The values around it: "features", "outputs", "task", ...
    settings : TrainingSettings
        Every setting of the training, by name: ``model.settings.epochs``.
    encoding : Encoding
        The encoding of a table's columns as features.
    normalizer : Normalizer
        The scaling of features before they enter the network.
    classes : tuple of str, or None
        The names of the classes in the order of the outputs; None for a regression.
    answer : tuple of float
        The answer without a network: the share of each class, or the mean.
    tensors : dict of str to ndarray
        The parameters by name ("LAYER/SOURCE/weights", "LAYER/biases"), of the type
        ``settings.dtype``; weights of a full bundle have the shape (destination, source).
    state : TrainingState or None
        The state from which training continues; None where it was not kept.
    reports : list of Report
        The figures on the training rows, then on the validation rows if there are any.
    history : list of dict
        The run log's events of epochs: "loss", "metrics", "validation", ...
    labels : Labels or None
        The classes' values in Python, in their order, where arrays were trained on:
        ``labels.values``; None where classes are their names.
    scale : TargetScale or None
        The units in which numbers were learned, where they were scaled for that.
    trained_on : str
        The device that computed the training last, with its adapter and driver; empty where
        ``settings.device`` is the processor.
    backend : Backend
        The back end that computes the network: numpy's unless another is given.
    objective : Objective
        The meaning of the outputs: the loss, and the units in which numbers are learned.
    graph : Graph
        The network as operations with shapes; its ``inputs`` and ``parameters`` are lists.
    inputs : dict of str to tuple of int
        The shape of a sample, by the name of each input, the last dimension together in memory.
    outputs : dict of str to tuple of int
        The same, by the name of each output.
    parameters : dict of str to ndarray
        The same as ``tensors``: the numbers of the network by name.
    network : NetworkAnswers or None
        The network that goes by names of nodes: that of a model of CNTK's.
    meter : Meter
        The evaluation of the network forward, made on first use.

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
    labels: Labels | None = None
    scale: TargetScale | None = None
    trained_on: str = ""
    backend: Backend = field(default=NumpyDraft, repr=False)
    _graph: Graph | None = field(default=None, repr=False)
    _objective: Objective | None = field(default=None, repr=False)
    _meter: Meter | None = field(default=None, repr=False)
    _fast_path: FastPath | None = field(default=None, repr=False)
    _rows: RowReader = field(default=stream_rows, repr=False)
    network: NetworkAnswers | None = field(default=None, repr=False)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Copy and pickle a network of CNTK's by what makes it again: its nodes refer to each
        other, deeper than Python follows.
        """
        remade = None if self.network is None else self.network.remade
        if remade is None:
            return object.__reduce_ex__(self, protocol)
        return _remade, (*remade, self.classes)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the program, which is made again on the next use: so a model can
        be pickled and copied at any time.
        """
        names = [each.name for each in fields(self) if each.name not in ("_meter", "_fast_path")]
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what ``__getstate__`` gave."""
        for name, value in state.items():
            setattr(self, name, value)
        self._meter = self._fast_path = None

    def __repr__(self) -> str:
        """Return three lines: inputs and outputs, how it was trained, how good it is."""
        return "\n".join(summary(self))

    def _repr_html_(self) -> str:
        """Return the page of a notebook: the same lines, the parameters, the curve, the
        confusion.
        """
        report = self.reports[-1] if self.reports else None
        return model_page(summary(self), self.tensors, self.history, report)

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of a sample, by input."""
        if self.network is not None:
            return dict(self.network.inputs)
        return {node.name: node.shape for node in self.graph.inputs}

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of a sample's result, by output."""
        if self.network is not None:
            return dict(self.network.outputs)
        output = self.graph.output
        return {} if output is None else {output.name: output.shape}

    @property
    def parameters(self) -> Tensors:
        """Return the numbers of the network by name."""
        return self.tensors

    @property
    def objective(self) -> Objective:
        """Return the meaning of the network's outputs; a ModelError when none was bound."""
        if self._objective is None:
            raise ModelError("The model was not given its network: bind a graph to it first.")
        return self._objective

    @property
    def graph(self) -> Graph:
        """Return the network; a ModelError when none was bound."""
        if self._graph is None:
            raise ModelError("The model was not given its network: bind a graph to it first.")
        return self._graph

    def bind(self, graph: Graph) -> None:
        """Give the model its network; ModelError where the weights do not fit it.

        What was trained with transfer tables has them.
        """
        try:
            graph = quantized_graph(graph, self.settings.quantize)
        except TrainingError as error:
            raise ModelError(str(error)) from None
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
            numbers = len(self.answer) if self.classes is None else 1
            self._objective = choose_objective(
                graph, self.classes, self.settings.loss, numbers, self.scale
            )
        except TrainingError as error:
            raise ModelError(str(error)) from None
        if self.classes is not None and len(self.answer) != len(self.classes):
            raise ModelError("The model's baseline is not that of its classes.")
        self._graph = graph
        self._meter = self._fast_path = None

    def install(
        self,
        graph: Graph,
        objective: Objective,
        rows: RowReader,
        network: NetworkAnswers | None = None,
    ) -> None:
        """Give the model a network that has no specification, and the reader of its files."""
        self._graph, self._objective, self._rows = graph, objective, rows
        self.network, self._meter, self._fast_path = network, None, None

    def name_classes(self, names: Sequence[str]) -> None:
        """Call the classes so, in the order of the outputs; ValueError where they are not as many,
        or two have one name.
        """
        count = 0 if self.classes is None else len(self.classes)
        if len(names) != count or len(set(names)) != count:
            twice = "" if len(set(names)) == len(names) else ", two of which are the same"
            raise ValueError(f"The model has {count:,} classes; {len(names):,} names{twice}.")
        assert self._objective is not None
        self.classes, self.labels, self._meter, self._fast_path = tuple(names), None, None, None
        self._objective = replace(self._objective, classes=self.classes)

    def rows(self, query: RowQuery) -> Iterator[EncodedRows]:
        """Yield the rows of files, read as this model's are; see ``stream_rows``."""
        return self._rows(query, self.encoding)

    @property
    def meter(self) -> Meter:
        """Return the evaluation of the network with these weights, made on first use; ModelError
        where memory is too small.
        """
        if self._meter is None:
            graph, objective = self.graph, self._objective
            assert objective is not None
            try:
                job = measuring_job(graph, objective, self.settings.dtype)
                draft = drafted(self.backend, job)
                require_room("The network", [draft.needs()], "Use a computer with more of it.")
            except GraphError as error:
                raise ModelError(str(error)) from None
            meter = Meter(job, draft.program(), objective)
            meter.load(self.tensors)
            self._meter = meter
            if self.network is None:
                self._fast_path = fast_path_of(meter, self.encoding, self.normalizer, self.labels)
        return self._meter

    def compute_on(self, name: str) -> str:
        """Let a device compute from now on, and return a sentence that says which and why.

        ``name`` is cpu, torch[:cuda|mps|xpu|cpu], wgpu[:NAME] or auto.  ModelError where the device
        cannot be used for this network.
        """
        found: Device | Unusable
        if self.network is None:
            job = measuring_job(self.graph, self.objective, self.settings.dtype)
            found = choose(name, [job])
        else:
            try:
                found = self.network.compute_on(name)
            except GraphError as error:
                found = Unusable(str(error), "")
        if isinstance(found, Unusable):
            raise ModelError(f"device {excerpt(name)}: {found}")
        self.backend, self._meter, self._fast_path = found.backend, None, None
        return f"{found.name} computes ({found.title}): {found.why}."

    def compute(self, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """Return the network's outputs, in the units of ``scale``, for features that are not
        normalised yet.

        ``features`` [rows, features], or [rows, ...] of as many, are numbers; the outputs [rows,
        outputs] have the type ``settings.dtype``, NaN for a row in which a number is missing.  Each
        row is taken by itself: how rows are grouped changes no bit.  ModelError where there is no
        memory for the network, DataError for other arrays.
        """
        given = np.array(features, dtype=self.settings.dtype, order="C")
        matrix = _in_rows(given, self.encoding.features)
        absent = np.isnan(matrix).any(axis=1)
        self.normalizer.apply(matrix)
        outputs = self.meter.outputs(matrix)
        outputs[absent] = np.nan
        return outputs

    def predict(
        self,
        features: Any,
        kept: tuple[Sequence[str], ...] = (),
        *,
        outputs: Sequence[str] = (),
    ) -> Predictions:
        """Return the answers for features [rows, features] that are not normalised yet, or for the
        rows of a data frame.  A row in which a number is missing is answered by None or NaN where
        the training left such rows out (``missing = "drop"``), and is a DataError where it refused
        them.

        ``kept`` goes through to the answers.  A network of CNTK's also takes a dict of arrays by
        the names of its inputs: rows [rows, ...], of one that goes through sequences a list of
        these [steps, ...], or indices in their place; ``values`` then has what the ``outputs`` are
        that are named, any nodes of it.  ModelError where there is no memory for the network,
        ValueError for other arrays, DataError (one of these) for rows of another size.
        """
        fast_path = self._fast_path
        if fast_path is not None and not kept and not outputs:
            same = fast_path.normalizer is self.normalizer and fast_path.labels is self.labels
            if same and (found := fast_path.predicted(features)) is not None:
                return found
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
        matrix = features if self.network is not None else self.encoded(features)
        return self.labelled(self.compute(matrix), kept)

    def labelled(
        self, outputs: npt.NDArray[np.floating], kept: tuple[Sequence[str], ...] = ()
    ) -> Predictions:
        """Return the answers of the network's outputs [rows, outputs], classes by their values in
        Python.
        """
        objective = self._objective
        if self.labels is None or objective is None or self.classes is None:
            return self.answered(outputs, kept)
        codes, probabilities = objective.decided(outputs)
        return Predictions(self.labels.chosen(codes), probabilities, kept)

    def encoded(self, features: Any) -> npt.NDArray[np.floating]:
        """Return rows as features [rows, features] that are not normalised yet.

        They may be a data frame, whose columns are found by name, an array of objects with the
        columns of the training, features already, or a dict of arrays [rows, ...] by the names of
        inputs.  Raises DataError for other columns, and for missing numbers where the training
        refused them, and ValueError for other inputs.
        """
        if isinstance(features, Mapping):
            shapes = {node.name: node.shape for node in self.graph.inputs}
            features = _side_by_side(features, shapes)
        columns, dtype = self.encoding.columns, self.settings.dtype
        matrix = features if is_frame(features) else np.asarray(features)
        if self._has_columns(matrix):
            positional = not (is_frame(features) and self.encoding.named)
            categories = [
                place + 1 if positional else column.name
                for place, column in enumerate(columns)
                if column.levels is not None
            ]
            table = Table.from_arrays(matrix, dtype=dtype, categorical=categories)
            matrix = encode_table(table, self.encoding, dtype)
        else:
            matrix = _in_rows(matrix, self.encoding.features)
        if self.settings.missing == "error":
            check_finite(matrix, self.encoding)
        return matrix

    def _has_columns(self, rows: Any) -> bool:
        """Return whether rows have the columns of the training, and not features already."""
        columns = self.encoding.columns
        if is_frame(rows) or rows.dtype.kind in "OU":
            return True
        if rows.ndim != 2 or rows.shape[1] != len(columns):
            return False
        return not self.encoding.plain or bool(np.isnan(rows).any())

    def answered(
        self, outputs: npt.NDArray[np.floating], kept: tuple[Sequence[str], ...] = ()
    ) -> Predictions:
        """Return the predictions from outputs [rows, outputs], with classes by their names."""
        return self.objective.answers(outputs, kept)

    def read_options(self) -> ReadOptions:
        """Return the options of reading data for this model, unless others are given."""
        return replace(
            self.settings.read_options(),
            labels=(),
            header=None,
            delimiter=None,
            decimal=None,
            encoding=None,
            rows=None,
        )


def summary(model: Model) -> list[str]:
    """Return three lines about a model for people."""
    classes, settings = model.classes, model.settings
    inputs = ", ".join(f"{name} {list(shape)}" for name, shape in model.inputs.items())
    outputs = ", ".join(f"{name} {list(shape)}" for name, shape in model.outputs.items())
    size = sum(array.size for array in model.tensors.values())
    if classes is None:
        task = "regression"
    else:
        more = ", ..." if len(classes) > SHOWN_CLASSES else ""
        names = ", ".join(excerpt(name) for name in classes[:SHOWN_CLASSES])
        task = f"classification, {len(classes)} classes: {names}{more}"
    epochs = len(model.history)
    how = f"{epochs} epoch{'s' * (epochs != 1)} of {settings.optimizer}" if epochs else "no history"
    where = f" on {excerpt(model.trained_on)}" if model.trained_on else ""
    figures = "no figures"
    if model.reports:
        report = model.reports[-1]
        values = [
            f"{name} {value:.4g}"
            + (f" ({report.baseline[name]:.4g} without)" if name in report.baseline else "")
            for name, value in report.metrics.items()
        ]
        figures = f"{report.part}, {report.rows:,} rows: {', '.join(values)}"
    return [f"Model: {inputs} -> {outputs}, {size:,} parameters", f"{task}; {how}{where}", figures]


def _side_by_side(
    given: Mapping[str, Any], inputs: Mapping[str, tuple[int, ...]]
) -> npt.NDArray[np.floating]:
    """Return features [rows, features] of arrays by the names of inputs; ValueError where one is
    missing.
    """
    absent = [name for name in inputs if name not in given]
    if absent:
        raise ValueError(f"There is no array of the input '{absent[0]}'.")
    rows = [np.asarray(given[name]) for name in inputs]
    if any(array.ndim < 2 or len(array) != len(rows[0]) for array in rows):
        raise ValueError("Every input needs an array [rows, ...], all of as many rows.")
    return np.concatenate([array.reshape(len(array), -1) for array in rows], axis=1)


def _in_rows(features: npt.NDArray[Any], width: int) -> npt.NDArray[Any]:
    """Return an array [rows, ...] as [rows, width]; DataError where a row is of another size."""
    if features.ndim < 2 or features.size != len(features) * width:
        raise DataError(
            f"The features have the shape {features.shape}; rows of {width:,} "
            f"number{'s' * (width != 1)} are needed."
        )
    return features.reshape(len(features), width)


def _remade(
    make: Callable[..., Model], arguments: tuple[Any, ...], classes: tuple[str, ...] | None
) -> Model:
    """Return the model that a function makes, with the given names of its classes."""
    model = make(*arguments)
    if classes is not None:
        model.name_classes(classes)
    return model
