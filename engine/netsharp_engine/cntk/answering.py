"""A network of CNTK as a model that answers rows: for arrays, tables, and text format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from netsharp_engine.backends import Device
from netsharp_engine.cntk.answer_programs import answer_backend
from netsharp_engine.cntk.computing import Computing, chosen
from netsharp_engine.cntk.descent.reports import CriterionMeans
from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.model_evaluation import (
    Answered,
    KeptPrograms,
    ModelNetwork,
    NodeGraph,
    answered,
    evaluated_criteria,
)
from netsharp_engine.cntk.sample_rows import (
    RowStreams,
    bring_streams,
    demand_streams,
    rows_of_files,
)
from netsharp_engine.cntk.samples.given import (
    InputStream,
    is_text_format,
    samples_in,
    samples_of,
)
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.data import Encoding, Normalizer, stream_rows
from netsharp_engine.data.answers import (
    CriteriaReport,
    Interpret,
    Predictions,
    SampleQuery,
    SampleRows,
)
from netsharp_engine.data.encoding import Feature
from netsharp_engine.data.errors import DataError, UnknownClassError
from netsharp_engine.data.reading.files import find_files
from netsharp_engine.data.reading.options import ReadOptions
from netsharp_engine.data.stream import EncodedRows, RowQuery
from netsharp_engine.graph import GraphError
from netsharp_engine.model import Model
from netsharp_engine.model_file import ModelError
from netsharp_engine.nodes import Node
from netsharp_engine.packing import Indices
from netsharp_engine.program import Job, Unusable
from netsharp_engine.train import read_settings
from netsharp_engine.train.measure import BATCH
from netsharp_engine.train.objective import Objective
from netsharp_engine.train.settings import TrainingSettings


def answering(network: ModelNetwork, label: InputStream, *, classes: bool) -> Model:
    """Return the model of a network that answers with probabilities of ``classes``, or with one
    number.

    ``label`` is the input that answers are compared with.
    """
    plain = network.graph((), False)
    graph, values, dtype = plain.graph, network.values, network.dtype
    assert graph.output is not None
    size = graph.output.size
    names = tuple(map(str, range(size))) if classes else None
    task = "classification" if names else "regression"
    settings = read_settings({}, {"dtype": dtype, "task": task, "normalizer": "none"})
    assert isinstance(settings, TrainingSettings)
    width = sum(node.size for node in graph.inputs)
    columns = tuple(Feature(f"{at + 1}", at) for at in range(width))
    model = Model(
        specification="",
        context={"features": width},
        settings=settings,
        encoding=Encoding(columns, unknown=False, named=False, width=width + 1),
        normalizer=Normalizer("none", np.zeros(width), np.ones(width)),
        classes=names,
        answer=(1 / size,) * size if names else (0.0,),
        tensors={one.name: _shaped(values[one.name], one.shape) for one in graph.parameters},
        backend=answer_backend(Computing(dtype)),
    )
    loss = "cross entropy" if names else "squared error"
    objective = Objective(names, size, "softmax" if names else "linear", loss)
    model.install(
        graph, objective, _Rows(plain, label), _Answers(network, plain, label, classes=classes)
    )
    return model


def _shaped(values: Array, shape: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(values).reshape(shape)


def _named(rows: Iterator[EncodedRows], classes: Sequence[str]) -> Iterator[EncodedRows]:
    """Yield the rows of tables; DataError for an unknown label names the known ones, since a model
    stores no class names.
    """
    try:
        yield from rows
    except UnknownClassError as error:
        numbered = list(classes) == list(map(str, range(len(classes))))
        known = f"numbers from 0 to {len(classes) - 1:,}" if numbered else "the names given to them"
        raise DataError(
            f"{error.place}: '{error.name}' is none of the model's classes, which are {known}. "
            "--classes FILE names them, one on each line, in the order of the outputs."
        ) from None


class _Rows:
    """The rows of files: of CNTK's text format, or of tables."""

    def __init__(self, nodes: NodeGraph, label: InputStream) -> None:
        self._nodes = nodes
        self._label = label

    def __call__(self, query: RowQuery, encoding: Encoding) -> Iterator[EncodedRows]:
        """Yield rows as ``stream_rows`` does. DataError where the network computes sequences."""
        if self._nodes.over_time:
            raise DataError("The network goes through sequences, and rows are answered.")
        files = find_files(query.paths, query.directory)
        if not all(map(is_text_format, files)):
            return _named(stream_rows(query, encoding), query.classes)
        if query.keep:
            raise DataError(f"{files[0]} has no columns that could be kept: it is in text format.")
        return self._of_text(files, query.options, query.labelled, bool(query.classes))

    def _of_text(
        self, files: Sequence[str], options: ReadOptions, labelled: bool, coded: bool
    ) -> Iterator[EncodedRows]:
        left = options.rows
        streams = RowStreams(self._nodes.inputs, self._label if labelled else None, coded)
        given = streams.wanted(options.dtype, {})
        for path in files:
            found = samples_in(path, given, ReadOptions())
            if found.lines is not None and len(found.lines) != found.total:
                raise DataError(f"{path} holds sequences, and rows are answered.")
            for rows in streams.rows(found, path, left):
                left = None if left is None else left - len(rows.features)
                yield rows
            if left == 0:
                return


