"""Reads CNTK's text format: streams of numbers by sequence, and every fault by file and line."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import BinaryIO, NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.faults import (
    AllowedFaults,
    DataSurvey,
    LineFault,
    LineFaults,
    Unheard,
)
from netsharp_engine.cntk.samples.lines import marked, opened
from netsharp_engine.data.errors import DataError, nearest
from netsharp_engine.excerpt import excerpt
from netsharp_engine.limits import DATA_HELD
from netsharp_engine.packing import Indices
from netsharp_engine.plain_files import open_plain
from netsharp_engine.program import Sparse

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

_BETWEEN = bytes(range(10)) + bytes(range(11, 33))
_NUMBERS = re.compile(rb"(?:[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?(?:[ \t]+|\Z))*")
_ENTRIES = re.compile(rb"(?:[0-9]+:[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?(?:[ \t]+|\Z))*")
_ID = re.compile(rb"[0-9]+")
_WORD = re.compile(rb"\S+")
#: A sample: its numbers, and of a sparse one their indices.
_Sample = tuple[Sequence[float], Sequence[int]]


class TextStream(NamedTuple):
    """A column: what the network calls it, what the file does, numbers of a sample.

    Of a ``sparse`` one a sample names those that are not 0, each by its index.
    """

    name: str
    alias: str
    dim: int
    sparse: bool = False


class TextOptions(NamedTuple):
    """How a file is read; ``chunk`` is the bytes of whole sequences that are shuffled together.

    ``frames``: every sequence is one sample; ``keys``: what names sequences is kept.
    """

    skip_ids: bool = False
    most_errors: int = 0
    chunk: int = 32 * 2**20
    frames: bool = False
    keys: bool = False


DEFAULTS = TextOptions()


class Sequences(NamedTuple):
    """What a file holds: ``values`` [samples, dim] by stream, sequence after sequence, and the
    chunks by their sizes in sequences.

    ``lines`` are the samples of each sequence as minibatches count them, and ``lengths`` those of
    each stream where they are others; without ``lines`` each has one.  With ``again`` there are no
    values: it reads those of some sequences as they are needed.  ``keys`` name sequences, where
    that was asked for.
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
        """How many samples there are."""
        return sum(self.chunks) if self.lines is None else int(self.lines.sum())

    def differing(self, first: str, second: str) -> tuple[int, int, int] | None:
        """The first sequence in which two streams have other lengths, and these lengths."""
        found = [self.lengths.get(name, self.lines) for name in (first, second)]
        if found[0] is found[1]:
            return None
        one, other = (np.asarray(each, np.intp) for each in found)
        places = np.flatnonzero(one != other)
        return (int(places[0]), int(one[places[0]]), int(other[places[0]])) if len(places) else None


class _Fault(Exception):  # noqa: N818
    """What is wrong with a column, in words behind its place: bytes of the line."""

    def __init__(self, words: str, start: int, end: int) -> None:
        super().__init__(words)
        self.words, self.start, self.end = words, start, end


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
    with opened(path) as (first, rest):
        reading.read(first, rest)
    if not is_far:
        return reading.found({name: column.found(dtype) for name, column in columns.items()})
    far = _FarText(path, streams, dtype, options, reading)
    return reading.found({})._replace(again=far.read)


