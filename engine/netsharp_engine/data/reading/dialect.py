"""Detects how a delimited text file is written: delimiter, header, line ends, byte-order mark.

It reads the first kilobytes only, and must not know what the columns are for.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from netsharp_engine.cells import (
    DELIMITER_WORDS,
    SAMPLE_ROWS,
    SUFFIX_DELIMITERS,
    counts_rows,
    has_decimal_comma,
    holds_text,
    looks_like_header,
    named_delimiter,
    names_rows,
    positional_names,
    read_rows,
    sniff_delimiter,
    with_point,
)
from netsharp_engine.data.errors import DataError
from netsharp_engine.data.reading.encodings import (
    LEGACY,
    UTF8,
    found_encoding,
    is_legacy,
    not_utf8,
    open_text,
)
from netsharp_engine.data.reading.files import read_bytes, stem_suffix
from netsharp_engine.excerpt import excerpt
from netsharp_engine.limits import TABLE_CELL

HEAD_BYTES = 1 << 16
MARK = b"\xef\xbb\xbf"
#: The most names of two columns that are reported.
MOST_DOUBLES = 5
DECIMALS = {"comma": ",", ",": ",", "point": ".", ".": "."}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The dialect of one file; ``skip_bytes`` and ``skip_lines`` lead to its first data row.

    ``decimal`` is the character before the fraction of a number. ``texts`` are the columns whose
    first rows hold text alone; ``counts`` says that the first column has no name and its first rows
    count on by 1. ``doubles`` are sentences about names that two columns have.
    """

    delimiter: str
    names: tuple[str, ...]
    named: bool
    newline: bytes
    skip_bytes: int
    skip_lines: int
    encoding: str = UTF8
    decimal: str = "."
    texts: frozenset[int] = frozenset()
    counts: bool = False
    doubles: tuple[str, ...] = ()


def read_dialect(
    path: str,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    expected: Collection[str] = (),
    decimal: str | None = None,
    encoding: str | None = None,
) -> Dialect:
    """Return the dialect of a text file; settings that are given are not detected.

    ``expected`` are column names that mark a first row as header. Raises DataError.
    """
    named, encoding = encoding is not None, found_encoding(path, encoding)
    head, whole = _head(path, encoding)
    if not named and encoding == UTF8 and not _is_utf8(head) and is_legacy(path):
        encoding = LEGACY
        head, whole = _head(path, encoding)
    skip = len(MARK) if head.startswith(MARK) else 0
    head = head[skip:]
    newline = b"\r" if b"\r" in head and b"\n" not in head else b"\n"
    text = _decode_head(path, head, newline, whole)
    separator = _delimiter(path, text, delimiter)
    rows, header_lines = _sample(path, text, separator, whole)
    rows = [[cell.strip() for cell in row] for row in rows]
    point = _decimal(decimal, separator, rows)
    if point == ",":
        rows = [[with_point(cell) for cell in row] for row in rows]
    first, rest = rows[0], rows[1:]
    if header is None:
        header = looks_like_header(first, rest, expected)
    if header and names_rows(first, rest):
        first = ["", *first]
    columns = _columns(rest if header else rows, len(first))
    written = (newline, skip, header_lines if header else 0, encoding, point, _texts(columns))
    if not header:
        return Dialect(separator, positional_names(len(first)), False, *written)
    counts = len(first) > 1 and not first[0] and bool(columns) and counts_rows(columns[0])
    names, doubles = _header_names(path, first)
    return Dialect(separator, names, True, *written, counts, doubles)


def _columns(rows: Sequence[Sequence[str]], width: int) -> list[tuple[str, ...]]:
    """Return the cells of each column, of the rows that have all of them."""
    return list(zip(*(row for row in rows if len(row) == width), strict=True))


def _texts(columns: Sequence[Sequence[str]]) -> frozenset[int]:
    return frozenset(index for index, cells in enumerate(columns) if holds_text(cells))


