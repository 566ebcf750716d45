"""Counts columns and classes of CSV and TSV files with the csv module alone.

`check` may not pay for numpy to read a run file's data; what needs more than counting (other
formats, levels of categories in a large file) stays unknown here.
"""

from __future__ import annotations

import csv
import os
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper

from netsharp_engine.cells import (
    SUFFIX_DELIMITERS,
    are_measured,
    column_finder,
    label_text,
    looks_like_header,
    named_delimiter,
    positional_names,
    read_rows,
    sniff_delimiter,
    usual_label,
)
from netsharp_engine.plain_files import open_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TextIO, TypeVar

    Taken = TypeVar("Taken")

#: A larger file is not read through: only what its first rows tell is known.
READ_THROUGH = 8 << 20
#: So many characters of a packed file are read at most to count it: a few bytes may hold them all.
MOST_UNPACKED = 64 << 20
#: So many characters tell how a table is written.
HEAD = 1 << 16
SUFFIXES = frozenset((".csv", *SUFFIX_DELIMITERS))


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

    @property
    def key(self) -> tuple[object, ...]:
        """What two uses of a table share exactly if they are the same."""
        return tuple(getattr(self, name) for name in self.__slots__)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns given by name: one of them in a first row makes it a header."""
        given = (self.label, *self.apart, *self.categorical)
        return tuple(name for name in given if name is not None and not name.isdecimal())


class Counts:
    """What a table tells: columns of features after encoding, and classes of its label.

    `measured`: the labels look like numbers to predict, which a network may do.
    """

    __slots__ = ("classes", "features", "measured")

    def __init__(self, features: int | None, classes: int | None, measured: bool = False) -> None:
        self.features = features
        self.classes = classes
        self.measured = measured


def count_table(path: str, columns: Columns) -> Counts | None:
    """Count one table, or return None where this is no readable CSV or TSV file.

    A categorical column counts one feature per level. An empty cell is no level.
    """
    return _read(path, columns, _count)


def read_names(path: str, columns: Columns) -> tuple[str, ...] | None:
    """Return the names of a table's columns, or None where it has none or cannot be read."""
    return _read(path, columns, _names)


def is_table(path: str) -> bool:
    """Whether a name is that of a CSV or TSV file, packed or not."""
    return _suffix(path) in SUFFIXES


def _suffix(path: str) -> str:
    stem, suffix = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if suffix == ".gz" else suffix


def _read(
    path: str, columns: Columns, take: Callable[[Iterator[list[str]], Columns, bool], Taken | None]
) -> Taken | None:
    """What `take` makes of the rows, told whether to read them all; None for no readable table."""
    suffix = _suffix(path)
    packed = path.lower().endswith(".gz")
    if suffix not in SUFFIXES:
        return None
    try:
        size = os.path.getsize(path) * (4 if packed else 1)
        with _open(path, packed) as stream:
            delimiter = _delimiter(stream, columns.delimiter, suffix)
            if delimiter is None:
                return None
            start = stream.tell()
            for whole in (True, False) if size <= READ_THROUGH else (False,):
                stream.seek(start)
                rows = (row for row in read_rows(_lines(stream), delimiter) if row)
                with suppress(_TooLongError):
                    return take(rows, columns, whole)
            return None
    except (OSError, EOFError, UnicodeDecodeError, csv.Error):
        return None


class _TooLongError(Exception):
    """More is read of a table than is worth it."""


def _lines(stream: TextIO) -> Iterator[str]:
    """The lines of a table, until more than `MOST_UNPACKED` characters are read."""
    left = MOST_UNPACKED
    while line := stream.readline(left + 1):
        left -= len(line)
        if left < 0:
            raise _TooLongError
        yield line


@contextmanager
def _open(path: str, packed: bool) -> Iterator[TextIO]:
    with ExitStack() as opened:
        stream: Any = opened.enter_context(open_plain(path))
        if packed:
            import gzip

            stream = opened.enter_context(gzip.open(stream))
        yield opened.enter_context(TextIOWrapper(stream, encoding="utf-8-sig", newline=""))


def _delimiter(stream: TextIO, given: str | None, suffix: str) -> str | None:
    """The delimiter given, that of the suffix, or the one that the first rows are cut by."""
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
    """The columns' names, whether the table gives them, and rows of data that were read for it."""
    first = next(rows, None)
    if first is None:
        return None
    second = next(rows, None)
    sample = [] if second is None else [second]
    first = [cell.strip() for cell in first]
    header = columns.header
    if header is None:
        header = looks_like_header(first, sample, columns.names)
    if header:
        return first, True, sample
    return positional_names(len(first)), False, [first, *sample]


def _count(rows: Iterator[list[str]], columns: Columns, whole: bool) -> Counts | None:
    start = _start(rows, columns)
    if start is None:
        return None
    names, _, sample = start
    found = column_finder(names)
    label = usual_label(names) if columns.label is None else found(columns.label)
    apart = {found(name) for name in columns.apart} | {label}
    features = [index for index in range(len(names)) if index not in apart]
    named = {found(name) for name in columns.categorical}
    levelled = [index for index in features if index in named]
    wanted = [*levelled, label] if label is not None else levelled
    if wanted and not whole:
        return Counts(None if levelled else len(features), None)
    levels = _levels(wanted, label, sample, rows)
    unknown = len(levelled) if columns.unknown_level else 0
    encoded = len(features) - len(levelled) + unknown + sum(len(levels[i]) for i in levelled)
    if label is None:
        return Counts(encoded, None)
    return Counts(encoded, len(levels[label]), are_measured(levels[label]))


def _levels(
    wanted: list[int], label: int | None, sample: list[list[str]], rows: Iterator[list[str]]
) -> dict[int, set[str]]:
    """The distinct cells of the columns wanted, those of the label as names of classes."""
    levels: dict[int, set[str]] = {index: set() for index in wanted}
    if not wanted:
        return levels
    for source in (sample, rows):
        for row in source:
            for index, seen in levels.items():
                if index < len(row):
                    seen.add(row[index].strip())
    for index, seen in levels.items():
        seen.discard("")
        if index == label:
            levels[index] = set(map(label_text, seen))
    return levels
