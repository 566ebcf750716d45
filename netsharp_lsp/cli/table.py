"""Counts columns and classes of CSV and TSV files with the csv module alone.

`check` may not pay for numpy to read a run file's data; what needs more than counting (other
formats, levels of categories in a large file) stays unknown here.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_NAMED_DELIMITERS = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "space": " "}
#: A larger file is not read through: only what its first rows tell is known.
READ_THROUGH = 8 << 20
#: Cells that hold no value, whatever their case.
MISSING = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "none", "?"))


class Columns:
    """How a table's columns are used: names or numbers from 1, as the run file gives them.

    `apart` are columns that are no features; `unknown_level` tells that a categorical column
    has one feature more, for levels that training did not see.
    """

    __slots__ = ("apart", "categorical", "delimiter", "header", "label", "unknown_level")

    def __init__(
        self,
        label: str | None = None,
        apart: Sequence[str] = (),
        categorical: Sequence[str] = (),
        header: bool | None = None,
        delimiter: str | None = None,
        unknown_level: bool = True,
    ) -> None:
        self.label = label
        self.apart = tuple(apart)
        self.categorical = tuple(categorical)
        self.header = header
        self.delimiter = delimiter
        self.unknown_level = unknown_level


class Counts:
    """What a table tells: columns of features after encoding, and classes of its label."""

    __slots__ = ("classes", "features")

    def __init__(self, features: int | None, classes: int | None) -> None:
        self.features = features
        self.classes = classes


def count_table(path: str, columns: Columns) -> Counts | None:
    """Count one table, or return None where this is no readable CSV or TSV file.

    A categorical column counts one feature per level. An empty cell is no level.
    """
    stem, suffix = os.path.splitext(path.lower())
    packed = suffix == ".gz"
    if packed:
        suffix = os.path.splitext(stem)[1]
    if suffix not in _DELIMITERS:
        return None
    import csv

    try:
        size = os.path.getsize(path) * (4 if packed else 1)
        with _open(path, packed) as stream:
            delimiter = _delimiter(stream, columns.delimiter, _DELIMITERS[suffix])
            rows = csv.reader(stream, delimiter=delimiter, skipinitialspace=delimiter not in "\t ")
            return _count((row for row in rows if row), columns, size <= READ_THROUGH)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error):
        return None


def _open(path: str, packed: bool) -> TextIO:
    if not packed:
        return open(path, encoding="utf-8-sig", newline="")
    import gzip

    return gzip.open(path, "rt", encoding="utf-8-sig", newline="")


def _delimiter(stream: TextIO, given: str | None, usual: str) -> str:
    """The delimiter given, or the one that the first line holds most of."""
    if given:
        return _NAMED_DELIMITERS.get(given, given)[:1]
    if usual == "\t":
        return usual
    first = stream.readline()
    stream.seek(0)
    return max(",;\t|", key=first.count)


def _count(rows: Iterator[list[str]], columns: Columns, whole: bool) -> Counts | None:
    first = next(rows, None)
    if first is None:
        return None
    second = next(rows, None)
    sample = [] if second is None else [second]
    first = [cell.strip() for cell in first]
    header = columns.header if columns.header is not None else _is_header(first, sample, columns)
    if not header:
        sample.insert(0, first)
    names = first if header else []
    label = _index(columns.label, names, len(first))
    if label is None:
        label = _usual_label(names)
    apart = {_index(name, names, len(first)) for name in columns.apart} | {label}
    features = [index for index in range(len(first)) if index not in apart]
    named = {_index(name, names, len(first)) for name in columns.categorical}
    levelled = [index for index in features if index in named]
    wanted = [*levelled, label] if label is not None else levelled
    if wanted and not whole:
        return Counts(None if levelled else len(features), None)
    levels = _levels(wanted, sample, rows)
    unknown = len(levelled) if columns.unknown_level else 0
    encoded = len(features) - len(levelled) + unknown + sum(len(levels[i]) for i in levelled)
    return Counts(encoded, len(levels[label]) if label is not None else None)


def _levels(
    wanted: list[int], sample: list[list[str]], rows: Iterator[list[str]]
) -> dict[int, set[str]]:
    levels: dict[int, set[str]] = {index: set() for index in wanted}
    if not wanted:
        return levels
    for source in (sample, rows):
        for row in source:
            for index, seen in levels.items():
                if index < len(row):
                    seen.add(row[index].strip())
    for seen in levels.values():
        seen.difference_update([cell for cell in seen if cell.casefold() in MISSING])
    return levels


def _is_header(first: list[str], rest: list[list[str]], columns: Columns) -> bool:
    """Whether a first row holds names: a known one, or words above numbers, or only words."""
    if columns.label in first:
        return True
    words = [not _is_number(cell) for cell in first]
    if rest and any(w and _is_number(cell) for w, cell in zip(words, rest[0], strict=False)):
        return True
    return all(words) and len(set(first)) == len(first)


def _index(name: str | None, names: list[str], width: int) -> int | None:
    if name is None:
        return None
    if name in names:
        return names.index(name)
    number = int(name) if name.isdecimal() else 0
    return number - 1 if 1 <= number <= width else None


def _usual_label(names: list[str]) -> int | None:
    """The column that is called label, whatever its case."""
    folded = [name.casefold() for name in names]
    return folded.index("label") if "label" in folded else None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
