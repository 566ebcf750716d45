"""Reads files into a Table, chunk by chunk, and answers cheap questions about them.

It checks every cell and names the file, the line and the column of a fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import label_text, number_name
from netsharp_engine.data.errors import DataError, UnknownClassError, nearest, place
from netsharp_engine.data.reading.blocks import GrowingMatrix
from netsharp_engine.data.reading.files import Meter, ProgressCallback, find_files
from netsharp_engine.data.reading.options import ReadOptions, Roles, resolve_roles
from netsharp_engine.data.reading.request import Chunk, Request, Source
from netsharp_engine.data.reading.sources import open_sources
from netsharp_engine.data.table import Codes, Column, Table, name_order
from netsharp_engine.excerpt import excerpt

HELD_OUT = frozenset(("1", "true", "yes", "validation", "valid", "val", "test", "holdout"))
TRAINED = frozenset(("0", "false", "no", "train", "training", ""))


def read_table(
    paths: str | Sequence[str],
    options: ReadOptions | None = None,
    *,
    directory: str = ".",
    progress: ProgressCallback | None = None,
    need_label: bool = True,
) -> Table:
    """All rows of one or several files or globs as one table.

    The peak of memory is the table in ``options.dtype`` plus some 70 MB.  ``progress`` is called
    about ten times a second.  Raises DataError.
    """
    options = options or ReadOptions()
    files = find_files(paths, directory)
    sources = open_sources(files, options)
    roles = resolve_roles(sources[0], options, need_label=need_label)
    building = _Building(sources[0], roles, options)
    meter = Meter(files, progress)
    for source in sources:
        _read_source(source, building, meter)
        if building.full:
            break
    return building.table(tuple(files))


def _read_source(source: Source, building: _Building, meter: Meter) -> None:
    for chunk in source.chunks(building.request_for(source), meter):
        building.add(source, chunk)
        if building.full:
            return
    meter.finish_file(source.path)


class _Building:
    """Collects the chunks of all sources."""

    def __init__(self, first: Source, roles: Roles, options: ReadOptions) -> None:
        self._first = first
        self._roles = roles
        self._options = options
        self._regression = options.task == "regression"
        self._numeric = roles.numeric
        dtype: np.dtype[np.floating] = np.dtype(options.dtype)
        self._numbers = GrowingMatrix(len(self._numeric), dtype)
        self._codes = [_Coding() for _ in roles.categories]
        self._labels = _Coding()
        self._targets = GrowingMatrix(1 + len(roles.more_labels), np.float64)
        self._weights = GrowingMatrix(1, np.float64)
        self._held_out = GrowingMatrix(1, np.bool_)

    @property
    def full(self) -> bool:
        """Whether the limit of rows is reached."""
        return self._options.rows is not None and self._numbers.rows >= self._options.rows

    def request_for(self, source: Source) -> Request:
        """The request whose columns stand in this source, perhaps in another order."""
        roles, places = self._roles, self._places(source)
        targets = (roles.label, *roles.more_labels) if self._regression else ()
        numeric = [
            *self._numeric,
            *(index for index in (*targets, roles.weight) if index is not None),
        ]
        text = [*roles.categories, *((roles.split,) if roles.split is not None else ())]
        either = None if self._regression else roles.label
        return Request(
            tuple(places[index] for index in numeric),
            tuple(places[index] for index in text),
            None if either is None else places[either],
        )

    def _places(self, source: Source) -> Sequence[int]:
        """Where each column of the first source stands in this one."""
        names = self._first.names
        if source is self._first or not (source.named and self._first.named):
            return range(len(names))
        there = {name: index for index, name in enumerate(source.names)}
        return [there[name] for name in names]

    def add(self, source: Source, chunk: Chunk) -> None:
        """Check and store a chunk, cut at the limit of rows."""
        limit = self._options.rows
        if limit is not None:
            chunk = chunk.head(min(chunk.count, limit - self._numbers.rows))
        count = len(self._numeric)
        features = chunk.numbers[:, :count]
        names = [self._first.names[index] for index in self._numeric]
        checker = CellCheck(source, chunk)
        stored = stored_as(features, self._options.dtype)
        checker.features(features, stored, names, self._options.missing)
        self._numbers.append(stored)
        for coding, texts in zip(self._codes, chunk.texts, strict=False):
            coding.add(texts)
        self._add_parts(chunk, checker, count)

    def _add_parts(self, chunk: Chunk, checker: CellCheck, column: int) -> None:
        roles, names = self._roles, self._first.names
        if roles.label is not None and self._regression:
            labels = (roles.label, *roles.more_labels)
            targets = chunk.numbers[:, column : column + len(labels)]
            for place, index in enumerate(labels):
                checker.complete(targets[:, place], names[index], "label")
            self._targets.append(targets)
            column += len(labels)
        elif roles.label is not None:
            assert chunk.either is not None
            self._labels.add(checker.class_names(chunk.either, names[roles.label]))
        if roles.weight is not None:
            weight = chunk.numbers[:, column]
            checker.complete(weight, names[roles.weight], "weight", least=0.0)
            self._weights.append(weight[:, None])
        if roles.split is not None:
            marks = checker.held_out(chunk.texts[-1], names[roles.split])
            self._held_out.append(marks[:, None])

    def table(self, files: tuple[str, ...]) -> Table:
        """The finished table; raises DataError when there are no rows."""
        roles, names = self._roles, self._first.names
        if not self._numbers.rows:
            raise DataError(f"{files[0]} has no rows below its header.")
        coded = [coding.take() for coding in self._codes]
        levels = {index: found[0] for index, found in zip(roles.categories, coded, strict=True)}
        table = Table(
            columns=tuple(Column(names[i], i, levels.get(i)) for i in roles.features),
            numbers=self._numbers.take(),
            codes=tuple(codes for _, codes in coded),
            label=None if roles.label is None else names[roles.label],
            more_labels=tuple(names[index] for index in roles.more_labels),
            named=self._first.named,
            width=len(names),
            paths=files,
        )
        if roles.label is not None and self._regression:
            targets = self._targets.take()
            table.targets = targets if roles.more_labels else targets[:, 0]
        elif roles.label is not None:
            table.classes, table.class_codes = self._labels.take()
        if roles.weight is not None:
            table.weights = self._weights.take()[:, 0]
        if roles.split is not None:
            table.held_out = self._held_out.take()[:, 0]
        return table


class _Coding:
    """Texts as codes, in order of appearance until they are sorted at the end; "" is -1."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}
        self._codes = GrowingMatrix(1, np.int32)

    def add(self, texts: Sequence[str]) -> None:
        index = self._index
        codes = np.empty((len(texts), 1), np.int32)
        for row, text in enumerate(texts):
            codes[row, 0] = index.setdefault(text, len(index)) if text else -1
        self._codes.append(codes)

    def take(self) -> tuple[tuple[str, ...], Codes]:
        names = tuple(sorted(self._index, key=name_order))
        order = np.full(len(names) + 1, -1, np.int32)
        for code, name in enumerate(names):
            order[self._index[name]] = code
        return names, order[self._codes.take()[:, 0]]


