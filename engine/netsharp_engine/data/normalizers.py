"""The six normalisers, fitted on training rows, stored in the model, applied in place.

Their formulas are those of the hosts' documentation (Machine Learning Studio, rxNeuralNet, TLC);
they must not know tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine import stored
from netsharp_engine.data.storage.stores import MEMORY, Store, blocks
from netsharp_engine.excerpt import excerpt

Rows = npt.NDArray[np.intp]
Matrix = npt.NDArray[np.floating]
Weights = npt.NDArray[np.float64]
#: Two figures of each feature.
Moments = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
NAMES = ("minmax", "minmax-zero", "gaussian", "robust", "binning", "none")
DEFAULT_BINS = 256
CHUNK_NUMBERS = 1 << 18
#: The bounds of ``robust``: these quantiles and once their distance beyond, as Tukey's fences
#: (1977) have it of quartiles, taken from at most 10,000 rows, evenly spread.
PARTS, BEYOND, SEEN_ROWS = (0.05, 0.95), 1.0, 10_000
#: The number of columns that are copied at once into files of their own.
SORTED_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Normalizer:
    """``(x - offset) * scale`` per feature, or a bin index over (bins - 1).

    ``offset`` and ``scale`` are float64 [features]; ``edges`` holds, for ``binning``, each
    feature's inner bin edges in rising order, for ``robust`` the least and the largest value that
    is told apart.  A feature without spread becomes 0.
    """

    name: str
    offset: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]
    edges: tuple[npt.NDArray[np.float64], ...] = ()

    def apply(self, matrix: Matrix) -> None:
        """Normalise [rows, features] in place, each row by itself."""
        if self.name == "none":
            return
        if self.name == "binning":
            self._bin(matrix)
            return
        offset = self.offset.astype(matrix.dtype)
        scale = self.scale.astype(matrix.dtype)
        low, high = (bound.astype(matrix.dtype) for bound in self.bounds())
        for block in _blocks(matrix, None):
            if self.name == "robust":
                np.clip(block, low, high, out=block)
            np.subtract(block, offset, out=block)
            np.multiply(block, scale, out=block)

    def as_rows(self, dtype: str) -> Matrix | None:
        """Return [4, features]: the bounds that a feature is clipped to, the number that is then
        subtracted, and the factor; None for ``binning``, which needs more than that.
        """
        if self.name == "binning":
            return None
        return np.array([*self.bounds(), self.offset, self.scale], dtype)

    def applied(self, matrix: Matrix, store: Store) -> Matrix:
        """Normalise [rows, features]: in place where the store has it in memory, else a copy."""
        if store.in_memory:
            self.apply(matrix)
            return matrix

        def part(cut: slice) -> Matrix:
            block = np.array(matrix[cut])
            self.apply(block)
            return block

        rows, features = matrix.shape
        return store.last(rows, features, matrix.dtype, part)

    def bounds(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the least and the largest value of each feature [features] that are
        distinguished.
        """
        if self.name != "robust":
            count = len(self.offset)
            return np.full(count, -np.inf), np.full(count, np.inf)
        ends = np.array(self.edges).reshape(len(self.edges), 2)
        return ends[:, 0], ends[:, 1]

    def _bin(self, matrix: Matrix) -> None:
        for feature, edges in enumerate(self.edges):
            values = matrix[:, feature]
            if len(edges):
                values[...] = np.searchsorted(edges, values, side="right") / len(edges)
            else:
                values[...] = 0

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the model file; floats keep every bit."""
        return {
            "name": self.name,
            "offset": self.offset.tolist(),
            "scale": self.scale.tolist(),
            "edges": [edges.tolist() for edges in self.edges],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Normalizer:
        """Return the normaliser of plain values; raises ValueError on others."""
        name = stored.text(values, "name")
        if name not in NAMES:
            raise ValueError(f"there is no normalizer '{excerpt(name)}'")
        offset, scale = (_column(stored.items(values, key), key) for key in ("offset", "scale"))
        edges = tuple(
            _column(stored.items({"edges": each}, "edges"), "edges")
            for each in stored.items(values, "edges")
        )
        edged = len(offset) if name in ("binning", "robust") else 0
        if len(scale) != len(offset) or len(edges) != edged:
            raise ValueError("its normalizer has different numbers of features")
        if name == "robust" and any(len(each) != 2 for each in edges):
            raise ValueError("a feature of its normalizer has not two bounds")
        if any(np.any(np.diff(each) < 0) for each in edges):
            raise ValueError("the edges of its bins do not rise")
        return cls(name, offset, scale, edges)


def _column(values: list[Any], key: str) -> npt.NDArray[np.float64]:
    return np.array([stored.as_number(each, key) for each in values], dtype=np.float64)


def fit_normalizer(
    name: str,
    matrix: Matrix,
    rows: Rows | None = None,
    *,
    bins: int = DEFAULT_BINS,
    weights: Weights | None = None,
    store: Store = MEMORY,
) -> Normalizer:
    """Return the normaliser ``name`` fitted on ``rows`` (all by default) of [rows, features].

    Statistics are taken in float64 over blocks of rows. ``weights`` [rows of the matrix]: to
    ``robust`` a row of weight 2 is two rows. Columns of a matrix in files are sorted in files of
    the same ``store``. Raises ValueError for an unknown name.
    """
    features = matrix.shape[1]
    zeros, ones = np.zeros(features), np.ones(features)
    if name == "none":
        return Normalizer(name, zeros, ones)
    if name == "minmax":
        low, high = _extremes(matrix, rows)
        return Normalizer(name, low, _inverse(high - low))
    if name == "minmax-zero":
        low, high = _extremes(matrix, rows)
        scale = _inverse(np.maximum(np.abs(low), np.abs(high)))
        return Normalizer(name, zeros, np.where(low == high, 0.0, scale))
    if name == "gaussian":
        mean, deviation = _moments(matrix, rows)
        return Normalizer(name, mean, _inverse(deviation))
    if name == "robust":
        low, high = _fences(matrix, rows, weights)
        mean, deviation = _weighted_moments(matrix, rows, weights, (low, high))
        return Normalizer(name, mean, _inverse(deviation), tuple(np.stack([low, high], axis=1)))
    if name == "binning":
        ordered = _sorted_columns(matrix, rows, store)
        return Normalizer(name, zeros, ones, tuple(_edges(each, bins) for each in ordered))
    raise ValueError(f"unknown normalizer {name!r}")


def _inverse(spread: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return 1 / spread, and 0 for a constant column, which so becomes 0."""
    result = np.zeros_like(spread)
    np.divide(1.0, spread, out=result, where=spread > 0)
    return result


