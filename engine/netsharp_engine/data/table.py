"""A table in memory: numbers, coded categories, labels, weights; nothing fitted yet.

It must not know files or networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import column_finder, label_text, positional_names
from netsharp_engine.data.errors import DataError, nearest
from netsharp_engine.data.frames import (
    array_columns,
    feature_of,
    is_frame,
    named_columns,
    texts_of,
)
from netsharp_engine.data.labels import Labels
from netsharp_engine.data.storage.stores import MEMORY, Store

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Column:
    """A feature column: its name, its index in the file, and its levels if it is categorical.

    A row's code is an index into ``levels``, -1 for an empty cell.
    """

    name: str
    position: int
    levels: tuple[str, ...] | None = None


@dataclass(slots=True)
class Table:
    """Rows of features with what belongs to each row.

    ``numbers`` is [rows, numeric columns] with NaN for missing values, ``codes`` one int32
    array per categorical column.  ``classes`` and ``class_codes`` hold the labels of a
    classification, ``labels`` what these were called in Python, ``targets`` (float64) those of a
    regression, [rows, outputs] where ``more_labels`` name further columns of labels.
    ``held_out`` marks rows that a validation column keeps from training.  ``width`` counts the
    columns of the file.  A class code of -1 or a target of NaN is a label that is missing.
    ``notes`` are sentences on what was found while reading.
    """

    columns: tuple[Column, ...]
    numbers: npt.NDArray[np.floating]
    codes: tuple[Codes, ...] = ()
    classes: tuple[str, ...] | None = None
    class_codes: Codes | None = None
    labels: Labels | None = None
    targets: npt.NDArray[np.float64] | None = None
    weights: npt.NDArray[np.float64] | None = None
    held_out: npt.NDArray[np.bool_] | None = None
    label: str | None = None
    more_labels: tuple[str, ...] = ()
    named: bool = True
    width: int = 0
    paths: tuple[str, ...] = field(default=())
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.numbers.shape[0])

    @property
    def labelled(self) -> bool:
        """Return whether the rows have labels."""
        return self.class_codes is not None or self.targets is not None

    @classmethod
    def from_arrays(
        cls,
        features: npt.ArrayLike,
        labels: npt.ArrayLike | None = None,
        *,
        weights: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
        task: str = "classification",
        dtype: str = "float32",
        categorical: Sequence[str | int] = (),
    ) -> Table:
        """Return a table of arrays: features [rows, columns], labels and weights [rows].

        The features may also be a data frame, whose columns of texts are categories, as are those
        that ``categorical`` names, or an array of objects. Labels of a regression may be [rows,
        outputs]. The features are always copied. Raises DataError for shapes that do not fit, and
        for negative weights.
        """
        if is_frame(features):
            table = cls._of_columns(named_columns(features), dtype, categorical)
        else:
            table = cls._of_array(np.asarray(features), dtype, categorical, names)
        rows = table.rows
        if weights is not None:
            table.weights = np.array(weights, dtype=np.float64)
            _check_rows("weights", table.weights, rows)
            _check_weights(table.weights)
        if labels is not None:
            values = np.asarray(labels)
            if task == "regression" and values.ndim == 2 and len(values) == rows:
                values = values[:, 0] if values.shape[1] == 1 else values
            else:
                _check_rows("labels", values, rows)
            if task == "regression":
                table.targets = _targets(values)
            else:
                texts = [label_text(value) for value in values.tolist()]
                table.classes, table.class_codes = coded(texts)
                table.labels = Labels.of(values, table.class_codes, len(table.classes))
        return table

    @classmethod
    def _of_array(
        cls,
        given: npt.NDArray[Any],
        dtype: str,
        categorical: Sequence[str | int],
        names: Sequence[str] | None,
    ) -> Table:
        if given.ndim != 2 or not given.shape[0] or not given.shape[1]:
            raise DataError(f"The features have the shape {given.shape}; rows of columns needed.")
        if given.dtype.kind in "OU" and not categorical:
            # Read as numbers where possible; otherwise each column is examined separately.
            with suppress(TypeError, ValueError):
                given = given.astype(np.float64)
        if given.dtype.kind in "OU" or categorical:
            return cls._of_columns(array_columns(given), dtype, categorical)
        width = given.shape[1]
        chosen = tuple(names) if names is not None else positional_names(width)
        return cls(
            columns=tuple(Column(name, index) for index, name in enumerate(chosen)),
            numbers=np.array(given, dtype=dtype, order="C"),
            named=names is not None,
            width=width,
        )

    @classmethod
    def _of_columns(
        cls,
        given: Sequence[tuple[Any, npt.NDArray[Any]]],
        dtype: str,
        categorical: Sequence[str | int],
    ) -> Table:
        """Return a table of columns, which have names where all of these are texts."""
        if not given or not len(given[0][1]):
            raise DataError("The features have no rows or no columns.")
        named = all(isinstance(name, str) for name, _ in given)
        names = [name for name, _ in given] if named else positional_names(len(given))
        find = column_finder(names)
        forced = set()
        for wanted in categorical:
            place = find(wanted)
            if place is None:
                raise DataError(f"There is no column '{wanted}'.{nearest(str(wanted), names)}")
            forced.add(place)
        columns, codes = [], []
        numbers: list[npt.NDArray[np.float64]] = []
        for place, (name, (_, values)) in enumerate(zip(names, given, strict=True)):
            found = texts_of(name, values) if place in forced else feature_of(name, values)
            if isinstance(found, list):
                levels, indices = coded([*found, ""])
                # The empty text, which comes first, is a missing value.
                blank = levels.index("")
                order = np.arange(len(levels), dtype=np.int32) - (np.arange(len(levels)) > blank)
                order[blank] = -1
                codes.append(order.astype(np.int32)[indices[:-1]])
                levels = tuple(level for level in levels if level)
                columns.append(Column(name, place, levels))
            else:
                numbers.append(found)
                columns.append(Column(name, place))
        matrix = np.empty((len(given[0][1]), len(numbers)), dtype)
        with np.errstate(over="ignore"):
            for index, each in enumerate(numbers):
                matrix[:, index] = each
        return cls(tuple(columns), matrix, tuple(codes), named=named, width=len(given))

    def only(self, rows: npt.NDArray[np.intp], store: Store = MEMORY) -> Table:
        """Return a table of these rows of it, in this order, in a store. ``rows`` are their
        indexes, [rows].
        """
        parts = ("numbers", "class_codes", "targets", "weights", "held_out")
        given: dict[str, Any] = {name: getattr(self, name) for name in parts}
        taken: dict[str, Any] = {
            name: None if each is None else _picked(each, rows, store)
            for name, each in given.items()
        }
        return replace(
            self, codes=tuple(_picked(each, rows, store) for each in self.codes), **taken
        )


def _picked(values: npt.NDArray[Any], rows: npt.NDArray[np.intp], store: Store) -> Any:
    """Return these rows of an array [rows] or [rows, columns]."""
    columns = values.reshape(len(values), -1)
    width = columns.shape[1]
    found = store.computed(len(rows), width, values.dtype, lambda cut: columns[rows[cut]])
    return found.reshape(len(rows), *values.shape[1:])


def _targets(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return numbers to predict, in float64; DataError where they are not finite numbers."""
    try:
        targets = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "The labels of a regression must be numbers. For names of classes set "
            'task = "classification".'
        ) from None
    if not np.isfinite(targets).all():
        row = int(np.argwhere(~np.isfinite(targets))[0][0])
        raise DataError(
            f"Row {row + 1}: the label is missing or not finite. Fill it or remove the row."
        )
    return targets


