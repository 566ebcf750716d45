"""Samples of files as rows of numbers: inputs side by side, and the labels that they are compared
with.

Each step of a sequence is a row. It must not know networks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.given import (
    InputStream,
    Wants,
    dense,
    is_archive_of,
    is_text_format,
    samples_in,
)
from netsharp_engine.cntk.samples.minibatches import Sweeps
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.data.answers import SampleQuery
from netsharp_engine.data.errors import DataError, nearest
from netsharp_engine.data.reading.files import find_files
from netsharp_engine.data.stream import EncodedRows
from netsharp_engine.excerpt import excerpt
from netsharp_engine.program import Packed, Sparse

#: How many rows of a file come at once.
_ROWS = 4096


class RowStreams(NamedTuple):
    """The inputs that are features in this order, and the one that they are compared with: None
    where nothing is asked of it, else as numbers of classes where it is ``coded``.
    """

    inputs: Sequence[InputStream]
    label: InputStream | None = None
    coded: bool = False

    def wanted(self, dtype: str, aliases: Mapping[str, str]) -> Wants:
        """Return the streams that are read from files, dense, under the names that files have for
        them.
        """
        every = [*self.inputs, *([] if self.label is None else [self.label])]
        named = [one._replace(sparse=False, alias=aliases.get(one.name, "")) for one in every]
        return Wants(named, dtype, over_time=False)

    def rows(
        self, sequences: Sequences, path: str, most: int | None = None
    ) -> Iterator[EncodedRows]:
        """Yield the samples of a file as rows, some at a time, at most ``most``.

        DataError where a stream has another number of steps than the first.
        """
        left = sequences.total if most is None else min(most, sequences.total)
        for batch in Sweeps(sequences, randomize=False).epoch(0, 0, _ROWS):
            columns = [_steps(batch.inputs[one.name], one)[:left] for one in self.inputs]
            label = None
            if self.label is not None:
                label = _steps(batch.inputs[self.label.name], self.label)[:left]
            if len({len(one) for one in (*columns, *([] if label is None else [label]))}) > 1:
                raise DataError(
                    f"{path}: streams have sequences of other lengths, and each step is to be a "
                    "row. Give all of them as many samples."
                )
            found = EncodedRows(np.concatenate(columns, axis=1))
            if label is not None and self.coded:
                found.class_codes = label.argmax(1).astype(np.int32)
            elif label is not None:
                found.targets = label[:, 0].astype(np.float64)
            left -= len(found.features)
            yield found
            if left <= 0:
                return


def rows_of_files(query: SampleQuery, streams: RowStreams) -> Iterator[EncodedRows]:
    """Yield the samples of files as rows, file by file, up to the most that the options allow.

    Raises DataError.
    """
    left = query.options.rows
    wanted = streams.wanted(query.options.dtype, query.streams)
    for path in find_files(query.paths, query.directory):
        if query.reading is None:
            sequences = samples_in(path, wanted, query.options)
        else:
            sequences = query.reading(path, wanted)
        for rows in streams.rows(sequences, path, left):
            left = None if left is None else left - len(rows.features)
            yield rows
        if left == 0:
            return


def bring_streams(query: SampleQuery, wanted: Wants) -> bool:
    """Return whether files hold samples by the names of inputs; tables do not. DataError where
    there are no files.
    """
    if query.reading is not None:
        return True
    files = find_files(query.paths, query.directory)
    return all(is_text_format(path) or is_archive_of(path, wanted) for path in files)


def demand_streams(query: SampleQuery, known: Sequence[str]) -> None:
    """Raise DataError where a stream is named for an input that does not exist."""
    for name in query.streams:
        if name not in known:
            raise DataError(
                f"--stream names '{excerpt(name)}', which is not an input of the network."
                f"{nearest(name, known)}"
            )


def _steps(values: Array | Sparse | Packed, one: InputStream) -> Array:
    """Return samples [steps, size], sequence after sequence."""
    if isinstance(values, Packed):
        return dense(values.values, one.size)[values.packing.places]
    return dense(values, one.size)
