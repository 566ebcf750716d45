"""Samples for the inputs of a network without a configuration of its data: from text format,
archives of arrays, tables and arrays. All become sequences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.text_format import (
    Sequences,
    TextOptions,
    read_text,
)
from netsharp_engine.cntk.samples.text_lines import TextStream
from netsharp_engine.data.encoding import Encoding, Feature
from netsharp_engine.data.errors import DataError, nearest
from netsharp_engine.data.reading.arrays import load_npz
from netsharp_engine.data.reading.files import file_kind
from netsharp_engine.data.reading.options import ReadOptions
from netsharp_engine.data.reading.sources import open_source
from netsharp_engine.data.stream import RowQuery, stream_rows
from netsharp_engine.excerpt import excerpt
from netsharp_engine.packing import Indices
from netsharp_engine.plain_files import open_plain
from netsharp_engine.program import Sparse

#: Names of the column of sequences in a table, and of the array of their lengths in an archive.
SEQUENCE, LENGTHS = "sequence", "lengths"
_BEGINS = re.compile(rb"[ \t\r\n]*(?:[0-9]+[ \t]*)?\|[^ \t]")
_STREAM = re.compile(rb"\|([^\s|#]+)[ \t]")
_HEAD = 1 << 20


class InputStream(NamedTuple):
    """An input: its name, the row-major shape of a sample, and whether the network takes few
    numbers of each; ``alias`` is what a file calls it.
    """

    name: str
    shape: tuple[int, ...]
    sparse: bool = False
    alias: str = ""

    @property
    def size(self) -> int:
        """Return the number of elements of a sample."""
        return int(np.prod(self.shape, dtype=np.int64))


class Wants(NamedTuple):
    """The inputs to read; ``over_time``: one array is a sequence of samples."""

    inputs: Sequence[InputStream]
    dtype: str
    over_time: bool

    def renamed(self, found: Sequences) -> Sequences:
        """Return samples by the names of inputs that are read by their aliases; sparse ones are a
        matrix where the network takes dense ones.
        """
        names = {one.alias or one.name: one.name for one in self.inputs}

        def named(values: Mapping[str, Array | Sparse]) -> dict[str, Array | Sparse]:
            return _as_taken({names[key]: one for key, one in values.items() if key in names}, self)

        if found.again is not None:
            read = found.again
            return found._replace(again=lambda chosen: named(read(chosen)))
        return found._replace(values=named(found.values))


#: Reads the samples of a file for some inputs, by the names of these.
SampleReading = Callable[[str, Wants], Sequences]


def is_text_format(path: str) -> bool:
    """Return whether a file begins as CNTK's text format does."""
    try:
        with open_plain(path) as stream:
            return _BEGINS.match(stream.read(256).removeprefix(b"\xef\xbb\xbf")) is not None
    except OSError:
        return False


def is_archive_of(path: str, given: Wants) -> bool:
    """Return whether a file is an archive with an array named after an input. Raises DataError
    where the archive is damaged or holds other objects than arrays.
    """
    if is_text_format(path) or file_kind(path) != "npz":
        return False
    return not {one.alias or one.name for one in given.inputs}.isdisjoint(load_npz(path))


def samples_in(path: str, given: Wants, options: ReadOptions) -> Sequences:
    """Return the samples of a file, by the names of inputs. DataError where it cannot be used."""
    if is_text_format(path):
        return _of_text(path, given)
    if is_archive_of(path, given):
        return _of_archive(path, given)
    return _of_table(path, given, options)


def samples_of(arrays: Mapping[str, Any], given: Wants) -> Sequences:
    """Return the samples of arrays, or of lists of sequences, by the names of inputs.

    An array is [rows, ...] of a network without sequences; of one with sequences it is a sequence
    [steps, ...], or [sequences, steps, ...] of equal lengths. Whole numbers instead of samples are
    indices of the element that is 1. DataError, one sentence, for other arrays.
    """
    _require(arrays, given, "")
    columns = {one.name: _column(arrays[one.name], one, given) for one in given.inputs}
    return _together(columns, given, "")


def _of_text(path: str, given: Wants) -> Sequences:
    with open_plain(path) as stream:
        head = stream.read(_HEAD)
    known = dict.fromkeys(one.decode("utf-8", "replace") for one in _STREAM.findall(head))
    for one in given.inputs:
        alias = one.alias or one.name
        if alias not in known:
            raise DataError(
                f"{path} has no stream '{excerpt(alias)}' in its first lines."
                f"{nearest(alias, known)} Name the "
                f"stream of an input: --stream {one.name}=STREAM."
            )
    streams = [
        TextStream(one.name, one.alias or one.name, one.size, _is_sparse(head, one))
        for one in given.inputs
    ]
    found = read_text(path, streams, given.dtype, TextOptions(keys=True))
    if found.again is not None:
        read = found.again
        return found._replace(again=lambda chosen: _as_taken(read(chosen), given))
    return found._replace(values=_as_taken(found.values, given))