def _blocks(matrix: Matrix, rows: Rows | None) -> Iterator[Matrix]:
    count = len(matrix) if rows is None else len(rows)
    step = max(CHUNK_NUMBERS // max(matrix.shape[1], 1), 1)
    for start in range(0, count, step):
        yield matrix[start : start + step] if rows is None else matrix[rows[start : start + step]]


def _extremes(
    matrix: Matrix, rows: Rows | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    low = np.full(matrix.shape[1], np.inf)
    high = np.full(matrix.shape[1], -np.inf)
    for block in _blocks(matrix, rows):
        np.minimum(low, block.min(axis=0), out=low)
        np.maximum(high, block.max(axis=0), out=high)
    return low, high


def _fences(matrix: Matrix, rows: Rows | None, weights: Weights | None) -> Moments:
    """Return the bounds of each feature beyond which values are replaced by the bound: a few rows
    that are far from all others are there. Where nine in ten values are equal they are the
    extremes.
    """
    low, high = _extremes(matrix, rows)
    index = np.arange(len(matrix)) if rows is None else rows
    seen = index[:: -(-len(index) // SEEN_ROWS)]
    own = np.ones(len(seen)) if weights is None else weights[seen]
    first, last = np.empty_like(low), np.empty_like(high)
    step = max(CHUNK_NUMBERS // len(seen), 1)
    for start in range(0, len(low), step):
        part = slice(start, start + step)
        first[part], last[part] = _quantiles(matrix[seen, part].astype(np.float64), own)
    reach = BEYOND * (last - first)
    spread = reach > 0
    return (
        np.where(spread, np.maximum(low, first - reach), low),
        np.where(spread, np.minimum(high, last + reach), high),
    )


def _quantiles(some: npt.NDArray[np.float64], weights: Weights) -> Moments:
    """Return the two quantiles of each column [features] that ``_fences`` uses, by weight."""
    order = np.argsort(some, axis=0, kind="stable")
    reached = np.cumsum(weights[order], axis=0)
    first, last = (
        np.take_along_axis(
            np.take_along_axis(some, order, axis=0),
            np.argmax(reached >= part * reached[-1], axis=0)[None],
            axis=0,
        )[0]
        for part in PARTS
    )
    return first, last


def _moments(matrix: Matrix, rows: Rows | None) -> Moments:
    """Return mean and standard deviation (of the population); a constant column has exactly 0."""
    count = len(matrix) if rows is None else len(rows)
    total = np.zeros(matrix.shape[1])
    for block in _blocks(matrix, rows):
        total += block.sum(axis=0, dtype=np.float64)
    mean = total / count
    squares = np.zeros(matrix.shape[1])
    for block in _blocks(matrix, rows):
        squares += np.square(block.astype(np.float64) - mean).sum(axis=0)
    low, high = _extremes(matrix, rows)
    return mean, np.where(low == high, 0.0, np.sqrt(squares / count))


def _weighted_moments(
    matrix: Matrix, rows: Rows | None, weights: Weights | None, bounds: Moments
) -> Moments:
    """Return weighted mean and standard deviation of values clipped to bounds; 0 where these are
    equal.

    They are sums, not products of matrices, which differ in the last bits from processor to
    processor: a run could not be resumed on another.
    """
    own = None if weights is None else weights if rows is None else weights[rows]
    all_weight = float(len(matrix) if rows is None else len(rows)) if own is None else own.sum()
    low, high = bounds

    def weighted(values: npt.NDArray[np.float64], start: int) -> npt.NDArray[np.float64]:
        if own is not None:
            values *= own[start : start + len(values), None]
        return np.asarray(values.sum(axis=0))

    total, squares, start = np.zeros(len(low)), np.zeros(len(low)), 0
    for block in _blocks(matrix, rows):
        total += weighted(np.clip(block.astype(np.float64), low, high), start)
        start += len(block)
    mean, start = total / all_weight, 0
    for block in _blocks(matrix, rows):
        off = np.square(np.clip(block.astype(np.float64), low, high) - mean)
        squares += weighted(off, start)
        start += len(block)
    return mean, np.where(low == high, 0.0, np.sqrt(squares / all_weight))


def _sorted_columns(matrix: Matrix, rows: Rows | None, store: Store) -> Iterator[Matrix]:
    """Yield each column [rows] of a matrix in rising order.

    Of a matrix in files, ``SORTED_AT_ONCE`` columns at a time are copied into files, each of which
    is sorted in place and paged by the system.
    """
    features = matrix.shape[1]
    if store.in_memory:
        for feature in range(features):
            yield np.sort(matrix[:, feature] if rows is None else matrix[rows, feature])
        return
    for start in range(0, features, SORTED_AT_ONCE):
        columns = [
            store.growing(1, matrix.dtype) for _ in range(min(SORTED_AT_ONCE, features - start))
        ]
        for block in _blocks(matrix, rows):
            for place, column in enumerate(columns, start):
                column.append(block[:, place, None])
        for column in columns:
            ordered = column.take()[:, 0]
            ordered.sort()
            yield ordered


def _edges(ordered: Matrix, bins: int) -> npt.NDArray[np.float64]:
    """Return the inner edges of at most ``bins`` bins of equal frequency, of values in rising
    order.

    With at most ``bins`` distinct values each has its own bin, the edge halfway between.
    """
    distinct = _few_distinct(ordered, bins)
    if distinct is not None:
        return np.asarray((distinct[:-1] + distinct[1:]) / 2)
    # A cut is after the value with which the wanted number of rows is reached.
    wanted = np.arange(1, bins) * (len(ordered) / bins)
    cuts = np.unique(ordered[np.ceil(wanted).astype(np.intp) - 1])
    cuts = cuts[cuts < ordered[-1]]
    following = ordered[np.searchsorted(ordered, cuts, side="right")]
    return np.asarray((cuts.astype(np.float64) + following.astype(np.float64)) / 2)


def _few_distinct(ordered: Matrix, most: int) -> npt.NDArray[np.float64] | None:
    """Return the distinct values of those in rising order; None where there are more than
    ``most``.
    """
    found = np.empty(0)
    for cut in blocks(len(ordered), 1):
        found = np.unique(np.concatenate([found, ordered[cut].astype(np.float64)]))
        if len(found) > most:
            return None
    return found
