"""The meaning of a table's text before any number is parsed: delimiters, headers, kinds of cells.

It must not know files or arrays, so that the checker can count a table without numpy and agree with
the training that follows.
"""

from __future__ import annotations

import csv
import io
import math
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Callable, Collection, Iterable, Sequence

#: Cells that hold no number, in lower case.
MISSING = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "none", "?"))

DELIMITER_WORDS = {
    "comma": ",",
    "tab": "\t",
    "\\t": "\t",
    "semicolon": ";",
    "pipe": "|",
    "space": " ",
}
SUFFIX_DELIMITERS = {".tsv": "\t", ".tab": "\t"}
#: The delimiters that are tried where none is given.
CANDIDATES = (",", ";", "\t", "|")
#: The number of first rows from which the format of a table is derived.
SAMPLE_ROWS = 20
#: Digits of a column's number; more are a name.
LONGEST_NUMBER = 18
#: The most classes that numbers may name; more different numbers are a quantity.
MOST_NUMBERED = 20
#: A number with a decimal comma, as much of Europe writes it.
_COMMA_NUMBER = re.compile(r"[-+]?(\d+,\d*|,\d+)([eE][-+]?\d+)?")
#: Texts similar to numbers that are not read as such: dates, times, money, percentages, thousands.
_LIKE_NUMBER = re.compile(r"[-+$€£¥]{0,2}\s?\d[\d\s.,'’_:/-]*([eE][-+]?\d+)?\s?[%$€£¥]?")
#: From here on not every whole number is a float64.
EXACT_INTEGERS = 2**53


def named_delimiter(given: str) -> str | None:
    """Return the character that a word or a character names as a delimiter; None where it cannot be
    one.
    """
    chosen = DELIMITER_WORDS.get(given, given)
    return chosen if len(chosen) == 1 and chosen not in '"\r\n' else None


def read_rows(lines: Iterable[str], delimiter: str) -> Reader:
    """Return a csv reader with the one dialect of all tables; it raises csv.Error for faulty
    quotes.
    """
    return csv.reader(
        lines, delimiter=delimiter, strict=True, skipinitialspace=delimiter not in "\t "
    )


def sniff_delimiter(text: str) -> str:
    """Return the candidate that cuts the first rows into the most columns of equal number; else
    comma.

    ``text`` is the beginning of a table; its last row may be cut off.
    """
    for candidate in CANDIDATES[1:]:
        if _separates_commas(text, candidate):
            return candidate
    best, best_columns = ",", 1
    for candidate in CANDIDATES:
        try:
            rows = _some_rows(text, candidate)
        except csv.Error:
            continue
        widths = {len(row) for row in (rows[:-1] or rows)}
        columns = widths.pop() if len(widths) == 1 else 0
        if columns > best_columns:
            best, best_columns = candidate, columns
    if best_columns == 1:
        best = max(CANDIDATES, key=text.split("\n", 1)[0].count)
    return best


def _separates_commas(text: str, candidate: str) -> bool:
    """Return whether commas are in numbers alone where a candidate cuts the rows: then it is the
    delimiter.
    """
    try:
        rows = _some_rows(text, candidate)
    except csv.Error:
        return False
    rows = rows[:-1] or rows
    widths = {len(row) for row in rows}
    commas = [cell.strip() for row in rows for cell in row if "," in cell]
    return (
        len(widths) == 1
        and widths.pop() > 1
        and bool(commas)
        and all(map(_COMMA_NUMBER.fullmatch, commas))
    )


