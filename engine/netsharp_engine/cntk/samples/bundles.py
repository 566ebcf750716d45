"""Sequences of several files together, by their keys: those of the first file, in its order.

Source: CNTK, Readers/ReaderLib/Bundler.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.minibatches import sparse_rows
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.data.errors import DataError
from netsharp_engine.packing import Indices
from netsharp_engine.program import Sparse


class Keyed(NamedTuple):
    """The sequences of a file, by their keys, and its streams."""

    path: str
    sequences: Sequences
    keys: Sequence[str]
    streams: Sequence[str]


def bundled(files: Sequence[Keyed]) -> Sequences:
    """Return the sequences that all files have, matched by their keys; DataError where there is
    none.
    """
    first, *others = files
    places = [{key: at for at, key in enumerate(one.keys)} for one in others]
    kept = [all(key in one for one in places) for key in first.keys]
    own = np.flatnonzero(kept)
    if not len(own):
        raise DataError(
            f"{first.path}: none of its sequences is in {' and '.join(one.path for one in others)}"
            f", where one is looked for by its key, as '{first.keys[0]}'."
        )
    orders = [own, *(np.array([one[first.keys[at]] for at in own.tolist()]) for one in places)]
    warnings = [one for file in files for one in file.sequences.warnings]
    if len(own) < len(kept):
        lost = first.keys[kept.index(False)]
        warnings.append(
            f"{first.path}: {len(kept) - len(own):,} of {len(kept):,} sequences are not in all "
            f"files, and left out; the first is '{lost}'."
        )
    ends = [0, *accumulate(first.sequences.chunks)]
    sizes = np.diff(np.searchsorted(own, ends)).tolist()
    lengths, lines = _lengths(files, orders)
    bundle = _Bundle(files, orders)
    return Sequences({}, [one for one in sizes if one], warnings, lines, lengths, bundle.read)


def _lengths(
    files: Sequence[Keyed], orders: Sequence[Indices]
) -> tuple[Mapping[str, Indices], Indices | None]:
    """Return the lengths of each stream's sequences where they differ, and the lengths that
    count.
    """
    lines: Indices = np.ones(len(orders[0]), np.intp)
    found: dict[str, Indices] = {}
    for file, order in zip(files, orders, strict=True):
        one = file.sequences
        own = np.ones(len(order), np.intp) if one.lines is None else one.lines[order]
        lines = np.maximum(lines, own)
        for name in file.streams:
            known = one.lengths.get(name)
            found[name] = own if known is None else known[order]
    if (lines == 1).all() and all((each == 1).all() for each in found.values()):
        return {}, None
    return {name: one for name, one in found.items() if not np.array_equal(one, lines)}, lines


class _Bundle:
    """Reads sequences of all files by their place in the first."""

    def __init__(self, files: Sequence[Keyed], orders: Sequence[Indices]) -> None:
        self._parts = [(one.sequences, order) for one, order in zip(files, orders, strict=True)]

    def read(self, chosen: Indices) -> Mapping[str, Array | Sparse]:
        """Return the values of some sequences, one after the other."""
        found: dict[str, Array | Sparse] = {}
        for sequences, order in self._parts:
            places = order[chosen]
            if sequences.again is not None:
                found.update(sequences.again(places))
                continue
            for name, values in sequences.values.items():
                lengths = sequences.lengths.get(name, sequences.lines)
                rows = places if lengths is None else _rows(places, lengths)
                if isinstance(values, Sparse):
                    found[name] = sparse_rows(values, rows)
                else:
                    found[name] = values[rows]
        return found


def _rows(places: Indices, lengths: Indices) -> Indices:
    """Return the indices of the samples of some sequences."""
    begins, some = np.cumsum(lengths) - lengths, lengths[places]
    ends = np.cumsum(some)
    return np.repeat(begins[places] - (ends - some), some) + np.arange(int(some.sum()))
