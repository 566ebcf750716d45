"""The units in which numbers to predict are learned, stored in the model.

It must not know networks or losses: training applies it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine import stored
from netsharp_engine.data.storage.stores import blocks

Weights = npt.NDArray[np.float64] | None


@dataclass(frozen=True, slots=True)
class TargetScale:
    """The mean and the standard deviation of each number to predict, in training rows."""

    mean: tuple[float, ...]
    spread: tuple[float, ...]

    @classmethod
    def fit(
        cls,
        targets: npt.NDArray[np.generic],
        weights: Weights = None,
        rows: npt.NDArray[np.intp] | None = None,
    ) -> TargetScale:
        """Return the scale of the targets [rows] or [rows, numbers] in ``rows`` (all by default);
        those that are equal have the spread 1.

        ``weights`` [rows] belong to all targets.  Sums are taken over blocks.
        """
        parts = _Parts(targets, weights, rows)
        low, high = parts.extremes()
        # A power of two for each: no bit changes, and no square is too large or too small.
        unit = np.ldexp(1.0, np.frexp(np.maximum(np.abs(low), np.abs(high)))[1] - 1)
        mean = parts.mean(lambda columns: columns / unit)
        spread = np.sqrt(parts.mean(lambda columns: np.square(columns / unit - mean)))
        known = (spread > 0) & (low / unit < high / unit)
        spread = np.where(known, spread * unit, 1.0)
        return cls(tuple((mean * unit).tolist()), tuple(spread.tolist()))

    def scaled(self, targets: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
        """Return targets [rows] or [rows, numbers] at mean 0 and deviation 1, in float64."""
        columns = targets.astype(np.float64).reshape(len(targets), -1)
        columns -= self.mean
        columns /= self.spread
        return columns.reshape(targets.shape)

    def unscaled(self, outputs: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """Return outputs [rows, numbers] in the units of the label, in float64."""
        return outputs.astype(np.float64) * self.spread + self.mean

    def to_json(self) -> dict[str, list[float]]:
        """Return plain values for the model file; floats keep every bit."""
        return {"mean": list(self.mean), "spread": list(self.spread)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TargetScale:
        """Return the scale of plain values; ValueError on others."""
        mean, spread = (
            tuple(stored.as_number(each, key) for each in stored.items(values, key))
            for key in ("mean", "spread")
        )
        if len(mean) != len(spread) or not all(each > 0 for each in spread):
            raise ValueError("the scale of its label is none")
        return cls(mean, spread)


class _Parts:
    """Targets as float64 [n, numbers] in blocks, with their weights."""

    def __init__(
        self,
        targets: npt.NDArray[np.generic],
        weights: Weights,
        rows: npt.NDArray[np.intp] | None,
    ) -> None:
        self._targets = targets.reshape(len(targets), -1)
        self._weights = weights
        self._rows = rows

    def _blocks(self) -> Iterator[tuple[npt.NDArray[np.float64], Weights]]:
        rows, weights = self._rows, self._weights
        count = len(self._targets) if rows is None else len(rows)
        for cut in blocks(count, self._targets.shape[1]):
            index = cut if rows is None else rows[cut]
            own = None if weights is None else weights[index]
            yield self._targets[index].astype(np.float64), own

    def extremes(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the least and the largest number of each column, [columns] each."""
        bounds = [(block.min(axis=0), block.max(axis=0)) for block, _ in self._blocks()]
        low, high = zip(*bounds, strict=True)
        return np.min(low, axis=0), np.max(high, axis=0)

    def mean(
        self, change: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]
    ) -> npt.NDArray[np.float64]:
        """Return the weighted mean [columns] of the blocks after a change."""
        total: npt.NDArray[np.float64] | float = 0.0
        weight = 0.0
        for block, own in self._blocks():
            changed = change(block)
            if own is not None:
                changed = changed * own[:, None]
            total = total + changed.sum(axis=0)
            weight += float(len(block)) if own is None else float(own.sum())
        return np.asarray(total / weight)