class _Answers:
    """A network whose nodes are evaluated by name."""

    def __init__(
        self, network: ModelNetwork, plain: NodeGraph, label: InputStream, *, classes: bool
    ) -> None:
        self._network, self._plain = network, plain
        self._label, self._has_classes = label, classes
        self.inputs, self.outputs = network.inputs, network.outputs
        self.over_time, self.has_criteria = plain.over_time, bool(network.criteria)
        self.remade = network.remade
        self._programs, self._by = KeptPrograms(), Computing(network.dtype)

    def compute_on(self, name: str) -> Device:
        """Let a device compute from now on, and return it, with a back end for rows. GraphError,
        a sentence, where it cannot be used for the network's answer.
        """
        graph, dtype = self._plain.graph, self._network.dtype
        found = chosen(name, "", [Job(graph, BATCH, dtype)], dtype)
        if isinstance(found, Unusable):
            raise GraphError(str(found))
        self._programs, self._by = KeptPrograms(), found
        return Device(backend=answer_backend(found), **found.facts)

    def exported(self) -> tuple[Node, ...]:
        """Return the outputs of an export, of a graph of their own."""
        try:
            graph = self._network.graph(self._network.exported, False).graph
        except ModelError:  # Another output is not computed here.
            return ()
        made = {node.name: node for node in graph.nodes}
        return tuple(made[name] for name in self._network.exported)

    def brought_by(self, query: SampleQuery) -> bool:
        """Return whether files hold samples by the names of inputs; tables do not."""
        return bring_streams(query, self._plain.given(self._network.dtype, query.streams))

    def predicted(
        self, samples: Mapping[str, Any], outputs: Sequence[str], interpret: Interpret
    ) -> Predictions:
        """Return the predictions for arrays, or for lists of sequences, by the names of inputs."""
        nodes = self._network.graph(outputs, False) if outputs else self._plain
        sequences = samples_of(samples, nodes.given(self._network.dtype, {}))
        names = list(dict.fromkeys(outputs)) or [self._name]
        parts = list(answered(self._network, nodes, names, sequences, self._programs, self._by))
        values: dict[str, Array] = {}
        lengths: Indices | None = None
        together = [part.side_by_side() for part in parts]
        for name in names:
            values[name] = np.concatenate([found[name] for found, _ in together])
        if sequences.lines is not None:
            lengths = np.concatenate([found for _, found in together])
        if outputs:
            return Predictions([], None, (), values, lengths)
        found = interpret(values.pop(self._name))
        found.lengths = lengths
        return found

    @property
    def _name(self) -> str:
        assert self._plain.graph.output is not None
        return self._plain.graph.output.name

    def rows(self, query: SampleQuery, interpret: Interpret) -> Iterator[SampleRows]:
        """Yield the predictions for the samples of files, [rows, classes] or [rows, 1] at a
        time.
        """
        nodes = self._network.graph(query.outputs, False) if query.outputs else self._plain
        names = list(dict.fromkeys(query.outputs)) or [self._name]
        left = query.options.rows
        for sequences in self._read(nodes, query):
            for part in answered(self._network, nodes, names, sequences, self._programs, self._by):
                values, lengths = part.side_by_side()
                count = int(lengths.sum())
                count = count if left is None else min(count, left)
                values = {name: one[:count] for name, one in values.items()}
                answers = None if query.outputs else interpret(values.pop(self._name))
                yield SampleRows(*_places(part, lengths, sequences, count), answers, values)
                if left is not None:
                    left -= count
                    if not left:
                        return

    @property
    def compared(self) -> str:
        """Return the name of the input that answers are compared with; empty without one."""
        name = self._label.name
        return name if name in self._network.streams else ""

    def features(self, query: SampleQuery, *, labelled: bool) -> Iterator[EncodedRows]:
        """Yield the samples of files as rows. DataError where labels are asked for and the network
        has no criterion that compares its answer with an input.
        """
        demand_streams(query, self._network.streams)
        if labelled and not self.compared:
            raise DataError(
                "The network has no criterion that compares its answer with an input, so nothing "
                "says what is to be answered."
            )
        label = self._label if labelled else None
        return rows_of_files(query, RowStreams(self._plain.inputs, label, self._has_classes))

    def criteria_on(self, query: SampleQuery) -> CriteriaReport:
        """Return the values of the network's criteria over the samples of files, as means over
        samples. DataError where the network has no criterion.
        """
        if not self._network.criteria:
            raise DataError("The network has no criterion that it could be evaluated by.")
        nodes = self._network.graph(tuple(self._network.criteria), True)
        sums: dict[str, float] = dict.fromkeys(self._network.criteria, 0.0)
        samples = minibatches = 0
        of_rows = all(map(is_text_format, find_files(query.paths, query.directory)))
        for sequences in self._read(nodes, query):
            of_rows = of_rows and sequences.lines is None
            means, count = evaluated_criteria(self._network, nodes, sequences, self._by)
            minibatches += count
            samples += means.samples
            for name, mean in means.means.items():
                sums[name] += mean * means.samples
        means = CriterionMeans({name: one / max(samples, 1) for name, one in sums.items()}, samples)
        line = self._network.test_line(minibatches, means)
        return CriteriaReport(means.means, samples, line, of_rows and not query.streams)

    def _read(self, nodes: NodeGraph, query: SampleQuery) -> Iterator[Sequences]:
        """Yield the samples of files, file by file; DataError where a stream's name is not an
        input's.
        """
        demand_streams(query, self._network.streams)
        given = nodes.given(self._network.dtype, query.streams)
        for path in find_files(query.paths, query.directory):
            if query.reading is not None:
                yield query.reading(path, given)
            else:
                yield samples_in(path, given, query.options)


def _places(
    part: Answered, lengths: Indices, sequences: Sequences, count: int
) -> tuple[list[str] | None, list[int] | None]:
    """Return the key of each row's sequence, and its step in it; None where rows are not
    sequences.
    """
    if sequences.lines is None:
        return None, None
    numbers = np.repeat(part.sequences, lengths)[:count].tolist()
    steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    keys = sequences.keys
    return [keys[one] if keys else str(one) for one in numbers], steps[:count].tolist()