def _is_sparse(head: bytes, one: InputStream) -> bool:
    """Return whether the first values of a stream in a file are sparse."""
    found = re.search(
        rb"\|" + re.escape((one.alias or one.name).encode()) + rb"[ \t]([^|\n]*)", head
    )
    return found is not None and b":" in found[1]


def _as_taken(values: Mapping[str, Array | Sparse], given: Wants) -> dict[str, Array | Sparse]:
    """Return samples with sparse ones as matrices where the network takes dense ones."""
    return {
        one.name: values[one.name] if one.sparse else dense(values[one.name], one.size)
        for one in given.inputs
    }


def dense(values: Array | Sparse, size: int) -> Array:
    """Return rows as a matrix [rows, size]."""
    if not isinstance(values, Sparse):
        return np.asarray(values).reshape(-1, size)
    starts = np.asarray(values.starts, np.intp)
    counts = starts[1:] - starts[:-1]
    found = np.zeros((len(counts), size), values.values.dtype)
    found[np.repeat(np.arange(len(counts)), counts), values.columns] = values.values
    return found


class _Samples(NamedTuple):
    """Samples of one input, sequence after sequence; without lengths each is one."""

    values: Array | Sparse
    lengths: Indices | None

    @property
    def sequences(self) -> int:
        """Return the number of sequences."""
        if self.lengths is not None:
            return len(self.lengths)
        return _count(self.values)


def _of_archive(path: str, given: Wants) -> Sequences:
    arrays = load_npz(path)
    _require(arrays, given, f"{path}: ")
    lengths = arrays.get(LENGTHS)
    if lengths is not None and not any(one.name == LENGTHS for one in given.inputs):
        lengths = _lengths(lengths, path)
    else:
        lengths = None
    columns = {}
    for one in given.inputs:
        array = arrays[one.alias or one.name]
        if lengths is None:
            columns[one.name] = _column(array, one, given, f"{path}: ")
            continue
        rows = _rows(array, one, given, f"{path}: ")
        found = _Samples(rows, lengths)
        if _count(rows) == len(lengths) and _count(rows) != lengths.sum():
            found = _Samples(rows, np.ones(len(lengths), np.intp))
        elif _count(rows) != lengths.sum():
            raise DataError(
                f"{path}: '{one.alias or one.name}' has {_count(rows):,} samples, and the lengths "
                f"of the {len(lengths):,} sequences come to {int(lengths.sum()):,}."
            )
        columns[one.name] = found
    return _together(columns, given, f"{path}: ")


def _lengths(array: Array, path: str) -> Indices:
    whole = array.ndim == 1 and np.issubdtype(array.dtype, np.integer) and len(array)
    if not whole or array.min() < 1:
        raise DataError(
            f"{path}: '{LENGTHS}' has to be one whole number of 1 or more for each sequence."
        )
    return array.astype(np.intp)


def _require(arrays: Mapping[str, Any], given: Wants, where: str) -> None:
    for one in given.inputs:
        if (one.alias or one.name) not in arrays:
            raise DataError(
                f"{where}there is no array of the input '{excerpt(one.name)}'."
                f"{nearest(one.name, arrays)}"
            )


def _column(given_as: Any, one: InputStream, given: Wants, where: str = "") -> _Samples:
    """Return the samples of an array, or of a list of sequences."""
    if isinstance(given_as, list | tuple) and given_as and given.over_time and _deep(given_as[0]):
        parts = [_rows(np.asarray(each), one, given, where) for each in given_as]
        lengths = np.array([_count(part) for part in parts], np.intp)
        if lengths.min() < 1:
            raise DataError(f"{where}'{one.name}' has a sequence without samples.")
        return _Samples(_joined(parts), lengths)
    array = np.asarray(given_as)
    if not given.over_time:
        return _Samples(_rows(array, one, given, where), None)
    is_index = _is_index(array, one)
    whole = array.ndim == len(one.shape) + 2 or (array.ndim == 3 and array.shape[2] == one.size)
    if (is_index and array.ndim == 2) or (not is_index and whole):
        count, steps = array.shape[:2]
        rows = _rows(array.reshape(count * steps, *array.shape[2:]), one, given, where)
        return _Samples(rows, np.full(count, steps, np.intp))
    rows = _rows(array, one, given, where)
    return _Samples(rows, np.array([_count(rows)], np.intp))


def _deep(value: Any) -> bool:
    return np.ndim(value) > 0


def _is_index(array: Array, one: InputStream) -> bool:
    """Return whether whole numbers are given instead of samples: the last dimension is not a
    sample's.
    """
    if one.size == 1 or not np.issubdtype(array.dtype, np.integer):
        return False
    return array.ndim == 1 or (array.ndim == 2 and array.shape[1] != one.size)


