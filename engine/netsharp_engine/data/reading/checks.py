"""Checks the cells of a chunk and reports where a faulty one is, at once or with all others.

It knows what a column is for, and must not know file formats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import label_text, number_name
from netsharp_engine.data.errors import DataError, UnknownClassError, nearest, place
from netsharp_engine.data.reading.faults import TableFaults
from netsharp_engine.data.reading.request import Chunk, Source
from netsharp_engine.data.table import Codes
from netsharp_engine.data.texts import CodedTexts, coded_texts, numbered
from netsharp_engine.excerpt import excerpt

HELD_OUT = frozenset(("1", "true", "yes", "validation", "valid", "val", "test", "holdout"))
TRAINED = frozenset(("0", "false", "no", "train", "training", ""))
#: A column by its number from 1 and its name.
Numbered = tuple[int, str]


class CellCheck:
    """Finds the faulty cells of a chunk: the first is raised, or all are counted in ``faults``.

    ``drops``: rows without a label are left out, so none of these is a fault.
    """

    def __init__(
        self,
        source: Source,
        chunk: Chunk,
        faults: TableFaults | None = None,
        *,
        drops: bool = False,
    ) -> None:
        self._source = source
        self._chunk = chunk
        self._faults = faults
        self._drops = drops

    def _place(self, row: int) -> str:
        return f"{self._source.path}, {self._source.line_word} {self._chunk.lines[row]}"

    def _where(self, row: int, column: str) -> str:
        line = self._chunk.lines[row]
        if self._source.line_word == "line":
            return place(self._source.path, line, column)
        return f"{self._source.path}, row {line}, column '{excerpt(column)}'"

    def _fault(
        self,
        kind: str,
        column: Numbered,
        row: int,
        rest: str,
        *,
        shown: str | None = None,
        count: int = 1,
    ) -> None:
        """Count a fault, or raise it: ``rest`` follows its place in a sentence."""

        def first() -> tuple[str, str]:
            return self._place(row), f"{self._where(row, column[1])}: {rest}"

        if self._faults is None:
            raise DataError(first()[1])
        self._faults.add(kind, column, first, shown=shown, count=count)

    def _unreported(self, marks: npt.NDArray[np.bool_], column: int) -> npt.NDArray[np.intp]:
        """Return the rows that are marked, without those whose cell was already reported as a
        text.
        """
        rows = np.flatnonzero(marks)
        reported = None if self._faults is None else self._faults.reported_lines.get(column)
        if reported is None:
            return rows
        lines = self._chunk.lines
        return np.array([row for row in rows.tolist() if lines[row] not in reported], np.intp)

    def features(
        self,
        values: npt.NDArray[np.float64],
        stored: npt.NDArray[np.floating],
        columns: Sequence[Numbered],
        missing: str,
    ) -> None:
        """Report numbers [rows, features] that are infinite, too large for the dtype in which they
        are ``stored``, or missing and not filled. Raises DataError at the first one if faults are
        not collected.
        """
        if np.isfinite(stored).all():
            return
        wrong = ~np.isfinite(stored)
        if self._faults is None:
            # Raised is the first row's fault, not the first column's.
            first = int(np.flatnonzero(wrong.any(axis=1))[0]) if missing == "error" else 0
            wrong, values, stored = wrong[first:], values[first:], stored[first:]
        else:
            first = 0
        for index in np.flatnonzero(wrong.any(axis=0)).tolist():
            column, cells = columns[index], values[:, index]
            absent = np.isnan(cells)
            large = np.flatnonzero(wrong[:, index] & ~absent)
            if len(large):
                row = int(large[0])
                rest = f"{cells[row]:g} is too large for {stored.dtype}. Correct or scale it."
                shown = f"{cells[row]:g}"
                self._fault("large", column, first + row, rest, shown=shown, count=len(large))
            gaps = self._unreported(absent, column[0]) if missing == "error" else absent[:0]
            if len(gaps):
                rest = (
                    'the value is missing. Fill it, or set missing = "mean", "zero", '
                    '"indicator" or "drop".'
                )
                self._fault("missing", column, first + int(gaps[0]), rest, count=len(gaps))

    def targets(self, values: npt.NDArray[np.float64], column: Numbered) -> None:
        """Report missing and infinite numbers to be predicted, [rows]. Raises DataError at the
        first one if faults are not collected.
        """
        absent = np.isnan(values)
        gaps = absent[:0] if self._drops else self._unreported(absent, column[0])
        if len(gaps):
            self._fault(
                "label", column, int(gaps[0]), NO_LABEL.format("missing", "Fill"), count=len(gaps)
            )
        infinite = np.flatnonzero(np.isinf(values))
        if len(infinite):
            rest = NO_LABEL.format("not finite", "Correct")
            self._fault("unlike label", column, int(infinite[0]), rest, count=len(infinite))

    def weights(self, values: npt.NDArray[np.float64], column: Numbered) -> None:
        """Report weights [rows] that are missing, infinite or negative. Raises DataError at the
        first one if faults are not collected.
        """
        rows = self._unreported(~np.isfinite(values) | (values < 0), column[0])
        if not len(rows):
            return
        row = int(rows[0])
        value = float(values[row])
        if value != value:
            rest = "the weight is missing. Fill it or remove the row."
        elif np.isinf(value):
            rest = "the weight is not finite. Correct it or remove the row."
        else:
            rest = f"the weight {value:g} is negative. Weights are at least 0."
        self._fault("weight", column, row, rest, shown=f"{value:g}", count=len(rows))

    def class_names(
        self, cells: npt.NDArray[np.float64] | Sequence[str], column: Numbered
    ) -> Sequence[str]:
        """Return the class of every row, empty where there is none. Raises DataError at the first
        fault if faults are not collected. ``cells`` are [rows].
        """
        if isinstance(cells, np.ndarray):
            self.targets(cells, column)
            distinct, inverse = np.unique(cells, return_inverse=True)
            names = [number_name(each) if each == each else "" for each in distinct.tolist()]
            return CodedTexts(names, inverse.astype(np.int32))
        if not isinstance(cells, CodedTexts):
            cells = coded_texts(cells)
        blank = numbered(cells, lambda cell: not cell)
        absent = np.flatnonzero(blank)
        if len(absent) and not self._drops:
            rest = NO_LABEL.format("missing", "Fill")
            self._fault("label", column, int(absent[0]), rest, count=len(absent))
        return cells.mapped(label_text)

    def known_classes(self, names: Sequence[str], column: str, codes: Mapping[str, int]) -> Codes:
        """Return the code of every row's class, int32 [rows], -1 where it has none; raises
        UnknownClassError for a class that has no code.
        """
        found = numbered(names, lambda name: codes.get(name, -1))
        if len(found) and int(found.min()) < 0:
            rows = [row for row in np.flatnonzero(found < 0).tolist() if names[row]]
            if not rows:
                return found
            place, name = self._where(rows[0], column), names[rows[0]]
            raise UnknownClassError(
                f"{place}: the class '{name}' does not occur in the training data."
                f"{nearest(name, codes)}",
                place,
                name,
            )
        return found

    def held_out(self, cells: Sequence[str], column: Numbered) -> npt.NDArray[np.bool_]:
        """Return which rows a validation column marks, bool [rows]. Raises DataError at the first
        cell that says neither, if faults are not collected.
        """
        marks = np.empty(len(cells), np.bool_)
        for row, cell in enumerate(cells):
            word = number_word(cell)
            if word not in HELD_OUT and word not in TRAINED:
                rest = (
                    f"'{cell}' does not say whether the row is for validation. Write 1 or 0, or "
                    "'validation' or 'train'."
                )
                self._fault("mark", column, row, rest, shown=cell)
            marks[row] = word in HELD_OUT
        return marks


NO_LABEL = "the label is {}. {} it or remove the row."


def number_word(cell: str) -> str:
    """Return a mark in lower case, with 1.0 and 0.0 read as 1 and 0."""
    word = cell.strip().casefold()
    return {"1.0": "1", "0.0": "0"}.get(word, word)
