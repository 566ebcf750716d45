"""Reads CSV and TSV text in chunks: numbers through NumPy's tokenizer, the rest through csv.

It knows cells, not what the columns are for; one chunk of text is in memory at a time.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import MISSING, read_rows
from netsharp_engine.limits import TABLE_LINE

from .dialect import csv_problem, not_utf8, read_dialect
from .errors import DataError, place
from .files import Meter, open_bytes, read_bytes, stored_position
from .request import Chunk, Request

CHUNK_BYTES = 1 << 18
SLOW_CELLS = 1 << 16


class DelimitedSource:
    """One CSV or TSV file; see ``request.Source``."""

    line_word = "line"
    label: str | None = None

    def __init__(
        self,
        path: str,
        *,
        delimiter: str | None = None,
        header: bool | None = None,
        expected: Collection[str] = (),
    ) -> None:
        self.path = path
        self.dialect = read_dialect(path, delimiter=delimiter, header=header, expected=expected)
        self.names = self.dialect.names
        self.named = self.dialect.named

    def chunks(self, request: Request, meter: Meter) -> Iterator[Chunk]:
        """All rows in chunks of about a quarter of a megabyte of text; raises DataError."""
        reading = _Reading(self, request)
        with open_bytes(self.path) as stream:
            read_bytes(self.path, stream, self.dialect.skip_bytes)
            for chunk in reading.chunks(stream):
                meter.add_rows(chunk.count)
                yield chunk
                meter.at(stored_position(stream))


class _Reading:
    """One pass over one file for one request."""

    def __init__(self, source: DelimitedSource, request: Request) -> None:
        self._path = source.path
        self._names = source.names
        self._delimiter = source.dialect.delimiter
        self._newline = source.dialect.newline
        self._skip = source.dialect.skip_lines
        self._request = request
        self._either_is_text = False

    def chunks(self, stream: BinaryIO) -> Iterator[Chunk]:
        rest = self._after_header(stream)
        line = self._skip + 1
        while True:
            data = read_bytes(self._path, stream, CHUNK_BYTES)
            block = rest + data
            if data:
                cut = block.rfind(self._newline) + 1
                block, rest = block[:cut], block[cut:]
                self._check_length(rest, line)
            if b'"' in block:
                yield from self._quoted(block, rest if data else b"", stream, line)
                return
            if block:
                yield from self._plain(block, line)
                line += block.count(self._newline)
            if not data:
                return

    def _after_header(self, stream: BinaryIO) -> bytes:
        """Read past the header; what was read beyond it comes back."""
        rest = b""
        for number in range(self._skip):
            while self._newline not in rest:
                data = read_bytes(self._path, stream, CHUNK_BYTES)
                if not data:
                    return b""
                rest += data
                self._check_length(rest if self._newline not in rest else b"", number + 1)
            rest = rest[rest.index(self._newline) + 1 :]
        return rest

    def _check_length(self, rest: bytes, line: int) -> None:
        if len(rest) > TABLE_LINE.most:
            raise DataError(
                f"{self._path}: after line {line} comes a line of more than {TABLE_LINE}. "
                "Is this a table?"
            )

    def _plain(self, block: bytes, line: int) -> Iterator[Chunk]:
        """Text without quotes: fast if every cell is in order, else cell by cell."""
        text = self._decode(block, line)
        ending = "\r" if self._newline == b"\r" else "\r\n"
        text = text.replace(ending, "\n")
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        chunk = self._fast(lines, line)
        if chunk is not None:
            yield chunk
        else:
            yield from self._slow(iter(lines), line - 1)

    def _decode(self, block: bytes, line: int) -> str:
        try:
            return block.decode("utf-8")
        except UnicodeDecodeError as error:
            line += block.count(self._newline, 0, error.start)
            raise not_utf8(self._path, line, block[error.start]) from None

    def _fast(self, lines: list[str], line: int) -> Chunk | None:
        """The chunk, or None when a row is blank or ragged or a cell is not a plain number."""
        delimiter, between = self._delimiter, len(self._names) - 1
        if not all(lines) or any(each.count(delimiter) != between for each in lines):
            return None
        if between == 0 and any(not each.strip() for each in lines):
            return None
        request = self._request
        numeric = request.numeric
        either: npt.NDArray[np.float64] | list[str] | None = None
        numbers = None
        if request.either is not None and not self._either_is_text:
            numbers = self._tokenize(lines, (*numeric, request.either))
            if numbers is not None:
                either, numbers = numbers[:, -1], numbers[:, :-1]
        if numbers is None:
            numbers = self._tokenize(lines, numeric)
            if numbers is None:
                return None
        texts: tuple[list[str], ...] = ()
        as_text = request.text if either is not None else self._text_columns()
        if as_text:
            cells = [each.split(delimiter) for each in lines]
            texts = tuple([row[column].strip() for row in cells] for column in as_text)
        if request.either is not None and either is None:
            self._either_is_text = True
            either, texts = texts[-1], texts[:-1]
        return Chunk(len(lines), numbers, texts, either, range(line, line + len(lines)))

    def _text_columns(self) -> tuple[int, ...]:
        request = self._request
        return request.text if request.either is None else (*request.text, request.either)

    def _tokenize(
        self, lines: list[str], columns: tuple[int, ...]
    ) -> npt.NDArray[np.float64] | None:
        if not columns:
            return np.empty((len(lines), 0))
        whole = columns == tuple(range(len(self._names)))
        try:
            return np.loadtxt(
                lines,
                delimiter=self._delimiter,
                comments=None,
                ndmin=2,
                usecols=None if whole else columns,
            )
        except ValueError:
            return None

    def _quoted(self, block: bytes, rest: bytes, stream: BinaryIO, line: int) -> Iterator[Chunk]:
        """Everything from the first quote on: quoted cells may hold delimiters and line ends."""
        yield from self._slow(self._decoded_lines(block + rest, stream, line), line - 1)

    def _decoded_lines(self, rest: bytes, stream: BinaryIO, line: int) -> Iterator[str]:
        newline = self._newline
        while True:
            pieces = rest.split(newline)
            rest = pieces.pop()
            for piece in pieces:
                yield self._decode(piece + newline, line)
                line += 1
            self._check_length(rest, line)
            data = read_bytes(self._path, stream, CHUNK_BYTES)
            if not data:
                break
            rest += data
        if rest:
            yield self._decode(rest, line)

    def _slow(self, lines: Iterable[str], before: int) -> Iterator[Chunk]:
        """Cell by cell through csv; ``before`` lines of the file precede the first."""
        width = len(self._names)
        most = max(SLOW_CELLS // width, 1)
        reader = read_rows(lines, self._delimiter)
        rows: list[list[str]] = []
        places: list[int] = []
        start = before + 1
        try:
            for row in reader:
                if len(row) == width and (width > 1 or row[0].strip()):
                    rows.append(row)
                    places.append(start)
                elif row and any(cell.strip() for cell in row):
                    raise self._ragged(row, start)
                start = before + reader.line_num + 1
                if len(rows) == most:
                    yield self._convert(rows, places)
                    rows, places = [], []
        except csv.Error as error:
            raise csv_problem(self._path, start, error) from None
        if rows:
            yield self._convert(rows, places)

    def _ragged(self, row: list[str], line: int) -> DataError:
        width, found = len(self._names), len(row)
        values = "1 value" if found == 1 else f"{found} values"
        sep = {"\t": "tab", " ": "space"}.get(self._delimiter, f"'{self._delimiter}'")
        return DataError(
            f"{self._path}, line {line}: {values} where the first row has {width}. Correct "
            f"the line, quote values that hold the delimiter ({sep}), or set the delimiter."
        )

    def _convert(self, rows: list[list[str]], places: list[int]) -> Chunk:
        request = self._request
        columns: list[Sequence[str]] = list(zip(*rows, strict=True))
        numbers = np.empty((len(rows), len(request.numeric)))
        for target, column in enumerate(request.numeric):
            numbers[:, target] = self._numbers(columns[column], column, places)
        texts = tuple([cell.strip() for cell in columns[column]] for column in request.text)
        either = None
        if request.either is not None:
            either = [cell.strip() for cell in columns[request.either]]
        return Chunk(len(rows), numbers, texts, either, places)

    def _numbers(
        self, cells: Sequence[str], column: int, places: list[int]
    ) -> npt.NDArray[np.float64]:
        try:
            if "_" not in "".join(cells):
                return np.fromiter(map(float, cells), np.float64, len(cells))
        except ValueError:
            pass  # missing cells and faults are told apart one by one below
        result = np.empty(len(cells))
        for row, cell in enumerate(cells):
            result[row] = self._number(cell, column, places[row])
        return result

    def _number(self, cell: str, column: int, line: int) -> float:
        stripped = cell.strip()
        if stripped.casefold() in MISSING:
            return float("nan")
        try:
            if "_" not in stripped:
                return float(stripped)
        except ValueError:
            pass  # the error below names the cell
        name = self._names[column]
        shown = stripped if len(stripped) <= 40 else stripped[:37] + "..."
        raise DataError(
            f"{place(self._path, line, name)}: '{shown}' is not a number. Correct it, or name "
            f'the column in categorical if it holds categories: categorical = ["{name}"].'
        )