def survey_text(
    path: str, streams: Sequence[TextStream], options: TextOptions = DEFAULTS
) -> DataSurvey:
    """Everything that is wrong with a file, which is read to its end; DataError where none is."""
    survey = DataSurvey()
    columns = {stream.name: _Count(stream) for stream in streams}
    with opened(path) as (first, rest):
        _Reading(path, streams, options, columns, survey).read(first, rest)
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
        """The values of some sequences, one after the other."""
        columns = {stream.name: _Column(stream) for stream in self._streams}
        reading = _Reading(self._path, self._streams, self._options, columns, Unheard())
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
    """The bytes of a file; 0 for one that is not there."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _stamp(file: BinaryIO) -> tuple[int, int]:
    """What is another where a file has been written."""
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns


class _Count:
    """How many samples of a stream there are, in each sequence."""

    def __init__(self, stream: TextStream) -> None:
        self.stream = stream
        self.samples = self._ended = 0
        self.lengths = array("q")

    def add(self, _: _Sample) -> None:
        """Take a sample."""
        self.samples += 1

    def take(self, _values: bytes, _places: bytes | None) -> None:
        """Take a sample as the twin reads it."""
        self.samples += 1

    def end(self) -> int:
        """End a sequence; its samples."""
        count = self.samples - self._ended
        self._ended = self.samples
        self.lengths.append(count)
        return count

    def found(self, dtype: str) -> Array | Sparse:
        """Nothing of it."""
        return np.zeros((0, self.stream.dim), dtype)


class _Column(_Count):
    """The samples of a stream so far: numbers, and where sequences end."""

    def __init__(self, stream: TextStream) -> None:
        super().__init__(stream)
        self.values = array("d")
        self.places = array("q")
        self.starts = array("q", [0])

    def add(self, sample: _Sample) -> None:
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

    def found(self, dtype: str) -> Array | Sparse:
        """All of it."""
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
        self._streams = {stream.alias.encode(): stream for stream in streams}
        self._columns = columns
        self._faults = faults
        #: The same for the twin: aliases, dims with whether they are sparse, and columns.
        self._aliases = tuple(self._streams)
        told = [(one.dim, one.sparse) for one in self._streams.values()]
        self._kinds = np.array(told, np.int64).reshape(-1)
        self._ordered = [columns[one.name] for one in self._streams.values()]
        self._chunks, self._filled = [0], 0
        #: Of the sequence that is being read: its line and what stands there, samples and bytes.
        self._begun, self._first, self._open, self._bytes = 0, b"", 0, 0
        self._lines = array("q")
        #: Where sequences begin and end, behind the mark of the file.
        self.begins, self.ends = array("q"), array("q")
        self._keys: list[str] = []
        self._key = b""
        self._start = self._at = 0

    def read(self, first: bytes, rest: Iterable[bytes]) -> None:
        """All sequences, in the order of the file, from its first line and the others."""
        has_ids = not (self._options.skip_ids or first.startswith(b"|"))
        last = b""
        for number, line in self._ended(chain((first,), rest)):
            identity = _ID.match(line)
            if has_ids:
                same = identity is None or identity[0] == last
                last = identity[0] if identity is not None else last
                if same and self._begun and self._options.frames:
                    self._refuse(
                        number,
                        line,
                        "the line continues the sequence of the one before, and frameMode=true "
                        "takes one line of each. Set frameMode=false",
                    )
            if not (has_ids and same and self._begun):
                self._close()
                self._begun, self._first, self._start = number, line, self._at
                self._key = last if has_ids else b""
            self._at += len(line) + 1
            self._take(number, line, identity.end() if identity else 0)
        self._close()

    def read_one(self, sequence: bytes) -> None:
        """One sequence, which was read before."""
        for line in sequence.split(b"\n")[:-1]:
            identity = _ID.match(line)
            self._take(0, line, identity.end() if identity else 0)
        self._close()

    def _take(self, number: int, line: bytes, start: int) -> None:
        """A line of the sequence that is being read, without what names the sequence."""
        plain = twins and twins.read_columns(line, start, self._aliases, self._kinds)
        if plain:
            self._open += 1
            self._bytes += len(line) + 1
            for column, values, places in zip(self._ordered, plain[::2], plain[1::2], strict=True):
                if values is not None:
                    column.take(values, places)
            return
        sample = self._sample(number, line, start)
        if sample is None:
            return
        self._open += 1
        self._bytes += len(line) + 1
        for name, one in sample.items():
            self._columns[name].add(one)

    def found(self, values: Mapping[str, Array | Sparse]) -> Sequences:
        """What was read, with the values of all streams."""
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
                        f"the sequence has no sample of '{excerpt(column.stream.alias)}', and "
                        "every one needs one of each input",
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

    def _ended(self, lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Lines by their numbers from 1; one that does not end is an error and lost."""
        for number, line in enumerate(lines, 1):
            if line.endswith(b"\n"):
                yield number, line[:-1]
            else:
                words = "the last line does not end, and is left out"
                self._lose(number, line, _Fault(words, len(line) - 1, len(line)))

    def _sample(self, number: int, line: bytes, start: int) -> dict[str, _Sample] | None:
        """The samples of a line by stream; None where they are lost."""
        found: dict[str, _Sample] = {}
        head, *columns = line.split(b"|")
        before = head[start:]
        if before.strip(_BETWEEN):
            words = f"'{_shown(before)}' stands before the first '|'"
            self._lose(number, line, _Fault(words, *_bounds(before, start)))
        lost = False
        at = len(head) + 1
        for column in columns:
            if not column.startswith(b"#"):
                try:
                    self._column(number, line, (at, column), found)
                except _Fault as fault:
                    self._lose(number, line, fault)
                    lost = True
            at += len(column) + 1
        if lost:
            return None
        if not found:
            self._lose(number, line, _Fault("the line holds no column that is read", 0, 0))
            return None
        return found

    def _column(
        self, number: int, line: bytes, placed: tuple[int, bytes], found: dict[str, _Sample]
    ) -> None:
        at, column = placed
        alias, _, rest = column.rstrip(_BETWEEN).replace(b"\t", b" ").partition(b" ")
        stream = self._streams.get(alias)
        named = (at, at + len(alias))
        if stream is None:
            if alias:
                known = (one.decode() for one in self._streams)
                hint = nearest(_shown(alias), known)
                words = f"'{_shown(alias)}' is no input of the reader, and passed over.{hint}"
                self._faults.add(LineFault(number, line, *named, words, counts=False))
                return
            raise _Fault("a column has no name", at - 1, at)
        if stream.name in found:
            raise _Fault(f"the line has more than one sample of '{_shown(alias)}'", *named)
        at += len(alias) + 1
        if stream.sparse:
            found[stream.name] = self._entries(stream, _shown(alias), rest, at)
            return
        values = self._numbers(stream, _shown(alias), rest, at)
        if len(values) < stream.dim:
            short = f"a sample of '{_shown(alias)}' has {len(values)} numbers of {stream.dim}"
            words = f"{short}; the others count as 0"
            self._faults.add(LineFault(number, line, *named, words, counts=False))
            values += [0.0] * (stream.dim - len(values))
        found[stream.name] = values, ()

    def _numbers(self, stream: TextStream, alias: str, rest: bytes, at: int) -> list[float]:
        stripped = rest.strip(_BETWEEN)
        if not _NUMBERS.fullmatch(stripped):
            wrong, *place = _wrong(rest, at, _NUMBERS)
            raise _Fault(f"'{_shown(wrong)}' in column '{alias}' is no number", *place)
        values = [float(value) for value in stripped.split()]
        if len(values) > stream.dim:
            many = f"a sample of '{alias}' has {len(values)} numbers"
            _, *place = _nth(rest, at, stream.dim)
            raise _Fault(f"{many}, and its dim is {stream.dim}", *place)
        return values

    def _entries(self, stream: TextStream, alias: str, rest: bytes, at: int) -> _Sample:
        stripped = rest.strip(_BETWEEN)
        if not _ENTRIES.fullmatch(stripped):
            wrong, *bounds = _wrong(rest, at, _ENTRIES)
            words = f"'{_shown(wrong)}' in column '{alias}' is no index with a number, as in 7:1"
            raise _Fault(words, *bounds)
        pairs = [one.split(b":") for one in stripped.split()]
        for number, (place, _) in enumerate(pairs):
            # A longer text of digits is more than any dim.
            if len(place) > 18 or int(place) >= stream.dim:
                beyond = f"the index {_shown(place)} in column '{alias}'"
                _, *bounds = _nth(rest, at, number)
                raise _Fault(f"{beyond} is not below its dim, {stream.dim}", *bounds)
        return [float(value) for _, value in pairs], [int(place) for place, _ in pairs]

    def _refuse(self, number: int, line: bytes, words: str) -> None:
        """An error that is never allowed."""
        self._faults.add(LineFault(number, line, 0, 0, words, counts=False, ends=True))

    def _lose(self, number: int, line: bytes, fault: _Fault) -> None:
        """One error more."""
        fate = "the line is left out"
        place = fault.start, fault.end
        self._faults.add(LineFault(number, line, *place, fault.words, fate=fate))


def _shown(data: bytes) -> str:
    return excerpt(data.strip(_BETWEEN).decode("utf-8", "replace"))


def _bounds(data: bytes, at: int) -> tuple[int, int]:
    """Where what stands in blanks stands."""
    start = at + len(data) - len(data.lstrip(_BETWEEN))
    return start, start + len(data.strip(_BETWEEN))


def _wrong(values: bytes, at: int, form: re.Pattern[bytes]) -> tuple[bytes, int, int]:
    """The first of some words that is not as all have to be, and its bytes."""
    for word in _WORD.finditer(values):
        if not form.fullmatch(word[0]):
            return word[0], at + word.start(), at + word.end()
    return values, *_bounds(values, at)


def _nth(values: bytes, at: int, number: int) -> tuple[bytes, int, int]:
    """One of some words, and its bytes."""
    word = next(islice(_WORD.finditer(values), number, number + 1))
    return word[0], at + word.start(), at + word.end()
