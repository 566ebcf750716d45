"""Tells how a delimited text file is written: delimiter, header, line ends, byte-order mark.

It reads the first kilobytes only and knows nothing of what the columns are for.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection
from dataclasses import dataclass

from netsharp_engine.cells import (
    DELIMITER_WORDS,
    SAMPLE_ROWS,
    SUFFIX_DELIMITERS,
    looks_like_header,
    named_delimiter,
    positional_names,
    read_rows,
    sniff_delimiter,
)
from netsharp_engine.data.errors import DataError
from netsharp_engine.data.reading.files import open_bytes, read_bytes, stem_suffix
from netsharp_engine.excerpt import excerpt
from netsharp_engine.limits import TABLE_CELL

HEAD_BYTES = 1 << 16
MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one file is written; ``skip_bytes`` and ``skip_lines`` lead to its first data row."""

    delimiter: str
    names: tuple[str, ...]
    named: bool
    newline: bytes
    skip_bytes: int
    skip_lines: int


def read_dialect(
    path: str,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    expected: Collection[str] = (),
) -> Dialect:
    """The dialect of a text file; what is given is not guessed.

    ``expected`` are column names that mark a first row as header.  Raises DataError.
    """
    head, whole = _head(path)
    skip = len(MARK) if head.startswith(MARK) else 0
    head = head[skip:]
    newline = b"\r" if b"\r" in head and b"\n" not in head else b"\n"
    text = _decode_head(path, head, newline, whole)
    separator = _delimiter(path, text, delimiter)
    rows, header_lines = _sample(path, text, separator, whole)
    first = [cell.strip() for cell in rows[0]]
    if header is None:
        header = looks_like_header(first, rows[1:], expected)
    if not header:
        return Dialect(separator, positional_names(len(first)), False, newline, skip, 0)
    return Dialect(separator, _header_names(path, first), True, newline, skip, header_lines)


def _head(path: str) -> tuple[bytes, bool]:
    with open_bytes(path) as stream:
        head = read_bytes(path, stream, HEAD_BYTES)
        size = HEAD_BYTES
        while len(head) == size and not (b"\n" in head or b"\r" in head) and size < 1 << 24:
            head += read_bytes(path, stream, size)
            size *= 2
        return head, len(head) < size


def _decode_head(path: str, head: bytes, newline: bytes, whole: bool) -> str:
    if not whole:
        head = head[: head.rfind(newline) + 1] or head
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError as error:
        line = head.count(newline, 0, error.start) + 1
        raise not_utf8(path, line, head[error.start]) from None


def not_utf8(path: str, line: int, byte: int) -> DataError:
    """The error for a byte that is not UTF-8."""
    return DataError(
        f"{path}, line {line}: the byte {byte:02x} (hexadecimal) is not UTF-8 text. "
        "Save the file as UTF-8."
    )


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
    """The first rows that are not blank, and the lines that the first of them takes."""
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
    """The error for quoting that cannot be read."""
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


def _header_names(path: str, first: list[str]) -> tuple[str, ...]:
    names = [cell or f"column{number}" for number, cell in enumerate(first, 1)]
    seen: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if name in seen:
            raise DataError(
                f"{path}: columns {seen[name]} and {number} are both named '{name}'. "
                "Give every column its own name, or set header = false if the first row is data."
            )
        seen[name] = number
    return tuple(names)
