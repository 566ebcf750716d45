"""A network of the original as a model that answers rows: for arrays, tables, and text format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.text_format import TextStream, read_text
from netsharp_engine.data import Encoding, Normalizer, stream_rows
from netsharp_engine.data.encoding import Feature
from netsharp_engine.data.errors import DataError
from netsharp_engine.data.reading.files import find_files
from netsharp_engine.data.stream import EncodedRows, RowQuery
from netsharp_engine.graph import Graph
from netsharp_engine.model import Model
from netsharp_engine.plain_files import open_plain
from netsharp_engine.program import Batch, Figures, Job, Program, Sparse
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram
from netsharp_engine.train import read_settings
from netsharp_engine.train.objective import Objective
from netsharp_engine.train.settings import TrainingSettings

#: How many rows of a file are answered at once.
_ROWS = 4096
_BEGINS = re.compile(rb"[ \t\r\n]*(?:[0-9]+[ \t]*)?\|[^ \t]")


def answering(
    graph: Graph, values: Mapping[str, Array], dtype: str, label: tuple[str, int], *, classes: bool
) -> Model:
    """The model of a graph whose output are probabilities of ``classes``, or else one number.

    ``label`` names the input that it is compared with, and its size.
    """
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
        backend=_JudgingDraft,
    )
    loss = "cross entropy" if names else "squared error"
    objective = Objective(names, size, "softmax" if names else "linear", loss)
    model.install(graph, objective, _Rows(graph, label))
    return model


def _shaped(values: Array, shape: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(values).reshape(shape)


class _Rows:
    """The rows of files: of the original's text format, or else of tables."""

    def __init__(self, graph: Graph, label: tuple[str, int]) -> None:
        self._inputs = [(node.name, node.size) for node in graph.inputs]
        self._label = label

    def __call__(self, query: RowQuery, encoding: Encoding) -> Iterator[EncodedRows]:
        """As ``stream_rows``."""
        files = find_files(query.paths, query.directory)
        if not all(map(_is_text_format, files)):
            return stream_rows(query, encoding)
        if query.keep:
            raise DataError(f"{files[0]} has no columns that could be kept: it is in text format.")
        options = query.options
        coded = bool(query.classes)
        return self._of_text(files, options.dtype, options.rows, query.labelled, coded)

    def _of_text(
        self, files: Sequence[str], dtype: str, limit: int | None, labelled: bool, coded: bool
    ) -> Iterator[EncodedRows]:
        done = 0
        wanted = [*self._inputs, *([self._label] if labelled else [])]
        for path in files:
            streams = [
                TextStream(name, name, size, _is_sparse(path, name)) for name, size in wanted
            ]
            found = read_text(path, streams, dtype)
            if found.lines is not None and len(found.lines) != found.total:
                raise DataError(
                    f"{path} holds sequences, and rows are answered. Use the action test or write "
                    "of a configuration."
                )
            matrix = np.concatenate([_dense(found.values[one], n) for one, n in self._inputs], 1)
            targets = None if not labelled else _dense(found.values[self._label[0]], self._label[1])
            stop = len(matrix) if limit is None else min(len(matrix), limit - done)
            for start in range(0, stop, _ROWS):
                cut = slice(start, min(start + _ROWS, stop))
                rows = EncodedRows(np.array(matrix[cut]))
                if targets is not None and coded:
                    rows.class_codes = targets[cut].argmax(1).astype(np.int32)
                elif targets is not None:
                    rows.targets = targets[cut, 0].astype(np.float64)
                yield rows
            done += stop
            if limit is not None and done >= limit:
                return


def _is_text_format(path: str) -> bool:
    """Whether a file begins as the original's text format does."""
    try:
        with open_plain(path) as stream:
            return _BEGINS.match(stream.read(256).removeprefix(b"\xef\xbb\xbf")) is not None
    except OSError:
        return False


def _is_sparse(path: str, name: str) -> bool:
    """Whether a stream is sparse where it comes first."""
    with open_plain(path) as stream:
        head = stream.read(1 << 20)
    found = re.search(rb"\|" + re.escape(name.encode()) + rb"[ \t]([^|\n]*)", head)
    return found is not None and b":" in found[1]


def _dense(values: Array | Sparse, size: int) -> Array:
    """Rows as a matrix."""
    if not isinstance(values, Sparse):
        return np.asarray(values).reshape(-1, size)
    starts = np.asarray(values.starts, np.intp)
    counts = starts[1:] - starts[:-1]
    found = np.zeros((len(counts), size), values.values.dtype)
    found[np.repeat(np.arange(len(counts)), counts), values.columns] = values.values
    return found


class _JudgingDraft(TensorDraft):
    """A graph of tensors whose one criterion is counted outside it."""

    def __init__(self, job: Job) -> None:
        self._judged = job.graph
        plain = Graph()
        outside = {*job.graph.targets, *job.graph.criteria}
        plain.inputs, plain.output = list(job.graph.inputs), job.graph.output
        plain.nodes = [node for node in job.graph.nodes if node not in outside]
        plain.parameters = list(job.graph.parameters)
        super().__init__(job._replace(graph=plain))

    def program(self, threads: int = 1, beside: Program | None = None) -> TensorProgram:
        """Make it."""
        return _Judging(self.job, self._judged)


class _Judging(TensorProgram):
    """Counts a loss of the output."""

    def __init__(self, job: Job, judged: Graph) -> None:
        self._target = judged.targets[0].name if judged.targets else ""
        self._output = judged.output
        self._is_entropy = any(node.op == "cross entropy" for node in judged.criteria)
        self._wanted: Any = None
        self._weights: Any = None
        self._counted = Figures((0.0,))
        super().__init__(job)

    def feed(self, batch: Batch) -> None:
        """Take inputs, and what the output is compared with."""
        inputs = dict(batch.inputs)
        self._wanted, self._weights = inputs.pop(self._target, None), batch.weights
        super().feed(Batch(inputs))

    def step(self) -> bool:
        """Compute the output and count its loss."""
        self.forward()
        assert self._output is not None
        found = self.read(self._output).astype(np.float64)
        rows = len(self._wanted)
        weights = np.ones(rows) if self._weights is None else self._weights
        if self._is_entropy:
            chances = found[np.arange(rows), self._wanted]
            losses = -np.log(np.maximum(chances, np.finfo(np.float32).tiny))
        else:
            losses = ((found - np.reshape(self._wanted, (rows, -1))) ** 2).sum(1)
        before = self._counted
        self._counted = Figures(
            (before.sums[0] + float(losses @ weights),),
            before.weight + float(np.sum(weights)),
            before.rows + rows,
            before.steps + 1,
        )
        return True

    def count(self, figures: Figures) -> None:
        """Go on counting from these figures."""
        self._counted = figures._replace(sums=figures.sums or (0.0,))

    def figures(self) -> Figures:
        """What was counted."""
        return self._counted