def _some_rows(text: str, delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for row in read_rows(io.StringIO(text, newline=""), delimiter):
        if row:
            rows.append(row)
        if len(rows) > SAMPLE_ROWS:
            break
    return rows


def looks_like_header(
    first: Sequence[str], rest: Sequence[Sequence[str]], expected: Collection[str] = ()
) -> bool:
    """Return whether a first row, of stripped cells, holds names.

    It does when it holds a name that is ``expected``, when one of its cells is not a number above a
    number, or when none of its cells is a number. ``rest`` are rows below it.
    """
    if not frozenset(first).isdisjoint(expected):
        return True
    plain = [not is_number(cell) and cell.casefold() not in MISSING for cell in first]
    for row in rest[:1]:
        if any(name and is_number(cell) for name, cell in zip(plain, row, strict=False)):
            return True
    return all(plain) and len(set(first)) == len(first) and (len(first) > 1 or bool(rest))


def has_decimal_comma(rows: Iterable[Sequence[str]], delimiter: str) -> bool:
    """Return whether numbers in rows are written with a decimal comma, and none with a point."""
    if delimiter == ",":
        return False
    found = False
    for row in rows:
        for cell in row:
            stripped = cell.strip()
            if "," in stripped and _COMMA_NUMBER.fullmatch(stripped):
                found = True
            elif "." in stripped and is_number(stripped):
                return False
    return found


def with_point(cell: str) -> str:
    """Return a stripped cell whose number has a decimal comma, with a point; any other
    unchanged.
    """
    return cell.replace(",", ".") if "," in cell and _COMMA_NUMBER.fullmatch(cell) else cell


def cell_kind(cell: str) -> str:
    """Return the kind of a stripped cell: ``missing``, ``number``, ``like`` a number, or
    ``text``.
    """
    if cell.casefold() in MISSING:
        return "missing"
    if is_number(cell):
        return "number"
    return "like" if _LIKE_NUMBER.fullmatch(cell) else "text"


def holds_text(cells: Iterable[str]) -> bool:
    """Return whether all stripped cells of a column are text, except for missing ones, and some
    are.
    """
    kinds = set(map(cell_kind, cells))
    return kinds <= {"missing", "text"} and "text" in kinds


def counts_rows(cells: Sequence[str]) -> bool:
    """Return whether stripped cells count on by 1 from 0 or 1."""
    if not cells or cells[0] not in ("0", "1"):
        return False
    start = int(cells[0])
    return all(cell == str(start + row) for row, cell in enumerate(cells))


def names_rows(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Return whether a header lacks a name for the first column, as R writes the names of rows."""
    return bool(rest) and bool(first) and all(len(row) == len(first) + 1 for row in rest)


def positional_names(count: int) -> tuple[str, ...]:
    """Return ``column1`` ... ``columnN``: the names of columns that have none."""
    return tuple(f"column{number}" for number in range(1, count + 1))


def find_column(names: Sequence[str], column: str | int) -> int | None:
    """Return the index of a column by its name, its number from 1, or its name in another case."""
    return column_finder(names)(column)


def column_finder(names: Sequence[str]) -> Callable[[str | int], int | None]:
    """Return the function `find_column` for many columns of one table."""
    exact = {name: index for index, name in reversed(list(enumerate(names)))}
    folded: dict[str, list[int]] = {}

    def found(column: str | int) -> int | None:
        if column in exact:
            return exact[str(column)]
        word = str(column)
        if word.isdecimal():
            # A longer number than that of the columns is none, and may be too long to be read.
            digits = word.lstrip("0")
            number = int(digits) if 0 < len(digits) <= len(str(len(names))) else 0
            return number - 1 if 1 <= number <= len(names) else None
        if not folded:
            for index, name in enumerate(names):
                folded.setdefault(name.casefold(), []).append(index)
        alike = folded.get(word.casefold(), ())
        return alike[0] if len(alike) == 1 else None

    return found


def usual_label(names: Sequence[str]) -> int | None:
    """Return the index of the column that is called label, whatever its case."""
    folded = [name.casefold() for name in names]
    return folded.index("label") if "label" in folded else None


def is_number(cell: str) -> bool:
    """Return whether a cell reads as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def are_measured(labels: Collection[str]) -> bool:
    """Return whether distinct labels look like numbers to predict: all of them are numbers, and
    there are fractions among them or more than classes are usually numbered with.
    """
    if not all(is_number(one) and math.isfinite(float(one)) for one in labels):
        return False
    return len(labels) > MOST_NUMBERED or not all(float(one).is_integer() for one in labels)


def number_name(number: float) -> str:
    """Return the class name or level of a number: ``7`` for 7.0, else the shortest exact text.

    ``number`` may be infinite, and must not be NaN.
    """
    return str(int(number)) if number.is_integer() else repr(number)


def label_text(value: object) -> str:
    """Return the name of a class: text stripped, numbers in their shortest form (1.0 is ``1``)."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number_name(value) if math.isfinite(value) else str(value)
    text = str(value).strip()
    if not is_number(text):
        return text
    number = float(text)
    return number_name(number) if abs(number) < EXACT_INTEGERS else text
