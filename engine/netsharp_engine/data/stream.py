"""Rows for prediction: read in chunks, matched to a fitted encoding, encoded, nothing kept.

Columns are found by name, or by position where one side has no header; others are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import find_column, usual_label
from netsharp_engine.data.encoding import Encoding
from netsharp_engine.data.errors import DataError, nearest
from netsharp_engine.data.reading.checks import CellCheck
from netsharp_engine.data.reading.files import Meter, ProgressCallback, find_files
from netsharp_engine.data.reading.options import ColumnName, ReadOptions, column_index, more_labels
from netsharp_engine.data.reading.read import stored_as
from netsharp_engine.data.reading.request import Chunk, Request, Source
from netsharp_engine.data.reading.sources import open_source
from netsharp_engine.data.table import Codes
from netsharp_engine.excerpt import excerpt


@dataclass(slots=True)
class EncodedRows:
    """Consecutive rows: features [n, features] before normalising, and what was asked for beside.

    ``kept`` holds one list of texts per kept column; ``class_codes`` or ``targets`` the labels
    and ``weights`` the weights where they were asked for.
    """

    features: npt.NDArray[np.floating]
    kept: tuple[Sequence[str], ...] = ()
    class_codes: Codes | None = None
    targets: npt.NDArray[np.float64] | None = None
    weights: npt.NDArray[np.float64] | None = None

    def labelled(self) -> EncodedRows:
        """Return the rows that have a label; all where none was asked for."""
        there: npt.NDArray[np.bool_] = np.ones(len(self.features), np.bool_)
        if self.class_codes is not None:
            there = self.class_codes >= 0
        elif self.targets is not None:
            absent = np.isnan(self.targets.reshape(len(self.targets), -1))
            there = np.asarray(absent.sum(axis=1) == 0)
        if there.all():
            return self
        rows = np.flatnonzero(there).tolist()
        return EncodedRows(
            self.features[rows],
            tuple([texts[row] for row in rows] for texts in self.kept),
            None if self.class_codes is None else self.class_codes[rows],
            None if self.targets is None else self.targets[rows],
            None if self.weights is None else self.weights[rows],
        )


class RowQuery(NamedTuple):
    """Which rows of files are wanted, and what of them.

    ``paths`` are found from ``directory``.  ``keep`` names columns that go through as texts.  With
    ``labelled`` the label column must be there and, if ``options.weight`` names one, the weight
    column; ``classes`` are then those that labels may have, unless the task is regression.
    """

    paths: str | Sequence[str]
    options: ReadOptions
    keep: Sequence[str] = ()
    labelled: bool = False
    classes: Sequence[str] = ()
    directory: str = "."
    progress: ProgressCallback | None = None


def stream_rows(query: RowQuery, encoding: Encoding) -> Iterator[EncodedRows]:
    """Yield every row of the files, in order, as features of ``encoding``.

    Raises DataError, before the first row for columns that are missing.
    """
    options = query.options
    if options.filling is not None:
        encoding = encoding.filling(options.filling)
    files = find_files(query.paths, query.directory)
    names = tuple(column.name for column in encoding.columns) if encoding.named else ()
    labels = options.labels if len(options.labels) == len(files) else (None,) * len(files)
    matches = []
    for path, label_path in zip(files, labels, strict=True):
        source = open_source(path, options, labels=label_path, expected=names)
        matches.append(_Match(source, encoding, query))
    meter = Meter(files, query.progress)
    return _rows(matches, meter)


def _rows(matches: Sequence[_Match], meter: Meter) -> Iterator[EncodedRows]:
    done = 0
    for match in matches:
        for chunk in match.source.chunks(match.request, meter):
            limit = match.limit
            if limit is not None:
                chunk = chunk.head(min(chunk.count, limit - done))
                if not chunk.count:
                    return
            done += chunk.count
            yield match.encode(chunk)
        meter.finish_file(match.source.path)
    if not done:
        raise DataError(f"{matches[0].source.path} has no rows below its header.")


class _Match:
    """One source with the request that serves the encoding."""

    def __init__(self, source: Source, encoding: Encoding, query: RowQuery) -> None:
        options, labelled = query.options, query.labelled
        self._classes = {name: code for code, name in enumerate(query.classes)}
        self.source = source
        self.limit = options.rows
        self._encoding = encoding
        self._dtype = options.dtype
        self._regression = options.task == "regression"
        indexes = match_columns(source, encoding, _known_label(source, encoding, options))
        pairs = list(zip(encoding.columns, indexes, strict=True))
        self._numeric = [column for column, _ in pairs if column.levels is None]
        self._categories = [column for column, _ in pairs if column.levels is not None]
        self._label = _label_index(source, encoding, options) if labelled else None
        self._weight = None
        if labelled and options.weight is not None:
            self._weight = column_index(source.names, options.weight, "weight", source.path)
        kept = tuple(column_index(source.names, name, "kept", source.path) for name in query.keep)
        self._targets: tuple[int, ...] = ()
        if self._label is not None and self._regression:
            chosen = options.more_labels or (() if options.label else encoding.more_labels)
            named = replace(options, more_labels=chosen)
            self._targets = (self._label, *more_labels(source.names, named, source.path))
        more = [index for index in (*self._targets, self._weight) if index is not None]
        self.request = Request(
            (*(index for column, index in pairs if column.levels is None), *more),
            (*(index for column, index in pairs if column.levels is not None), *kept),
            None if self._regression else self._label,
        )

    def encode(self, chunk: Chunk) -> EncodedRows:
        """Check and encode a chunk."""
        count = len(self._numeric)
        numbers = chunk.numbers[:, :count]
        stored = stored_as(numbers, self._dtype)
        checker = CellCheck(self.source, chunk, drops=self._encoding.leaves_out)
        for index, column in enumerate(self._numeric):
            refused = column.fill is None and not self._encoding.leaves_out
            missing = "error" if refused else "fill"
            part = slice(index, index + 1)
            numbered = [(column.position + 1, column.name)]
            checker.features(numbers[:, part], stored[:, part], numbered, missing)
        codes = [
            self._encoding.text_codes(column, texts)
            for column, texts in zip(self._categories, chunk.texts, strict=False)
        ]
        features = np.empty((chunk.count, self._encoding.features), self._dtype)
        self._encoding.encode_into(stored, codes, features)
        kept = tuple(map(list, chunk.texts[len(self._categories) :]))
        rows = EncodedRows(features, kept)
        self._add_labels(rows, chunk, checker, count)
        return rows.labelled() if self._encoding.leaves_out else rows

    def _add_labels(self, rows: EncodedRows, chunk: Chunk, checker: CellCheck, column: int) -> None:
        names = self.source.names
        if self._label is not None and self._regression:
            for place, index in enumerate(self._targets):
                checker.targets(chunk.numbers[:, column + place], (index + 1, names[index]))
            count = len(self._targets)
            targets = chunk.numbers[:, column : column + count]
            rows.targets = targets if count > 1 else targets[:, 0]
            column += count
        elif self._label is not None:
            assert chunk.either is not None
            label = (self._label + 1, names[self._label])
            found = checker.class_names(chunk.either, label)
            rows.class_codes = checker.known_classes(found, names[self._label], self._classes)
        if self._weight is not None:
            rows.weights = chunk.numbers[:, column]
            checker.weights(rows.weights, (self._weight + 1, names[self._weight]))


def match_columns(source: Source, encoding: Encoding, label: int | None = None) -> tuple[int, ...]:
    """Return the index in ``source`` of every column of ``encoding``: by name where both have
    names, else by position, beside the column ``label`` where only that is more.

    Raises DataError for a column that is not there, and for another number of columns.
    """
    columns = encoding.columns
    if source.named and encoding.named:
        places = {name: index for index, name in enumerate(source.names)}
        absent = [column.name for column in columns if column.name not in places]
        if absent:
            many = f" (and {len(absent) - 1} more)" if len(absent) > 1 else ""
            raise DataError(
                f"{source.path} has no column '{excerpt(absent[0])}'{many}, "
                "which the model was trained on."
                f"{nearest(absent[0], source.names)}"
            )
        return tuple(places[column.name] for column in columns)
    if len(source.names) == encoding.width:
        return tuple(column.position for column in columns)
    if len(source.names) == len(columns):
        return tuple(range(len(columns)))
    if label is not None and len(source.names) == len(columns) + 1:
        return tuple(place for place in range(len(source.names)) if place != label)
    single = len(source.names) == 1
    found = "1 column" if single else f"{len(source.names)} columns"
    hint = " If others are in it, name what separates them with --delimiter." if single else ""
    if encoding.width == len(columns):  # A model of arrays, whose features have no names.
        named = "" if single else ": leave out the others, or name the label with --label"
        raise DataError(
            f"{source.path} has {found}; the model takes {len(columns)} features, which are "
            f"matched by position{named}.{hint}"
        )
    raise DataError(
        f"{source.path} has {found}; the model was trained on "
        f"{len(columns)} feature columns out of {encoding.width}. Without names on both sides "
        f"columns are matched by position: give one of these two numbers of columns.{hint}"
    )


def _label_name(source: Source, encoding: Encoding, options: ReadOptions) -> ColumnName | None:
    """Return the label column by its name or number; None where none is given."""
    if options.label is not None:
        return options.label
    return encoding.label if source.label is None else source.label


def _known_label(source: Source, encoding: Encoding, options: ReadOptions) -> int | None:
    """Return the index of the label column; None where it is unknown, or not in the source."""
    name = _label_name(source, encoding, options)
    if name is not None:
        return find_column(source.names, name)
    return usual_label(source.names) if source.named else None


def _label_index(source: Source, encoding: Encoding, options: ReadOptions) -> int:
    """Return the index of the label column; DataError where there is none."""
    found = _known_label(source, encoding, options)
    if found is not None:
        return found
    name = _label_name(source, encoding, options)
    if name is None:
        raise DataError(f"{source.path}: which column is the label? Name it with --label.")
    return column_index(source.names, name, "label", source.path)