def _decimal(given: str | None, delimiter: str, rows: Sequence[Sequence[str]]) -> str:
    if given is None:
        return "," if has_decimal_comma(rows, delimiter) else "."
    chosen = DECIMALS.get(given)
    if chosen is None:
        raise DataError(f"decimal = '{excerpt(given)}' cannot be used: write comma or point.")
    if chosen == delimiter:
        raise DataError(
            "Values are separated by commas, so no number can have a decimal comma. Name another "
            "delimiter, or set decimal = point."
        )
    return chosen


def _head(path: str, encoding: str) -> tuple[bytes, bool]:
    with open_text(path, encoding) as stream:
        head = read_bytes(path, stream, HEAD_BYTES)
        size = HEAD_BYTES
        while len(head) == size and not (b"\n" in head or b"\r" in head) and size < 1 << 24:
            head += read_bytes(path, stream, size)
            size *= 2
        return head, len(head) < size


def _is_utf8(head: bytes) -> bool:
    """Return whether bytes are UTF-8, or the beginning of it."""
    try:
        codecs.getincrementaldecoder(UTF8)().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _decode_head(path: str, head: bytes, newline: bytes, whole: bool) -> str:
    if not whole:
        head = head[: head.rfind(newline) + 1] or head
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError as error:
        line = head.count(newline, 0, error.start) + 1
        raise not_utf8(path, line, head[error.start]) from None


def _delimiter(path: str, text: str, given: str | None) -> str:
    if given is not None:
        chosen = named_delimiter(given)
        if chosen is None:
            raise DataError(
                f"The delimiter '{excerpt(given)}' cannot be used: give one character, or one of "
                f"{', '.join(word for word in DELIMITER_WORDS if word.isalpha())}."
            )
        return chosen
    by_suffix = SUFFIX_DELIMITERS.get(stem_suffix(path))
    return by_suffix or sniff_delimiter(text)


def _sample(path: str, text: str, delimiter: str, whole: bool) -> tuple[list[list[str]], int]:
    """Return the first rows that are not blank, and the number of lines of the first of them."""
    rows: list[list[str]] = []
    header_lines, start = 0, 1
    reader = read_rows(io.StringIO(text, newline=""), delimiter)
    try:
        for row in reader:
            if row:
                rows.append(row)
                header_lines = header_lines or reader.line_num
            if len(rows) > SAMPLE_ROWS:
                break
            start = reader.line_num + 1
    except csv.Error as error:
        if whole or not rows:
            raise csv_problem(path, start, error) from None
    if not rows:
        raise DataError(f"{path} is empty: a header or at least one row is needed.")
    return rows, header_lines


def csv_problem(path: str, line: int, error: csv.Error) -> DataError:
    """Return the error for quoting that cannot be read."""
    text = str(error)
    if "unexpected end" in text:
        why = "a quoted value is opened and never closed"
    elif "field limit" in text:
        return DataError(
            f"{path}, line {line}: a value has more than {TABLE_CELL}. Shorten it, or close the "
            'quote (") before it.'
        )
    elif "expected after" in text:
        why = "a closing quote is followed by more text; a quote inside a value is written twice"
    else:
        why = text
    return DataError(f'{path}, line {line}: {why}. Correct the quotes (").')


def _header_names(path: str, first: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a header, all different, and a sentence for each that occurred twice."""
    names = [cell or f"column{number}" for number, cell in enumerate(first, 1)]
    seen: dict[str, int] = {}
    doubles: list[str] = []
    for number, name in enumerate(names, 1):
        if name not in seen:
            seen[name] = number
            continue
        if len(doubles) < MOST_DOUBLES:
            doubles.append(
                f"{path}: columns {seen[name]} and {number} are both named '{name}'. Give every "
                "column its own name, or set header = false if the first row is data."
            )
        own = f"{name} (column {number})"
        seen[own] = number
        names[number - 1] = own
    return tuple(names), tuple(doubles)
