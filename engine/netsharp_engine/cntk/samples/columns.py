"""Reads columns of numbers, a sample a line, as UCIFastReader does: features, and labels that are
names or numbers.

Source: CNTK, Readers/UCIFastReader.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.faults import AllowedFaults, DataSurvey, LineFault, LineFaults
from netsharp_engine.cntk.samples.lines import opened
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.data.errors import DataError, nearest
from netsharp_engine.excerpt import excerpt

_NUMBER = re.compile(rb"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(rb"\S+")


class NumberColumns(NamedTuple):
    """Columns with the numbers of a stream: its name, the first of them, from 0, and how many."""

    name: str
    start: int
    dim: int


class LabelColumn(NamedTuple):
    """A column with names: each stands for one of ``dim`` classes, by its place in ``classes``."""

    name: str
    start: int
    dim: int
    classes: Sequence[str]


class ColumnOptions(NamedTuple):
    """The characters between columns besides blanks, and before decimals."""

    delimiter: bytes = b""
    point: bytes = b"."


#: The purpose for which a file is read.
Columns = Sequence[NumberColumns | LabelColumn]
DEFAULTS = ColumnOptions()


def read_columns(
    path: str, streams: Columns, dtype: str, options: ColumnOptions = DEFAULTS
) -> Sequences:
    """Read a whole file of columns: the samples [lines, dim] of each stream, in ``dtype``. Raises
    DataError, one sentence, where the file cannot be used. Source: CNTK, Readers/UCIFastReader.
    """
    faults = AllowedFaults(path, 0)
    reading = _Reading(streams, options, faults)
    values: list[array[float]] = [array("d") for _ in streams]
    count = 0
    for sample in reading.samples(path):
        count += 1
        for held, one in zip(values, sample, strict=True):
            held.extend(one)
    if not count:
        raise DataError(f"{path}: holds no sample that can be used.")
    found = {
        stream.name: _as_array(stream, held, dtype)
        for stream, held in zip(streams, values, strict=True)
    }
    return Sequences(found, [count], faults.finish())


def survey_columns(path: str, streams: Columns, options: ColumnOptions = DEFAULTS) -> DataSurvey:
    """Return all faults of a file of columns, which is read to its end. Raises DataError where it
    cannot be read.
    """
    survey = DataSurvey()
    for _ in _Reading(streams, options, survey).samples(path):
        pass
    return survey


def column_labels(path: str, start: int, options: ColumnOptions = DEFAULTS) -> list[str]:
    """Return the labels of a column, each once, in the order in which they occur. DataError where a
    line has no such column.
    """
    faults = AllowedFaults(path, 0)
    found: dict[str, None] = {}
    table = bytes.maketrans(options.delimiter, b" " * len(options.delimiter))
    with opened(path) as (first, rest):
        for number, line in enumerate(chain((first,), rest), 1):
            words = line.translate(table).split()
            if words and len(words) <= start:
                message = f"has {len(words):,} columns, and the label is in number {start + 1:,}"
                faults.add(LineFault(number, line, 0, 0, message, counts=False, ends=True))
            elif words:
                found[words[start].decode("utf-8", "replace")] = None
    return list(found)


class _Reading:
    """One pass over a file."""

    def __init__(self, streams: Columns, options: ColumnOptions, faults: LineFaults) -> None:
        self._streams, self._faults = streams, faults
        self._classes: dict[str, Mapping[bytes, int]] = {
            one.name: {word.encode(): place for place, word in reversed([*enumerate(one.classes)])}
            for one in streams
            if isinstance(one, LabelColumn)
        }
        self._needed = max(
            one.start + (1 if isinstance(one, LabelColumn) else one.dim) for one in streams
        )
        self._table = bytes.maketrans(options.delimiter, b" " * len(options.delimiter))
        self._point = options.point

    def samples(self, path: str) -> Iterator[list[Sequence[float]]]:
        """Yield the numbers of each line for each stream; invalid lines are left out."""
        with opened(path) as (first, rest):
            for number, line in enumerate(chain((first,), rest), 1):
                if not line.endswith(b"\n"):
                    words = "the last line does not end, and is left out"
                    place = len(line) - 1, len(line)
                    self._faults.add(LineFault(number, line, *place, words, counts=False))
                    return
                if line == b"\n":
                    continue
                sample = self._sample(number, line[:-1])
                if sample is not None:
                    yield sample

    def _sample(self, number: int, line: bytes) -> list[Sequence[float]] | None:
        words = line.translate(self._table).split()
        if len(words) < self._needed:
            message = f"has {len(words):,} columns; the reader needs {self._needed:,}"
            self._refuse(number, line, None, message)
            return None
        found: list[Sequence[float]] = []
        for stream in self._streams:
            if isinstance(stream, LabelColumn):
                found.append(self._label(number, line, words, stream))
            else:
                found.append(self._numbers(number, line, words, stream))
        return found if all(found) else None

    def _label(
        self, number: int, line: bytes, words: list[bytes], stream: LabelColumn
    ) -> Sequence[float]:
        known, word = self._classes[stream.name], words[stream.start]
        place = known.get(word)
        if place is not None:
            return (float(place),)
        names = sorted(known, key=known.__getitem__)
        hint = nearest(_shown(word), (one.decode("utf-8", "replace") for one in names))
        message = (
            f"'{_shown(word)}' is not a label of '{stream.name}' in its labelMappingFile.{hint}"
        )
        self._refuse(number, line, stream.start, message)
        return ()

    def _numbers(
        self, number: int, line: bytes, words: list[bytes], stream: NumberColumns
    ) -> Sequence[float]:
        chosen = words[stream.start : stream.start + stream.dim]
        if self._point != b".":
            chosen = [word.replace(b".", b"_").replace(self._point, b".") for word in chosen]
        if all(map(_NUMBER.fullmatch, chosen)):
            return [float(word) for word in chosen]
        for column, word in enumerate(chosen, stream.start):
            if not _NUMBER.fullmatch(word):
                self._refuse(number, line, column, f"'{_shown(words[column])}' is not a number")
        return ()

    def _refuse(self, number: int, line: bytes, column: int | None, words: str) -> None:
        span = (0, 0)
        if column is not None:
            found = _WORD.finditer(line.translate(self._table))
            span = next(islice(found, column, column + 1)).span()
        self._faults.add(LineFault(number, line, *span, words, counts=False, ends=True))


def _as_array(stream: NumberColumns | LabelColumn, held: array[float], dtype: str) -> Array:
    numbers = np.frombuffer(held)
    if isinstance(stream, NumberColumns):
        return numbers.astype(dtype).reshape(-1, stream.dim)
    found = np.zeros((len(numbers), stream.dim), dtype)
    found[np.arange(len(numbers)), numbers.astype(np.intp)] = 1
    return found


def _shown(word: bytes) -> str:
    return excerpt(word.decode("utf-8", "replace"))