def _check_weights(weights: npt.NDArray[np.float64]) -> None:
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"Row {row + 1}: the weight is {weights[row]:g}. Weights are at least 0.")


def _check_rows(what: str, values: npt.NDArray[np.generic], rows: int) -> None:
    if values.shape != (rows,):
        raise DataError(f"The {what} have the shape {values.shape}; ({rows},) is needed.")


def name_order(name: str) -> tuple[int, float, str]:
    """Return the sort key of class names and levels: numbers by value, then texts."""
    try:
        number = float(name)
    except ValueError:
        return (1, 0.0, name)
    return (0, number, name) if number == number else (1, 0.0, name)


def coded(texts: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    """Return the sorted distinct names and each text's index among them, int32 [rows]."""
    names = tuple(sorted(set(texts), key=name_order))
    index = {name: code for code, name in enumerate(names)}
    return names, np.fromiter((index[text] for text in texts), np.int32, len(texts))


def translate_classes(table: Table, classes: Sequence[str]) -> Codes:
    """Return the table's class codes as indexes into ``classes``, [rows]; DataError for a class not
    among them.
    """
    assert table.classes is not None
    assert table.class_codes is not None
    index = {name: code for code, name in enumerate(classes)}
    for name in table.classes:
        if name not in index and np.any(table.class_codes == table.classes.index(name)):
            row = int(np.argmax(table.class_codes == table.classes.index(name))) + 1
            where = table.paths[0] if table.paths else "The table"
            raise DataError(
                f"{where}, row {row}: the class '{name}' does not occur in the training data."
                f"{nearest(name, classes)}"
            )
    mapping = np.array([index.get(name, -1) for name in table.classes] or [-1], dtype=np.int32)
    return mapping[table.class_codes]