class CellCheck:
    """Finds the first faulty cell of a chunk and says where it is."""

    def __init__(self, source: Source, chunk: Chunk) -> None:
        self._source = source
        self._chunk = chunk

    def _where(self, row: int, column: str) -> str:
        line = self._chunk.lines[row]
        if self._source.line_word == "line":
            return place(self._source.path, line, column)
        return f"{self._source.path}, row {line}, column '{excerpt(column)}'"

    def features(
        self,
        values: npt.NDArray[np.float64],
        stored: npt.NDArray[np.floating],
        names: Sequence[str],
        missing: str,
    ) -> None:
        """Raise DataError for a value that is infinite, too large, or missing and not filled."""
        if np.isfinite(stored).all():
            return
        for row, column in np.argwhere(~np.isfinite(stored)).tolist():
            value = float(values[row, column])
            where = self._where(row, names[column])
            if value == value:
                raise DataError(
                    f"{where}: {value:g} is too large for {stored.dtype}. Correct or scale it."
                )
            if missing == "error":
                raise DataError(
                    f'{where}: the value is missing. Fill it, or set missing = "mean", "zero", '
                    '"indicator" or "drop".'
                )

    def complete(
        self,
        values: npt.NDArray[np.float64],
        column: str,
        part: str,
        least: float | None = None,
    ) -> None:
        """Raise DataError for a missing or infinite label or weight, or one below ``least``."""
        bad = ~np.isfinite(values)
        if least is not None:
            bad |= values < least
        if not bad.any():
            return
        row = int(np.argmax(bad))
        where, value = self._where(row, column), float(values[row])
        if value != value:
            raise DataError(f"{where}: the {part} is missing. Fill it or remove the row.")
        if np.isinf(value):
            raise DataError(f"{where}: the {part} is not finite. Correct it or remove the row.")
        raise DataError(f"{where}: the {part} {value:g} is negative. Weights are at least 0.")

    def class_names(self, cells: npt.NDArray[np.float64] | Sequence[str], column: str) -> list[str]:
        """The class of every row; raises DataError for an empty label."""
        if isinstance(cells, np.ndarray):
            self.complete(cells, column, "label")
            distinct, inverse = np.unique(cells, return_inverse=True)
            names = [number_name(value) for value in distinct.tolist()]
            return [names[code] for code in inverse.tolist()]
        known: dict[str, str] = {}
        result = []
        for row, cell in enumerate(cells):
            if not cell:
                where = self._where(row, column)
                raise DataError(f"{where}: the label is missing. Fill it or remove the row.")
            name = known.get(cell)
            if name is None:
                name = known[cell] = label_text(cell)
            result.append(name)
        return result

    def known_classes(self, names: Sequence[str], column: str, codes: Mapping[str, int]) -> Codes:
        """The code of every row's class; raises DataError for a class that has none."""
        found = np.fromiter((codes.get(name, -1) for name in names), np.int32, len(names))
        if len(found) and int(found.min()) < 0:
            row = int(np.argmax(found < 0))
            place, name = self._where(row, column), names[row]
            raise UnknownClassError(
                f"{place}: the class '{name}' does not occur in the training data."
                f"{nearest(name, codes)}",
                place,
                name,
            )
        return found

    def held_out(self, cells: Sequence[str], column: str) -> npt.NDArray[np.bool_]:
        """Which rows a validation column marks; raises DataError for other words."""
        marks = np.empty(len(cells), np.bool_)
        for row, cell in enumerate(cells):
            word = number_word(cell)
            if word not in HELD_OUT and word not in TRAINED:
                raise DataError(
                    f"{self._where(row, column)}: '{cell}' does not say whether the row is for "
                    "validation. Write 1 or 0, or 'validation' or 'train'."
                )
            marks[row] = word in HELD_OUT
        return marks


def stored_as(values: npt.NDArray[np.float64], dtype: str) -> npt.NDArray[np.floating]:
    """Numbers in the type they are kept in; what is too large for it becomes infinite."""
    with np.errstate(over="ignore"):
        return values.astype(dtype, copy=False)


def number_word(cell: str) -> str:
    """A mark in lower case, with 1.0 and 0.0 read as 1 and 0."""
    word = cell.strip().casefold()
    return {"1.0": "1", "0.0": "0"}.get(word, word)
