"""Counts columns and classes of CSV and TSV files with the csv module alone.

`check` may not pay for numpy to read a run file's data; what needs more than counting (other
formats, levels of categories in a large file) stays unknown here.
"""

from __future__ import annotations

import csv
import os
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from itertools import chain, islice

from netsharp_engine.cells import (
    SAMPLE_ROWS,
    SUFFIX_DELIMITERS,
    are_measured,
    cell_kind,
    column_finder,
    counts_rows,
    has_decimal_comma,
    label_text,
    looks_like_header,
    named_delimiter,
    names_rows,
    positional_names,
    read_rows,
    sniff_delimiter,
    usual_label,
    with_point,
)
from netsharp_engine.plain_files import open_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TextIO, TypeVar

    Taken = TypeVar("Taken")

#: A larger file is not read to its end: only its first rows are evaluated.
READ_THROUGH = 8 << 20
#: The most characters of a compressed file that are read to count rows: few bytes may hold many.
MOST_UNPACKED = 64 << 20
#: The number of first characters from which the format of a table is derived.
HEAD = 1 << 16
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
SUFFIXES = frozenset((".csv", *SUFFIX_DELIMITERS))


class Columns:
    """How a table's columns are used: names or numbers from 1, as the run file gives them.

    `apart` are columns that are not features, `chosen` the only ones that are, where any is named;
    `unknown_level` says that a categorical column has one feature more, for levels that training
    did not see.
    """

    __slots__ = (
        "apart",
        "categorical",
        "chosen",
        "decimal",
        "delimiter",
        "encoding",
        "header",
        "label",
        "unknown_level",
    )

    def __init__(
        self,
        label: str | None = None,
        apart: Sequence[str] = (),
        categorical: Sequence[str] = (),
        header: bool | None = None,
        delimiter: str | None = None,
        unknown_level: bool = True,
        decimal: str | None = None,
        encoding: str | None = None,
        chosen: Sequence[str] = (),
    ) -> None:
        self.label = label
        self.apart = tuple(apart)
        self.categorical = tuple(categorical)
        self.chosen = tuple(chosen)
        self.header = header
        self.delimiter = delimiter
        self.unknown_level = unknown_level
        self.decimal = decimal
        self.encoding = encoding

    @property
    def key(self) -> tuple[object, ...]:
        """Return a key that is equal for two uses of a table exactly if they are the same."""
        return tuple(getattr(self, name) for name in self.__slots__)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns given by name: one of them in a first row makes it a header."""
        given = (self.label, *self.apart, *self.categorical, *self.chosen)
        return tuple(name for name in given if name is not None and not name.isdecimal())


class Counts:
    """The facts in a table: columns of features after encoding, and classes of its label.

    `measured`: the labels look like numbers to predict, which a network may do. `levelled`: some
    columns are categories, named so or of texts alone.
    """

    __slots__ = ("classes", "features", "levelled", "measured")

    def __init__(
        self,
        features: int | None,
        classes: int | None,
        measured: bool = False,
        levelled: bool = False,
    ) -> None:
        self.features = features
        self.classes = classes
        self.measured = measured
        self.levelled = levelled


def count_table(path: str, columns: Columns) -> Counts | None:
    """Count one table, or return None where this is not a readable CSV or TSV file.

    A categorical column counts one feature per level. An empty cell is not a level.
    """
    return _read(path, columns, _count)


def read_names(path: str, columns: Columns) -> tuple[str, ...] | None:
    """Return the names of a table's columns, or None where it has none or cannot be read."""
    return _read(path, columns, _names)


def is_table(path: str) -> bool:
    """Return whether a name is that of a CSV or TSV file, packed or not."""
    return _suffix(path) in SUFFIXES


def _suffix(path: str) -> str:
    stem, suffix = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if suffix == ".gz" else suffix


def _read(
    path: str, columns: Columns, take: Callable[[Iterator[list[str]], Columns, bool], Taken | None]
) -> Taken | None:
    """Return the result of `take` on the rows, all or the first; None for an unreadable table."""
    suffix = _suffix(path)
    packed = path.lower().endswith(".gz")
    if suffix not in SUFFIXES:
        return None
    try:
        size = os.path.getsize(path) * (4 if packed else 1)
        with _open(path, packed, columns.encoding) as stream:
            delimiter = _delimiter(stream, columns.delimiter, suffix)
            if delimiter is None:
                return None
            start = stream.tell()
            for whole in (True, False) if size <= READ_THROUGH else (False,):
                stream.seek(start)
                rows = _stripped_rows(stream, delimiter, columns.decimal)
                with suppress(_TooLongError):
                    return take(rows, columns, whole)
            return None
    except (OSError, EOFError, UnicodeError, LookupError, csv.Error):
        return None


def _stripped_rows(stream: TextIO, delimiter: str, decimal: str | None) -> Iterator[list[str]]:
    """Yield the rows that are not blank; numbers with a decimal comma have a point."""
    rows = ([cell.strip() for cell in row] for row in read_rows(_lines(stream), delimiter) if row)
    first = list(islice(rows, SAMPLE_ROWS + 1))
    comma = decimal in ("comma", ",")
    if decimal is None:
        comma = has_decimal_comma(first, delimiter)
    for row in chain(first, rows):
        yield [with_point(cell) for cell in row] if comma else row