def _rows(array: Array, one: InputStream, given: Wants, where: str) -> Array | Sparse:
    """Return samples [rows, ...] as the network takes them."""
    if _is_index(array, one) and array.ndim == 1:
        if array.size and not 0 <= array.min() <= array.max() < one.size:
            raise DataError(
                f"{where}'{one.name}' has the index {int(array.max())}; from 0 to {one.size - 1} "
                "there are."
            )
        ones = np.ones(len(array), given.dtype)
        found = Sparse(ones, array.astype(np.intp), np.arange(len(array) + 1))
        return found if one.sparse else dense(found, one.size)
    fits = array.ndim and array.size == len(array) * one.size
    if not fits or not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
        raise DataError(
            f"{where}'{one.name}' has the shape {list(array.shape)} of {array.dtype}; samples of "
            f"{list(one.shape)} numbers are needed, one after the other."
        )
    rows = np.ascontiguousarray(array, given.dtype).reshape(len(array), one.size)
    if not np.isfinite(rows).all():
        raise DataError(f"{where}'{one.name}' has a number that is not finite.")
    if not one.sparse:
        return rows
    places = rows != 0
    starts = np.r_[0, np.cumsum(places.sum(1))]
    return Sparse(rows[places], np.nonzero(places)[1], starts)


def _count(rows: Array | Sparse) -> int:
    return len(rows.starts) - 1 if isinstance(rows, Sparse) else len(rows)


def _joined(parts: Sequence[Array | Sparse]) -> Array | Sparse:
    """Return samples concatenated."""
    if not isinstance(parts[0], Sparse):
        return np.concatenate([np.asarray(part) for part in parts])
    sparse = [part for part in parts if isinstance(part, Sparse)]
    counts = np.concatenate([np.diff(np.asarray(part.starts)) for part in sparse])
    values = np.concatenate([part.values for part in sparse])
    return Sparse(values, np.concatenate([p.columns for p in sparse]), np.r_[0, np.cumsum(counts)])


def _together(columns: Mapping[str, _Samples], given: Wants, where: str) -> Sequences:
    """Return inputs side by side. DataError where they have different numbers of sequences."""
    counts = {name: one.sequences for name, one in columns.items()}
    first, *rest = counts
    for name in rest:
        if counts[name] != counts[first]:
            raise DataError(
                f"{where}'{first}' has {counts[first]:,} sequences and '{name}' {counts[name]:,}; "
                "each belongs to one of the other."
            )
    if not counts[first]:
        raise DataError(f"{where}'{first}' has no samples.")
    values = {name: one.values for name, one in columns.items()}
    chunks = [counts[first]]
    lengths = {name: one.lengths for name, one in columns.items() if one.lengths is not None}
    if not lengths:
        return Sequences(values, chunks, [])
    lines = np.max(list(lengths.values()), axis=0)
    others = {name: one for name, one in lengths.items() if not np.array_equal(one, lines)}
    return Sequences(values, chunks, [], lines, others)


def _of_table(path: str, given: Wants, options: ReadOptions) -> Sequences:
    """Return the rows of a table whose columns are the inputs' numbers in their order. A column
    called `sequence` says which rows follow each other; without it all rows of a network over time
    do.
    """
    source = open_source(path, options)
    names = source.names
    keeps = [SEQUENCE] if source.named and SEQUENCE in names else []
    places = [place for place, name in enumerate(names) if name not in keeps]
    width = sum(one.size for one in given.inputs)
    if len(places) != width:
        takes = " and ".join(f"'{one.name}' {one.size:,}" for one in given.inputs)
        raise DataError(
            f"{path} has {len(places):,} columns of numbers, and the network takes {width:,}: "
            f"{takes}. Give that many, or CNTK's text format."
        )
    features = tuple(Feature(names[place], place) for place in places)
    encoding = Encoding(features, unknown=False, named=source.named, width=len(names))
    parts: list[Array] = []
    keys: list[str] = []
    for rows in stream_rows(RowQuery(path, options, keeps), encoding):
        parts.append(np.asarray(rows.features))
        keys += rows.kept[0] if keeps else ()
    matrix = np.concatenate(parts)
    columns = dict(_cut(matrix, given.inputs))
    if not keeps and not given.over_time:
        return _together({name: _Samples(one, None) for name, one in columns.items()}, given, "")
    starts = [at for at, key in enumerate(keys) if not at or key != keys[at - 1]] or [0]
    lengths = np.diff([*starts, len(matrix)]).astype(np.intp)
    found = _together({name: _Samples(one, lengths) for name, one in columns.items()}, given, "")
    return found._replace(keys=[keys[at] for at in starts] if keys else ())


def _cut(matrix: Array, inputs: Iterable[InputStream]) -> Iterator[tuple[str, Array | Sparse]]:
    start = 0
    for one in inputs:
        rows = matrix[:, start : start + one.size]
        yield (
            one.name,
            _rows(rows, one, Wants((one,), str(matrix.dtype), over_time=False), ""),
        )
        start += one.size
