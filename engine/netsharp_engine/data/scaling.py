"""The units in which numbers to predict are learned, stored in the model.

It must not know networks or losses: who trains applies it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine import stored

Weights = npt.NDArray[np.float64] | None


@dataclass(frozen=True, slots=True)
class TargetScale:
    """The mean and the standard deviation of each number to predict, in training rows."""

    mean: tuple[float, ...]
    spread: tuple[float, ...]

    @classmethod
    def fit(cls, targets: npt.NDArray[np.generic], weights: Weights = None) -> TargetScale:
        """Return the scale of targets [rows] or [rows, numbers]; those that are equal, or too large
        to be squared, have the spread 1.
        """
        columns = targets.astype(np.float64).reshape(len(targets), -1)
        mean = np.average(columns, axis=0, weights=weights)
        with np.errstate(over="ignore"):
            squares = np.square(columns - mean)
        spread = np.sqrt(np.average(squares, axis=0, weights=weights))
        equal = columns.min(axis=0) == columns.max(axis=0)
        known = np.isfinite(spread) & (spread > 0) & ~equal
        return cls(tuple(mean.tolist()), tuple(np.where(known, spread, 1.0).tolist()))

    def to_json(self) -> dict[str, list[float]]:
        """Plain values for the model file; floats keep every bit."""
        return {"mean": list(self.mean), "spread": list(self.spread)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TargetScale:
        """The scale of plain values; ValueError on others."""
        mean, spread = (
            tuple(stored.as_number(each, key) for each in stored.items(values, key))
            for key in ("mean", "spread")
        )
        if len(mean) != len(spread) or not all(each > 0 for each in spread):
            raise ValueError("the scale of its label is none")
        return cls(mean, spread)
