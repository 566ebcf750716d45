"""Reads CNTK's text format: streams of numbers by sequence, and every fault by file and line.

Source: CNTK, Readers/CNTKTextFormatReader/TextParser.cpp.
"""

from __future__ import annotations

import os
import re
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.faults import (
    AllowedFaults,
    DataSurvey,
    IgnoredFaults,
    LineFault,
    LineFaults,
)
from netsharp_engine.cntk.samples.lines import marked, opened_blocks
from netsharp_engine.cntk.samples.text_lines import CarefulLines, Sample, TextStream
from netsharp_engine.data.errors import DataError
from netsharp_engine.excerpt import excerpt
from netsharp_engine.limits import DATA_HELD
from netsharp_engine.packing import Indices
from netsharp_engine.plain_files import open_plain
from netsharp_engine.program import Sparse

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

_ID = re.compile(rb"[0-9]+")
#: Lines that are read with care before twins are asked again.
_CAREFULLY = 16


class TextOptions(NamedTuple):
    """The options of reading; ``chunk`` is the bytes of whole sequences that are shuffled together.

    ``frames``: every sequence is one sample; ``keys``: the names of sequences are kept.
    """

    skip_ids: bool = False
    most_errors: int = 0
    chunk: int = 32 * 2**20
    frames: bool = False
    keys: bool = False


DEFAULTS = TextOptions()


class Sequences(NamedTuple):
    """The contents of a file: ``values`` [samples, dim] by stream, sequence after sequence, and the
    chunks by their sizes in sequences.

    ``lines`` are the samples of each sequence as minibatches count them, and ``lengths`` those of
    each stream where they differ; without ``lines`` each has one. With ``again`` there are no
    values: it reads those of some sequences as they are needed. ``keys`` name sequences, where that
    was asked for.
    """

    values: Mapping[str, Array | Sparse]
    chunks: list[int]
    warnings: list[str]
    lines: Indices | None = None
    lengths: Mapping[str, Indices] = {}
    again: Callable[[Indices], Mapping[str, Array | Sparse]] | None = None
    keys: Sequence[str] = ()

    @property
    def total(self) -> int:
        """Return the number of samples."""
        return sum(self.chunks) if self.lines is None else int(self.lines.sum())

    def fingerprint(self) -> str:
        """Return a short text that differs for other samples: their number and a checksum.

        Of values that are not kept only the lengths count.
        """
        arrays: list[Any] = [
            self.chunks,
            () if self.lines is None else self.lines,
            *self.lengths.values(),
        ]
        for value in self.values.values():
            if isinstance(value, Sparse):
                arrays += value
            else:
                arrays.append(value)
        checksum = 0
        for one in arrays:
            checksum = zlib.crc32(np.ascontiguousarray(one).tobytes(), checksum)
        return f"{self.total:,} samples, checksum {checksum:08x}"

    def differing(self, first: str, second: str) -> tuple[int, int, int] | None:
        """Return the first sequence in which two streams have different lengths, and these lengths;
        None where there is none.
        """
        found = [self.lengths.get(name, self.lines) for name in (first, second)]
        if found[0] is found[1]:
            return None
        one, other = (np.asarray(each, np.intp) for each in found)
        places = np.flatnonzero(one != other)
        return (int(places[0]), int(one[places[0]]), int(other[places[0]])) if len(places) else None


def read_text(
    path: str,
    streams: Sequence[TextStream],
    dtype: str,
    options: TextOptions = DEFAULTS,
    held: int = DATA_HELD.most,
) -> Sequences:
    """Read a whole file; DataError, a sentence, where it cannot be used.

    Of one of more bytes than are ``held`` only the places of its sequences are kept.
    """
    faults = AllowedFaults(path, options.most_errors)
    is_far = _size(path) > held
    kind = _Count if is_far else _Column
    columns = {stream.name: kind(stream) for stream in streams}
    reading = _Reading(path, streams, options, columns, faults)
    with opened_blocks(path) as blocks:
        reading.read(blocks)
    if not is_far:
        return reading.found({name: column.found(dtype) for name, column in columns.items()})
    far = _FarText(path, streams, dtype, options, reading)
    return reading.found({})._replace(again=far.read)


