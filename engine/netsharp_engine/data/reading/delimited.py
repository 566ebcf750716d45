"""Reads CSV and TSV text in chunks: plain rows by a compiled twin; without it, or where a cell is
odd, numbers through NumPy's tokenizer and the rest through csv.

It knows cells, not what the columns are for; one chunk of text is in memory at a time.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import MISSING, cell_kind, read_rows, with_point
from netsharp_engine.data.errors import DataError, place
from netsharp_engine.data.reading.compiled import BlockReader, PlainRows, can_read, lines_of
from netsharp_engine.data.reading.dialect import csv_problem, read_dialect
from netsharp_engine.data.reading.encodings import LEGACY, UTF8, is_legacy, not_utf8, open_text
from netsharp_engine.data.reading.files import Meter, read_bytes, stored_position
from netsharp_engine.data.reading.request import Chunk, Request
from netsharp_engine.data.texts import CodedTexts
from netsharp_engine.limits import TABLE_LINE

CHUNK_BYTES = 1 << 18
SLOW_CELLS = 1 << 16
#: The bytes of `SLOW_CELLS` cells above which `csv` reads them without the compiled twin.
PIECE_BYTES = 1 << 26


class DelimitedSource:
    """One CSV or TSV file; see ``request.Source``."""

    line_word = "line"
    label: str | None = None
    typed = False

    def __init__(
        self,
        path: str,
        *,
        delimiter: str | None = None,
        header: bool | None = None,
        expected: Collection[str] = (),
        decimal: str | None = None,
        encoding: str | None = None,
    ) -> None:
        self.path = path
        self.dialect = read_dialect(
            path,
            delimiter=delimiter,
            header=header,
            expected=expected,
            decimal=decimal,
            encoding=encoding,
        )
        self.names = self.dialect.names
        self.named = self.dialect.named
        self.texts, self.counts = self.dialect.texts, self.dialect.counts
        self.doubles = self.dialect.doubles
        self.guesses_encoding = encoding is None
        self.remarks: list[str] = []
        if decimal is None and self.dialect.decimal == ",":
            self.remarks.append(
                f'{path}: numbers are read with a decimal comma; decimal = "point" reads them '
                "otherwise."
            )
        if self.dialect.encoding == LEGACY and encoding is None:
            self.remarks.append(legacy_remark(path))

    def chunks(self, request: Request, meter: Meter) -> Iterator[Chunk]:
        """Yield all rows in chunks of about a quarter of a megabyte of text; raises DataError."""
        with open_text(self.path, self.dialect.encoding) as stream:
            read_bytes(self.path, stream, self.dialect.skip_bytes)
            for chunk in _Reading(self, request, stream).chunks():
                meter.add_rows(chunk.count)
                yield chunk
                meter.at(stored_position(stream))


class _Reading:
    """One pass over one file for one request."""

    def __init__(self, source: DelimitedSource, request: Request, stream: BinaryIO) -> None:
        self._source = source
        self._encoding = UTF8
        self._comma = source.dialect.decimal == ","
        self._path = source.path
        self._stream = stream
        self._names = source.names
        self._delimiter = source.dialect.delimiter
        self._newline = source.dialect.newline
        self._skip = source.dialect.skip_lines
        self._request = request
        self._either_is_text = False
        #: Lines of the blocks that were taken.
        self._passed = 0
        self._most = max(SLOW_CELLS // len(source.names), 1)
        self._readers: dict[int | None, BlockReader] = {}
        self._can_read = can_read(self._delimiter, (*request.numeric, request.either))

    def chunks(self) -> Iterator[Chunk]:
        begun = self._after_header()
        self._passed = self._skip
        blocks = self._blocks(begun)
        for block in blocks:
            line = self._passed + 1
            if b'"' in block:
                yield from self._quoted(chain((block,), blocks), line)
                return
            if block:
                count = lines_of(block, self._newline)
                yield from self._compiled(block, line, count) or self._plain(block, line)
                self._passed += count

    def _after_header(self) -> bytes:
        """Skip the header; return the bytes that were read beyond it."""
        if not self._skip:
            return b""
        for block in self._blocks(b""):
            count = lines_of(block, self._newline)
            if self._passed + count < self._skip:
                self._passed += count
                continue
            return block.split(self._newline, self._skip - self._passed)[-1] + self._rest
        return b""

    def _blocks(self, rest: bytes) -> Iterator[bytes]:
        """Yield the bytes of the stream after ``rest`` in blocks of whole lines; raises DataError.

        The begun line after a block is kept in `_rest`. The caller counts a block's lines.
        """
        held, size = [rest], len(rest) - rest.rfind(self._newline) - 1
        while True:
            data = read_bytes(self._path, self._stream, CHUNK_BYTES)
            cut = data.rfind(self._newline) + 1
            if data and not cut:
                held.append(data)
                size += len(data)
            else:
                self._rest = data[cut:]
                block = b"".join((*held, data[:cut]))
                held, size = [self._rest], len(self._rest)
                yield block
            if size > TABLE_LINE.most:
                lines = self._passed + b"".join(held).count(self._newline)
                raise DataError(
                    f"{self._path}: after line {lines} comes a line of more than {TABLE_LINE}. "
                    "Is this a table?"
                )
            if not data:
                return

    def _compiled(self, block: bytes, line: int, count: int) -> list[Chunk] | None:
        """Return the chunks that `_plain` makes of text without quotes, by its compiled twin; None
        for odd cells.
        """
        if not self._can_read:
            return None
        if not block.isascii():
            block = self._decode(block, line).encode()
        if self._newline == b"\r":
            block = block.replace(b"\r", b"\n")
        request, either = self._request, self._request.either
        pointed = self._comma and b"." in block
        if either is not None and not self._either_is_text and not pointed:
            found = self._reader(either).read(block, count + 1)
            if isinstance(found, PlainRows) and found.size == len(block) and not found.missing:
                labels = found.numbers[:, -1]
                lines = range(line, line + found.rows)
                return [Chunk(found.rows, found.numbers[:, :-1], found.texts, labels, lines)]
            if not isinstance(found, PlainRows) and found != either:
                return None
        found = self._reader(None).read(block, count + 1)
        if not isinstance(found, PlainRows) or found.size < len(block):
            return None
        # What `_fast` refuses, `_slow` gives in pieces.
        if found.missing or (pointed and request.numeric):
            return [
                self._carefully(found, line, slice(first, first + self._most))
                for first in range(0, found.rows, self._most)
            ]
        self._either_is_text |= either is not None
        return [self._chunk(found, line, slice(0, found.rows))]

    def _chunk(self, found: PlainRows, line: int, cut: slice) -> Chunk:
        """Return some of the rows that were read, with the label as text."""
        lines, texts = range(line, line + found.rows)[cut], tuple(each[cut] for each in found.texts)
        texts, either = (texts, None) if self._request.either is None else (texts[:-1], texts[-1])
        return Chunk(len(lines), found.numbers[cut], texts, either, lines)

    def _carefully(self, found: PlainRows, line: int, cut: slice) -> Chunk:
        """Return the same rows as `_slow` gives them: decimal commas of labels are points."""
        chunk = self._chunk(found, line, cut)
        if self._comma and isinstance(chunk.either, CodedTexts):
            chunk.either = chunk.either.mapped(with_point)
        return chunk

    def _reader(self, number: int | None) -> BlockReader:
        """Return the reader of blocks, with a column of either kind as numbers, or as texts with
        None.
        """
        reader = self._readers.get(number)
        if reader is None:
            numeric, text = self._request.numeric, self._text_columns()
            if number is not None:
                numeric, text = (*numeric, number), self._request.text
            point = "," if self._comma else "."
            columns = len(self._names), numeric, text, number
            reader = self._readers[number] = BlockReader(self._delimiter, point, *columns)
        return reader

    def _plain(self, block: bytes, line: int) -> Iterator[Chunk]:
        """Yield rows of text without quotes: fast if every cell is regular, else cell by cell."""
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
            return block.decode(self._encoding)
        except UnicodeDecodeError as error:
            line += block.count(self._newline, 0, error.start)
            self._fall_back(line, block[error.start])
            return block.decode(self._encoding)

    def _fall_back(self, line: int, byte: int) -> None:
        """Continue in Windows's encoding; bytes read so far are ASCII and do not change. DataError
        where the file is damaged UTF-8, or has another encoding.
        """
        source = self._source
        if source.dialect.encoding != UTF8 or not source.guesses_encoding:
            raise not_utf8(self._path, line, byte) from None
        if not is_legacy(self._path):
            raise not_utf8(self._path, line, byte) from None
        self._encoding = LEGACY
        source.remarks.append(legacy_remark(self._path))

    def _fast(self, lines: list[str], line: int) -> Chunk | None:
        """Return the chunk, or None when a row is blank or ragged or a cell is not a plain
        number.
        """
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
        if self._comma:
            if any("." in line for line in lines):
                return None
            lines = [line.replace(",", ".") for line in lines]
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

    def _quoted(self, blocks: Iterable[bytes], line: int) -> Iterator[Chunk]:
        """Yield everything from the first quote on: quoted cells may hold delimiters and line ends.

        The compiled twin reads as much as it can, in the pieces of `_slow`.
        """
        held, more = [b""], iter(blocks)
        while self._can_read and self._newline == b"\n" and self._encoding == UTF8:
            lines, more = self._gathered(held, more)
            held = [b"".join(held)]
            if lines is None or not held[0]:
                break
            found = self._reader(None).read(held[0], min(self._most, lines + 1))
            if not isinstance(found, PlainRows) or not _is_utf8(held[0][: found.size]):
                break
            yield self._carefully(found, line, slice(0, found.rows))
            held, line = [held[0][found.size :]], line + found.rows
        yield from self._slow(self._decoded_lines(chain(held, more), line), line - 1)

    def _gathered(
        self, held: list[bytes], more: Iterator[bytes]
    ) -> tuple[int | None, Iterator[bytes]]:
        """Take blocks to those that are held until these have the rows of a piece of `_slow`.

        Return the number of lines, None where they are too long or no more can be read, and the
        blocks that follow: an error is raised after faults before it are reported.
        """
        lines, size = lines_of(held[0], self._newline), len(held[0])
        try:
            while lines < self._most and (block := next(more, b"")):
                count = lines_of(block, self._newline)
                held.append(block)
                lines, size, self._passed = lines + count, size + len(block), self._passed + count
                if size > PIECE_BYTES:
                    return None, more
        except DataError as error:
            return None, _raising(error)
        return lines, more

    def _decoded_lines(self, blocks: Iterable[bytes], line: int) -> Iterator[str]:
        newline = self._newline
        for block in blocks:
            pieces = block.split(newline)
            last = pieces.pop()
            for piece in pieces:
                yield self._decode(piece + newline, line)
                line += 1
            if last:
                yield self._decode(last, line)
            self._passed = line - 1

    def _slow(self, lines: Iterable[str], before: int) -> Iterator[Chunk]:
        """Yield rows cell by cell through csv; ``before`` lines of the file precede the first."""
        width = len(self._names)
        most = self._most
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
                    self._ragged(row, start)
                start = before + reader.line_num + 1
                if len(rows) == most:
                    yield self._convert(rows, places)
                    rows, places = [], []
        except csv.Error as error:
            problem = csv_problem(self._path, start, error)
            if self._request.faults is None:
                raise problem from None
            self._request.faults.add_sentence(str(problem))
        if rows:
            yield self._convert(rows, places)

    def _ragged(self, row: list[str], line: int) -> None:
        """Count a row of another width, or raise it."""
        width, found = len(self._names), len(row)
        values = "1 value" if found == 1 else f"{found} values"
        sep = {"\t": "tab", " ": "space"}.get(self._delimiter, f"'{self._delimiter}'")
        sentence = (
            f"{self._path}, line {line}: {values} where the first row has {width}. Correct "
            f"the line, quote values that hold the delimiter ({sep}), or set the delimiter."
        )
        if self._request.faults is None:
            raise DataError(sentence)
        first = f"{self._path}, line {line}", sentence
        self._request.faults.add("ragged", (0, ""), lambda: first, shown=values)

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
            if self._comma:
                either = [with_point(cell) for cell in either]
        return Chunk(len(rows), numbers, texts, either, places)

    def _numbers(
        self, cells: Sequence[str], column: int, places: list[int]
    ) -> npt.NDArray[np.float64]:
        try:
            joined = "".join(cells)
            if "_" not in joined and not (self._comma and "." in joined):
                points = [cell.replace(",", ".") for cell in cells] if self._comma else cells
                return np.fromiter(map(float, points), np.float64, len(cells))
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
            if "_" not in stripped and not (self._comma and "." in stripped):
                return float(with_point(stripped) if self._comma else stripped)
        except ValueError:
            pass  # the error below names the cell
        return self._no_number(stripped, column, line)

    def _no_number(self, stripped: str, column: int, line: int) -> float:
        """Count a cell that should be a number as a fault, or raise it."""
        name, faults = self._names[column], self._request.faults
        shown = stripped if len(stripped) <= 40 else stripped[:37] + "..."
        remedy = f'name the column in categorical if it holds categories: categorical = ["{name}"].'
        if column in self._request.kinds:
            remedy = "remove the row."
        sentence = (
            f"{place(self._path, line, name)}: '{shown}' is not a number. Correct it, or {remedy}"
        )
        if faults is None:
            raise DataError(sentence)
        kind = self._request.kinds.get(column) or self._kind(stripped)
        number = self._request.numbers.get(column, column) + 1
        first = f"{self._path}, line {line}", sentence
        faults.add(kind, (number, name), lambda: first, shown=stripped)
        faults.reported_lines.setdefault(number, set()).add(line)
        return float("nan")

    def _kind(self, cell: str) -> str:
        """Return the kind of fault of a cell that is not a number."""
        if self._comma and cell.count(".") == 1 and cell_kind(cell) == "number":
            return "point"
        if cell_kind(with_point(cell)) == "number":
            return "comma"
        return {"like": "like"}.get(cell_kind(cell), "text")


def _is_utf8(data: bytes) -> bool:
    """Return whether bytes can be decoded."""
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


def _raising(error: DataError) -> Iterator[bytes]:
    """Yield blocks that raise an error when they are read."""
    raise error
    yield b""


def legacy_remark(path: str) -> str:
    """Return the note about a file that is read as Windows-1252."""
    return (
        f"{path} is not UTF-8 and is read as Windows-1252, the next of kin to Latin-1. If letters "
        "come out wrong, name its encoding: encoding."
    )
