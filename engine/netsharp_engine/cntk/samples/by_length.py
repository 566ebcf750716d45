"""Samples of files as arrays of sequences that are equally long, for what takes no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.given import (
    InputStream,
    SampleReading,
    Wants,
    dense,
    samples_in,
)
from netsharp_engine.cntk.samples.minibatches import Sweeps
from netsharp_engine.data.reading.files import find_files
from netsharp_engine.data.reading.options import ReadOptions
from netsharp_engine.program import Packed, Sparse

#: Samples that are taken at a time.
_SIZE = 1024


def samples_by_length(
    inputs: Mapping[str, tuple[int, ...]],
    dtype: str,
    files: Sequence[str],
    reading: SampleReading | None = None,
) -> Iterator[dict[str, Array]]:
    """Read the samples of files for inputs of these row-major shapes, [steps, sequences, *shape];
    ``reading`` reads a file where it does not say itself how.

    Raises DataError where a file cannot be used.
    """
    streams = [InputStream(name, shape) for name, shape in inputs.items()]
    for path in find_files(files, "."):
        wanted = Wants(streams, dtype, over_time=True)
        sequences = (
            samples_in(path, wanted, ReadOptions()) if reading is None else reading(path, wanted)
        )
        for batch in Sweeps(sequences, randomize=False).epoch(0, 0, _SIZE):
            alike: dict[int, list[dict[str, Array]]] = {}
            for one in _one_by_one(batch.inputs, inputs):
                alike.setdefault(max(map(len, one.values())), []).append(one)
            for some in alike.values():
                yield {name: np.stack([one[name] for one in some], axis=1) for name in inputs}


def _one_by_one(
    given: Mapping[str, Array | Sparse | Packed], inputs: Mapping[str, tuple[int, ...]]
) -> Iterator[dict[str, Array]]:
    """Yield each sequence of a minibatch, [steps, *shape] for every input."""
    parts: dict[str, list[Array]] = {}
    for name, shape in inputs.items():
        one = given[name]
        values = one.values if isinstance(one, Packed) else one
        rows = dense(values, int(np.prod(shape))).reshape(-1, *shape)
        lengths = np.ones(len(rows), np.intp)
        if isinstance(one, Packed):
            rows, lengths = rows[one.packing.places], one.packing.length
        parts[name] = np.split(rows, np.cumsum(lengths)[:-1])
    for number in range(min(map(len, parts.values()))):
        yield {name: found[number] for name, found in parts.items()}