def survey_text(
    path: str, streams: Sequence[TextStream], options: TextOptions = DEFAULTS
) -> DataSurvey:
    """Return all faults of a file, which is read to its end. DataError where it cannot be read."""
    survey = DataSurvey()
    columns = {stream.name: _Count(stream) for stream in streams}
    with opened_blocks(path) as blocks:
        _Reading(path, streams, options, columns, survey).read(blocks)
    return survey


class _FarText:
    """A file whose sequences are read again as they are needed, by where they begin and end."""

    def __init__(
        self,
        path: str,
        streams: Sequence[TextStream],
        dtype: str,
        options: TextOptions,
        reading: _Reading,
    ) -> None:
        self._path, self._streams, self._dtype, self._options = path, streams, dtype, options
        self._begins, self._ends = reading.begins, reading.ends
        with open_plain(path) as file:
            self._mark = marked(file)
            self._known = _stamp(file)

    def read(self, chosen: Indices) -> Mapping[str, Array | Sparse]:
        """Return the values of some sequences, one after the other."""
        columns = {stream.name: _Column(stream) for stream in self._streams}
        reading = _Reading(self._path, self._streams, self._options, columns, IgnoredFaults())
        try:
            with open_plain(self._path) as file:
                if _stamp(file) != self._known:
                    raise DataError(f"{self._path}: has changed while it was read. Begin again.")
                for one in chosen.tolist():
                    file.seek(self._begins[one] + self._mark)
                    reading.read_one(file.read(self._ends[one] - self._begins[one]))
        except OSError as error:
            raise DataError(f"{self._path}: cannot be read: {error.strerror}.") from None
        return {name: column.found(self._dtype) for name, column in columns.items()}


