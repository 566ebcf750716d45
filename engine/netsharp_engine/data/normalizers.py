"""The five normalisers, fitted on training rows, stored in the model, applied in place.

Formulas: section 11 of our reading of the hosts (Studio, rxNeuralNet, TLC).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine import stored
from netsharp_engine.excerpt import excerpt

Rows = npt.NDArray[np.intp]
Matrix = npt.NDArray[np.floating]
NAMES = ("minmax", "minmax-zero", "gaussian", "binning", "none")
DEFAULT_BINS = 256
CHUNK_NUMBERS = 1 << 18


@dataclass(frozen=True, slots=True)
class Normalizer:
    """``(x - offset) * scale`` per feature, or a bin index over (bins - 1).

    ``offset`` and ``scale`` are float64 [features]; ``edges`` holds, for ``binning``, each
    feature's inner bin edges in rising order.  A feature without spread becomes 0.
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
        for block in _blocks(matrix, None):
            np.subtract(block, offset, out=block)
            np.multiply(block, scale, out=block)

    def _bin(self, matrix: Matrix) -> None:
        for feature, edges in enumerate(self.edges):
            values = matrix[:, feature]
            if len(edges):
                values[...] = np.searchsorted(edges, values, side="right") / len(edges)
            else:
                values[...] = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values for the model file; floats keep every bit."""
        return {
            "name": self.name,
            "offset": self.offset.tolist(),
            "scale": self.scale.tolist(),
            "edges": [edges.tolist() for edges in self.edges],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Normalizer:
        """The normaliser of plain values; raises ValueError on others."""
        name = stored.text(values, "name")
        if name not in NAMES:
            raise ValueError(f"there is no normalizer '{excerpt(name)}'")
        offset, scale = (_column(stored.items(values, key), key) for key in ("offset", "scale"))
        edges = tuple(
            _column(stored.items({"edges": each}, "edges"), "edges")
            for each in stored.items(values, "edges")
        )
        if len(scale) != len(offset) or len(edges) != (len(offset) if name == "binning" else 0):
            raise ValueError("its normalizer has different numbers of features")
        if any(np.any(np.diff(each) < 0) for each in edges):
            raise ValueError("the edges of its bins do not rise")
        return cls(name, offset, scale, edges)


def _column(values: list[Any], key: str) -> npt.NDArray[np.float64]:
    return np.array([stored.as_number(each, key) for each in values], dtype=np.float64)


def fit_normalizer(
    name: str, matrix: Matrix, rows: Rows | None = None, *, bins: int = DEFAULT_BINS
) -> Normalizer:
    """The normaliser ``name`` fitted on ``rows`` (all by default) of [rows, features].

    Statistics are taken in float64 over blocks of rows.  Raises ValueError for an unknown name.
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
    if name == "binning":
        edges = tuple(_edges(matrix, feature, rows, bins) for feature in range(features))
        return Normalizer(name, zeros, ones, edges)
    raise ValueError(f"unknown normalizer {name!r}")


def _inverse(spread: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """1 / spread, and 0 for a constant column, which so becomes 0."""
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


def _moments(
    matrix: Matrix, rows: Rows | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Mean and standard deviation (of the population); a constant column has exactly 0."""
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


def _edges(matrix: Matrix, feature: int, rows: Rows | None, bins: int) -> npt.NDArray[np.float64]:
    """The inner edges of at most ``bins`` bins of equal frequency.

    With at most ``bins`` distinct values each has its own bin, the edge halfway between.
    """
    values = matrix[:, feature] if rows is None else matrix[rows, feature]
    ordered = np.sort(values.astype(np.float64))
    distinct, counts = np.unique(ordered, return_counts=True)
    if len(distinct) <= bins:
        return np.asarray((distinct[:-1] + distinct[1:]) / 2)
    ends = np.cumsum(counts)
    wanted = np.arange(1, bins) * (len(ordered) / bins)
    cuts = np.unique(np.searchsorted(ends, wanted, side="left"))
    cuts = cuts[cuts < len(distinct) - 1]
    return np.asarray((distinct[cuts] + distinct[cuts + 1]) / 2)