class _TooLongError(Exception):
    """More is read of a table than is worth it."""


def _lines(stream: TextIO) -> Iterator[str]:
    """Yield the lines of a table, until more than `MOST_UNPACKED` characters are read."""
    left = MOST_UNPACKED
    while line := stream.readline(left + 1):
        left -= len(line)
        if left < 0:
            raise _TooLongError
        yield line


@contextmanager
def _open(path: str, packed: bool, encoding: str | None) -> Iterator[TextIO]:
    with ExitStack() as opened:
        stream: Any = opened.enter_context(open_plain(path))
        if packed:
            import gzip

            stream = opened.enter_context(gzip.open(stream))
        begin = stream.read(2)
        stream.seek(0)
        found = encoding or ("utf-16" if begin in UTF16_MARKS else "utf-8")
        found = "utf-8-sig" if found == "utf-8" else found
        yield opened.enter_context(TextIOWrapper(stream, encoding=found, newline=""))


def _delimiter(stream: TextIO, given: str | None, suffix: str) -> str | None:
    """Return the delimiter given, that of the suffix, or the one that the first rows are cut by."""
    if given is not None:
        return named_delimiter(given)
    if suffix in SUFFIX_DELIMITERS:
        return SUFFIX_DELIMITERS[suffix]
    head = stream.read(HEAD)
    stream.seek(0)
    whole = len(head) < HEAD
    return sniff_delimiter(head if whole else head[: head.rfind("\n") + 1] or head)


def _names(rows: Iterator[list[str]], columns: Columns, whole: bool) -> tuple[str, ...] | None:
    start = _start(rows, columns)
    return tuple(start[0]) if start is not None and start[1] else None


def _start(
    rows: Iterator[list[str]], columns: Columns
) -> tuple[Sequence[str], bool, list[list[str]]] | None:
    """Return the columns' names, whether the table has them, and the rows that were read for it."""
    first = next(rows, None)
    if first is None:
        return None
    sample = list(islice(rows, SAMPLE_ROWS))
    header = columns.header
    if header is None:
        header = looks_like_header(first, sample, columns.names)
    if not header:
        return positional_names(len(first)), False, [first, *sample]
    if names_rows(first, sample):
        first = ["", *first]
    return first, True, sample


def _count(rows: Iterator[list[str]], columns: Columns, whole: bool) -> Counts | None:
    start = _start(rows, columns)
    if start is None:
        return None
    names, named_by_file, sample = start
    found = column_finder(names)
    label = usual_label(names) if columns.label is None else found(columns.label)
    apart = {found(name) for name in columns.apart} | {label}
    chosen = {found(name) for name in columns.chosen}
    features = [
        index
        for index in range(len(names))
        if index not in apart and (not chosen or index in chosen)
    ]
    named = {found(name) for name in columns.categorical}
    counter = named_by_file and not names[0] and len(features) > 1 and features[0] == 0
    if counter and 0 not in named and counts_rows([row[0] for row in sample if row]):
        del features[0]
    levelled = [index for index in features if index in named or _may_be_text(index, sample)]
    wanted = [*levelled, label] if label is not None else levelled
    if wanted and not whole:
        return Counts(None if levelled else len(features), None, levelled=bool(levelled))
    levels = _levels(wanted, label, sample, rows)
    levelled = [index for index in levelled if index in named or _is_text(levels[index])]
    unknown = len(levelled) if columns.unknown_level else 0
    encoded = len(features) - len(levelled) + unknown + sum(len(levels[i]) for i in levelled)
    if label is None:
        return Counts(encoded, None, levelled=bool(levelled))
    classes = levels[label]
    return Counts(encoded, len(classes), are_measured(classes), bool(levelled))


def _may_be_text(index: int, sample: list[list[str]]) -> bool:
    """Return whether the first rows of a column have no number, so that it may be all texts."""
    return bool(sample) and _kinds(row[index] for row in sample if index < len(row)) <= _TEXTS


def _is_text(cells: set[str]) -> bool:
    """Return whether all cells except missing ones are text, and some are."""
    kinds = _kinds(cells)
    return kinds <= _TEXTS and "text" in kinds


def _kinds(cells: Iterable[str]) -> set[str]:
    return {cell_kind(cell) for cell in cells}


_TEXTS = frozenset(("missing", "text"))


def _levels(
    wanted: list[int], label: int | None, sample: list[list[str]], rows: Iterator[list[str]]
) -> dict[int, set[str]]:
    """Return the distinct cells of the columns wanted, those of the label as names of classes."""
    levels: dict[int, set[str]] = {index: set() for index in wanted}
    if not wanted:
        return levels
    for source in (sample, rows):
        for row in source:
            for index, seen in levels.items():
                if index < len(row):
                    seen.add(row[index])
    for index, seen in levels.items():
        seen.discard("")
        if index == label:
            levels[index] = set(map(label_text, seen))
    return levels