def _size(path: str) -> int:
    """Return the bytes of a file; 0 where it does not exist."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _stamp(file: BinaryIO) -> tuple[int, int]:
    """Return values that change where a file is written."""
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns


class _Count:
    """The number of samples of a stream, in each sequence."""

    def __init__(self, stream: TextStream) -> None:
        self.stream = stream
        self.samples = self._ended = 0
        self.lengths = array("q")

    def add(self, _: Sample) -> None:
        """Take a sample."""
        self.samples += 1

    def take(self, _values: bytes, _places: bytes | None) -> None:
        """Take a sample as the twin reads it."""
        self.samples += 1

    def take_sequences(self, plain: tuple[bytes, bytes, bytes, bytes]) -> None:
        """Take whole sequences as the twin reads them: values, places, numbers of each sample, and
        samples of each sequence.
        """
        self.samples += len(plain[2]) // 8
        self._ended = self.samples
        self.lengths.frombytes(plain[3])

    def end(self) -> int:
        """End a sequence; its samples."""
        count = self.samples - self._ended
        self._ended = self.samples
        self.lengths.append(count)
        return count

    def found(self, dtype: str) -> Array | Sparse:
        """Return no values, [0, dim]."""
        return np.zeros((0, self.stream.dim), dtype)


class _Column(_Count):
    """The samples of a stream so far: numbers, and where sequences end."""

    def __init__(self, stream: TextStream) -> None:
        super().__init__(stream)
        self.values = array("d")
        self.places = array("q")
        self.starts = array("q", [0])

    def add(self, sample: Sample) -> None:
        """Take a sample."""
        values, places = sample
        self.values.extend(values)
        self.samples += 1
        if self.stream.sparse:
            self.places.extend(places)
            self.starts.append(len(self.values))

    def take(self, values: bytes, places: bytes | None) -> None:
        """Take a sample as the twin reads it: doubles, and places in 64 bits."""
        self.values.frombytes(values)
        self.samples += 1
        if places is not None:
            self.places.frombytes(places)
            self.starts.append(len(self.values))

    def take_sequences(self, plain: tuple[bytes, bytes, bytes, bytes]) -> None:
        """Take whole sequences as the twin reads them."""
        super().take_sequences(plain)
        values, places, numbers, _ = plain
        if self.stream.sparse:
            ends = np.cumsum(np.frombuffer(numbers, np.int64)) + len(self.values)
            self.starts.frombytes(ends.tobytes())
            self.places.frombytes(places)
        self.values.frombytes(values)

    def found(self, dtype: str) -> Array | Sparse:
        """Return all values."""
        values = np.frombuffer(self.values).astype(dtype) if self.values else np.zeros(0, dtype)
        if not self.stream.sparse:
            return values.reshape(-1, self.stream.dim)
        return Sparse(values, np.array(self.places, np.intp), np.array(self.starts, np.intp))


class _Reading:
    """One pass over a file."""

    def __init__(
        self,
        path: str,
        streams: Sequence[TextStream],
        options: TextOptions,
        columns: Mapping[str, _Count],
        faults: LineFaults,
    ) -> None:
        self._path, self._options = path, options
        self._columns = columns
        self._faults, self._careful = faults, CarefulLines(streams, faults)
        #: For the twins: aliases, dims with whether they are sparse, and columns.
        named = {stream.alias.encode(): stream for stream in streams}
        self._aliases = tuple(named)
        kinds = [(one.dim, one.sparse) for one in named.values()]
        self._kinds = np.array(kinds, np.int64).reshape(-1)
        self._ordered = [columns[one.name] for one in named.values()]
        #: Whether whole sequences may be read by the twin.
        self._whole = bool(twins) and len(named) == len(columns) and not options.keys
        self._has_ids = False
        #: The lines so far, and what named the last of those that were read with care.
        self._number, self._last = 0, b""
        self._chunks, self._filled = [0], 0
        #: Of the sequence that is being read: the number and text of its line, samples and bytes.
        self._begun, self._first, self._open, self._bytes = 0, b"", 0, 0
        self._lines = array("q")
        #: Where sequences begin and end, in bytes after the file's byte order mark.
        self.begins, self.ends = array("q"), array("q")
        self._keys: list[str] = []
        self._key = b""
        self._start = self._at = 0

    def read(self, blocks: Iterable[bytes]) -> None:
        """Read all sequences, in the order of the file, from its lines, some at a time."""
        rest = b""
        for number, block in enumerate(blocks):
            if not number:
                self._has_ids = not (self._options.skip_ids or block.startswith(b"|"))
            data = rest + block
            rest = data[self._read_some(data) :]
        self._whole = False
        self._with_care(rest, 0)
        self._close()

    def _read_some(self, data: bytes) -> int:
        """Read the sequences of some lines; return where one begins that may continue after
        them.
        """
        at = 0
        while at < len(data):
            if self._whole and not self._begun:
                read, is_wrong = self._plain(data, at)
                at += read
                if at and not is_wrong:
                    return at
            at = self._with_care(data, at)
        return at

    def _plain(self, data: bytes, start: int) -> tuple[int, bool]:
        """Read sequences by the compiled twin: return their bytes, and whether what follows needs
        the careful reading.
        """
        most = 1 if self._options.frames else len(data)
        parsed = twins.read_sequences(data, start, self._has_ids, most, self._aliases, self._kinds)
        read, is_wrong, lines, sizes = parsed[:4]
        if lines:
            for number, column in enumerate(self._ordered, 1):
                column.take_sequences(parsed[4 * number : 4 * number + 4])
            ends = np.cumsum(np.frombuffer(sizes, np.int64))
            self._fill_chunks(ends)
            self.ends.frombytes((self._at + ends).tobytes())
            self.begins.append(self._at)
            self.begins.frombytes((self._at + ends[:-1]).tobytes())
            self._lines.frombytes(lines)
            self._number += int(np.frombuffer(lines, np.int64).sum())
            self._at += read
        return read, is_wrong

    def _fill_chunks(self, ends: Array) -> None:
        """Put sequences, given the bytes after which they end, into chunks."""
        first = done = 0
        while first < len(ends):
            room = self._options.chunk - self._filled + done
            stop = int(np.searchsorted(ends, room, "right"))
            if stop <= first and self._filled:
                self._chunks.append(0)
                self._filled = 0
                continue
            stop = max(stop, first + 1)
            self._chunks[-1] += stop - first
            self._filled += int(ends[stop - 1]) - done
            first, done = stop, int(ends[stop - 1])

    def _with_care(self, data: bytes, at: int) -> int:
        """Read line by line, a few of them and up to where a sequence begins; return that place."""
        first = self._number
        while at < len(data):
            stop = data.find(b"\n", at)
            if stop < 0:
                self._careful.not_ended(self._number + 1, data[at:])
                return len(data)
            line = data[at:stop]
            identity = _ID.match(line)
            name = self._last if identity is None else identity[0]
            goes_on = self._has_ids and name == self._last and self._begun > 0
            if self._whole and not goes_on and self._number - first >= _CAREFULLY:
                self._close()
                return at
            self._number += 1
            if goes_on and self._options.frames:
                self._refuse(
                    self._number,
                    line,
                    "the line continues the sequence of the one before, and frameMode=true "
                    "takes one line of each. Set frameMode=false",
                )
            if not goes_on:
                self._close()
                self._begun, self._first, self._start = self._number, line, self._at
                self._key = name if self._has_ids else b""
            self._last = name
            self._at += len(line) + 1
            self._take(self._number, line, identity.end() if identity else 0)
            at = stop + 1
        return at

    def read_one(self, sequence: bytes) -> None:
        """Read one sequence, which was read before."""
        for line in sequence.split(b"\n")[:-1]:
            identity = _ID.match(line)
            self._take(0, line, identity.end() if identity else 0)
        self._close()

    def _take(self, number: int, line: bytes, start: int) -> None:
        """Read a line of the current sequence, without the sequence's name."""
        plain = twins and twins.read_columns(line, start, self._aliases, self._kinds)
        if plain:
            self._open += 1
            self._bytes += len(line) + 1
            for column, values, places in zip(self._ordered, plain[::2], plain[1::2], strict=True):
                if values is not None:
                    column.take(values, places)
            return
        sample = self._careful.samples(number, line, start)
        if sample is None:
            return
        self._open += 1
        self._bytes += len(line) + 1
        for name, one in sample.items():
            self._columns[name].add(one)

    def found(self, values: Mapping[str, Array | Sparse]) -> Sequences:
        """Return the sequences with the values of all streams. Raises DataError for a file without
        samples.
        """
        warnings = self._faults.finish()
        if not self._lines:
            raise DataError(f"{self._path}: holds no sample that can be used.")
        lines = np.array(self._lines, np.intp)
        if (lines == 1).all():
            return Sequences(values, self._chunks, warnings, keys=self._keys)
        lengths = {
            name: np.array(column.lengths, np.intp) for name, column in self._columns.items()
        }
        others = {name: one for name, one in lengths.items() if not np.array_equal(one, lines)}
        return Sequences(values, self._chunks, warnings, lines, others, keys=self._keys)

    def _close(self) -> None:
        """End the sequence that is being read, if there is one."""
        if self._open:
            longest = 0
            for column in self._columns.values():
                count = column.end()
                longest = max(longest, count)
                if not count:
                    self._refuse(
                        self._begun,
                        self._first,
                        f"the sequence has no sample of '{excerpt(column.stream.alias)}'; "
                        "each sequence needs one of every input",
                    )
            if longest < self._open:
                words = (
                    f"the sequence has {self._open:,} lines, and no stream more than {longest:,} "
                    "samples"
                )
                fate = "the sequence is taken as it is"
                self._faults.add(LineFault(self._begun, self._first, 0, 0, words, fate=fate))
            if self._filled and self._filled + self._bytes > self._options.chunk:
                self._chunks.append(0)
                self._filled = 0
            self._filled += self._bytes
            self._chunks[-1] += 1
            self._lines.append(self._open)
            self.begins.append(self._start)
            self.ends.append(self._at)
            if self._options.keys:
                key = self._key.lstrip(b"0") or b"0" if self._key else b"%d" % len(self._keys)
                self._keys.append(key.decode())
        self._begun = self._open = self._bytes = 0

    def _refuse(self, number: int, line: bytes, words: str) -> None:
        """Add an error that is never allowed."""
        self._faults.add(LineFault(number, line, 0, 0, words, counts=False, ends=True))
