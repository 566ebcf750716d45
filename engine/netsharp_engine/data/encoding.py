"""From table columns to network features, fitted on the training rows and stored in the model.

A categorical column becomes one indicator per level plus one for unknown levels; missing numbers
take the mean of the training rows, with or without a feature that marks them, or zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine import stored
from netsharp_engine.data.errors import DataError
from netsharp_engine.data.storage.stores import MEMORY, Store, blocks
from netsharp_engine.data.table import Codes, Table, name_order
from netsharp_engine.data.texts import numbered
from netsharp_engine.memory import free_memory, shown_bytes

Rows = npt.NDArray[np.intp]
MEAN_ROWS = 1 << 14


@dataclass(frozen=True, slots=True)
class Feature:
    """One column: name, index in the training file, levels or the filling of missing numbers.

    ``marked``: a second feature is 1 where the number was missing, else 0.
    """

    name: str
    position: int
    levels: tuple[str, ...] | None = None
    fill: float | None = None
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of rows as feature vectors; immutable and serialisable.

    ``unknown`` gives every categorical column an indicator for levels not seen in training; without
    it such a cell is all zeros. ``leaves_out``: rows with missing numbers are not trained on, and
    are not answered. ``named`` and ``width`` describe the training file.
    """

    columns: tuple[Feature, ...]
    unknown: bool = True
    named: bool = True
    width: int = 0
    label: str | None = None
    leaves_out: bool = False
    more_labels: tuple[str, ...] = ()

    @classmethod
    def fit(
        cls, table: Table, rows: Rows | None = None, *, unknown: bool = True, missing: str = "error"
    ) -> Encoding:
        """Return the encoding of ``table`` fitted on the training ``rows`` (all by default). Raises
        DataError for a column of numbers without a value in any training row, if gaps are filled by
        the mean. ``rows`` are indexes, [rows].
        """
        features = []
        numbers = codes = 0
        fills = _fills(table, rows, missing)
        for column in table.columns:
            if column.levels is None:
                fill, absent = fills[numbers]
                marked = absent and missing == "indicator"
                features.append(Feature(column.name, column.position, None, fill, marked))
                numbers += 1
            else:
                seen = _seen(table.codes[codes], rows)
                levels = sorted((column.levels[code] for code in seen), key=name_order)
                features.append(Feature(column.name, column.position, tuple(levels)))
                codes += 1
        found = (tuple(features), unknown, table.named, table.width, table.label)
        return cls(*found, missing == "drop", table.more_labels)

    @property
    def features(self) -> int:
        """Return the number of features after encoding."""
        return sum(self._width(column) for column in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the name of every feature; an indicator's is ``column=level``, that of unknown
        levels ``column=?``, that of missing numbers ``column=missing``.
        """
        names: list[str] = []
        for column in self.columns:
            if column.levels is None:
                names.append(column.name)
                names += [f"{column.name}=missing"] * column.marked
            else:
                names += [f"{column.name}={level}" for level in column.levels]
                names += [f"{column.name}=?"] * self.unknown
        return tuple(names)

    def _width(self, column: Feature) -> int:
        return 1 + column.marked if column.levels is None else len(column.levels) + self.unknown

    @property
    def plain(self) -> bool:
        """Return whether all columns are numbers, so that rows are features unchanged."""
        return all(column.levels is None and not column.marked for column in self.columns)

    def encode(
        self,
        table: Table,
        *,
        dtype: npt.DTypeLike = "float32",
        consume: bool = False,
        store: Store = MEMORY,
    ) -> npt.NDArray[np.floating]:
        """Return the feature matrix [rows, features] in a store.

        With ``consume`` a table of numbers gives its own array away and must not be used again.
        Raises DataError where memory is too small.
        """
        if not store.in_memory:
            return self._encoded_in_blocks(table, dtype, store)
        codes = self._codes_of(table, slice(None))
        own = consume and self.plain and table.numbers.dtype == np.dtype(dtype)
        out = table.numbers if own else self._room(table.rows, dtype)
        self.encode_into(table.numbers, codes, out)
        return out

    def _encoded_in_blocks(
        self, table: Table, dtype: npt.DTypeLike, store: Store
    ) -> npt.NDArray[np.floating]:
        filled = any(column.fill is not None for column in self.columns)
        if self.plain and not filled and table.numbers.dtype == np.dtype(dtype):
            return table.numbers

        def part(cut: slice) -> npt.NDArray[np.floating]:
            numbers = table.numbers[cut]
            out = np.empty((len(numbers), self.features), dtype)
            self.encode_into(numbers, self._codes_of(table, cut), out)
            return out

        return store.computed(table.rows, self.features, dtype, part)

    def _codes_of(self, table: Table, cut: slice) -> list[Codes]:
        """Return the codes of some rows, [rows] for each column, by this encoding's levels."""
        return [
            recode(column.levels, fitted.levels, present[cut])
            for column, fitted, present in zip(
                (column for column in table.columns if column.levels is not None),
                (column for column in self.columns if column.levels is not None),
                table.codes,
                strict=True,
            )
        ]

    def _room(self, rows: int, dtype: npt.DTypeLike) -> npt.NDArray[np.floating]:
        size, free = rows * self.features * np.dtype(dtype).itemsize, free_memory()
        try:
            if free is not None and size > free:
                raise MemoryError
            return np.empty((rows, self.features), dtype)
        except MemoryError:
            raise DataError(
                f"{rows:,} rows of {self.features:,} features need {shown_bytes(size)} of memory, "
                "more than there is. Use fewer rows (rows = N) or leave columns out (exclude)."
            ) from None

    def encode_into(
        self,
        numbers: npt.NDArray[np.floating],
        codes: Sequence[Codes],
        out: npt.NDArray[np.floating],
    ) -> None:
        """Write features [rows, features] of numbers [rows, k] and codes of this encoding's levels.

        A code is an index into the fitted levels or -1 for an unknown or empty cell.
        """
        if self.plain:
            if out is not numbers:
                out[...] = numbers
            self._fill_missing(out, [(index, index) for index in range(len(self.columns))])
            return
        out[...] = 0
        rows = np.arange(len(out))
        places = []
        offset = number = category = 0
        for index, column in enumerate(self.columns):
            if column.levels is None:
                out[:, offset] = numbers[:, number]
                if column.marked:
                    out[:, offset + 1] = np.isnan(numbers[:, number])
                places.append((offset, index))
                number += 1
            else:
                code = codes[category]
                known = code >= 0
                out[rows[known], offset + code[known]] = 1
                if self.unknown:
                    out[rows[~known], offset + len(column.levels)] = 1
                category += 1
            offset += self._width(column)
        self._fill_missing(out, places)

    def _fill_missing(
        self, out: npt.NDArray[np.floating], places: Sequence[tuple[int, int]]
    ) -> None:
        """Replace NaN by the column's filling; ``places`` are (feature, column) pairs."""
        for feature, index in places:
            column = self.columns[index]
            if column.fill is not None:
                values = out[:, feature]
                np.copyto(values, column.fill, where=np.isnan(values), casting="same_kind")

    def filling(self, missing: str) -> Encoding:
        """Return the encoding that treats missing numbers by a choice, whatever the training did.
        DataError for a mean that the training has not computed.
        """
        numeric = [column for column in self.columns if column.levels is None]
        if missing in ("mean", "indicator"):
            if any(column.fill is None for column in numeric):
                raise DataError(
                    f"The model was trained without missing numbers, so it has no {missing} for "
                    "them: choose zero or drop, or train it with that."
                )
            return self
        fill = 0.0 if missing == "zero" else None
        columns = tuple(
            column if column.levels is not None else replace(column, fill=fill)
            for column in self.columns
        )
        return replace(self, columns=columns, leaves_out=missing == "drop")

    def text_codes(self, column: Feature, texts: Sequence[str]) -> Codes:
        """Return the codes of the cells of a categorical column, int32 [rows]; -1 for unknown and
        empty cells.
        """
        assert column.levels is not None
        index = {level: code for code, level in enumerate(column.levels)}
        return numbered(texts, lambda text: index.get(text, -1))

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the model file."""
        return {
            "columns": [
                {
                    "name": column.name,
                    "position": column.position,
                    "levels": None if column.levels is None else list(column.levels),
                    "fill": column.fill,
                    **({"marked": True} if column.marked else {}),
                }
                for column in self.columns
            ],
            "unknown": self.unknown,
            "named": self.named,
            "width": self.width,
            "label": self.label,
            **({"leaves_out": True} if self.leaves_out else {}),
            **({"more_labels": list(self.more_labels)} if self.more_labels else {}),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Encoding:
        """Return the encoding of plain values; raises ValueError on others."""
        columns = tuple(
            _feature(stored.table({"column": each}, "column"))
            for each in stored.items(values, "columns")
        )
        width = stored.whole(values, "width", 1)
        if len({column.position for column in columns}) < len(columns):
            raise ValueError("two of its columns have one position")
        if not columns or max(column.position for column in columns) >= width:
            raise ValueError("its columns do not fit the width of the training data")
        return cls(
            columns,
            stored.truth(values, "unknown"),
            stored.truth(values, "named"),
            width,
            stored.optional(values, "label", stored.text),
            "leaves_out" in values and stored.truth(values, "leaves_out"),
            tuple(
                stored.as_text(each, "label")
                for each in (stored.items(values, "more_labels") if "more_labels" in values else ())
            ),
        )


def _feature(values: Mapping[str, Any]) -> Feature:
    levels = stored.optional(values, "levels", stored.items)
    return Feature(
        stored.text(values, "name"),
        stored.whole(values, "position"),
        None if levels is None else tuple(stored.as_text(each, "level") for each in levels),
        stored.optional(values, "fill", stored.number),
        "marked" in values and stored.truth(values, "marked"),
    )


def recode(levels: Sequence[str] | None, fitted: Sequence[str] | None, codes: Codes) -> Codes:
    """Return codes of ``levels`` as codes of ``fitted``, int32 [rows]; -1 where a level is not
    among them.
    """
    assert levels is not None
    assert fitted is not None
    index = {level: code for code, level in enumerate(fitted)}
    mapping = np.array([*(index.get(level, -1) for level in levels), -1], dtype=np.int32)
    return mapping[codes]


def _seen(codes: Codes, rows: Rows | None) -> list[int]:
    """Return the levels that occur in rows (in all by default), rising."""
    found: set[int] = set()
    for cut in blocks(len(codes) if rows is None else len(rows), 1):
        found.update(np.unique(codes[cut if rows is None else rows[cut]]).tolist())
    return sorted(found - {-1})


def _fills(table: Table, rows: Rows | None, missing: str) -> list[tuple[float | None, bool]]:
    """Return the value for missing numbers of each numeric column, and whether any is missing in
    training rows.
    """
    count = table.numbers.shape[1]
    if missing not in ("mean", "indicator"):
        return [(0.0 if missing == "zero" else None, False)] * count
    totals, counts = [0.0] * count, [0] * count
    picked = table.rows if rows is None else len(rows)
    for start in range(0, picked, MEAN_ROWS):
        cut = slice(start, start + MEAN_ROWS)
        block = table.numbers[cut if rows is None else rows[cut]]
        for column in range(count):
            part = block[:, column].astype(np.float64)
            part = part[~np.isnan(part)]
            totals[column] += float(part.sum())
            counts[column] += len(part)
    names = [column.name for column in table.columns if column.levels is None]
    for name, there in zip(names, counts, strict=True):
        if not there:
            raise DataError(
                f"Column '{name}' has no value in any training row, so it has no mean. "
                'Remove it with exclude, or set missing = "zero".'
            )
    return [(total / there, there < picked) for total, there in zip(totals, counts, strict=True)]
