"""A table in memory: numbers, coded categories, labels, weights; nothing fitted yet.

It knows neither files nor networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import label_text, positional_names
from netsharp_engine.data.errors import DataError, nearest

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
    classification, ``targets`` (float64) those of a regression.  ``held_out`` marks rows that
    a validation column keeps from training.  ``width`` counts the columns of the file.
    """

    columns: tuple[Column, ...]
    numbers: npt.NDArray[np.floating]
    codes: tuple[Codes, ...] = ()
    classes: tuple[str, ...] | None = None
    class_codes: Codes | None = None
    targets: npt.NDArray[np.float64] | None = None
    weights: npt.NDArray[np.float64] | None = None
    held_out: npt.NDArray[np.bool_] | None = None
    label: str | None = None
    named: bool = True
    width: int = 0
    paths: tuple[str, ...] = field(default=())

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.numbers.shape[0])

    @property
    def labelled(self) -> bool:
        """Whether the rows have labels."""
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
    ) -> Table:
        """A table of arrays: features [rows, columns], labels and weights [rows].

        The features are always copied.  Raises DataError for shapes that do not fit.
        """
        numbers = np.array(features, dtype=dtype, order="C")
        if numbers.ndim != 2 or not numbers.shape[0] or not numbers.shape[1]:
            raise DataError(f"The features have the shape {numbers.shape}; rows of columns needed.")
        rows, width = numbers.shape
        chosen = tuple(names) if names is not None else positional_names(width)
        table = cls(
            columns=tuple(Column(name, index) for index, name in enumerate(chosen)),
            numbers=numbers,
            named=names is not None,
            width=width,
        )
        if weights is not None:
            table.weights = np.array(weights, dtype=np.float64)
            _check_rows("weights", table.weights, rows)
        if labels is not None:
            values = np.asarray(labels)
            _check_rows("labels", values, rows)
            if task == "regression":
                table.targets = values.astype(np.float64)
            else:
                texts = [label_text(value) for value in values.tolist()]
                table.classes, table.class_codes = coded(texts)
        return table


def _check_rows(what: str, values: npt.NDArray[np.generic], rows: int) -> None:
    if values.shape != (rows,):
        raise DataError(f"The {what} have the shape {values.shape}; ({rows},) is needed.")


def name_order(name: str) -> tuple[int, float, str]:
    """The order of class names and levels: numbers by value, then texts."""
    try:
        number = float(name)
    except ValueError:
        return (1, 0.0, name)
    return (0, number, name) if number == number else (1, 0.0, name)


def coded(texts: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    """The sorted distinct names and each text's index among them."""
    names = tuple(sorted(set(texts), key=name_order))
    index = {name: code for code, name in enumerate(names)}
    return names, np.fromiter((index[text] for text in texts), np.int32, len(texts))


def translate_classes(table: Table, classes: Sequence[str]) -> Codes:
    """The table's class codes as indexes into ``classes``; DataError for a class not among them."""
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
