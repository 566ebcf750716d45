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
        """Return the scale of targets [rows] or [rows, numbers]; those that are equal have the
        spread 1.
        """
        columns = targets.astype(np.float64).reshape(len(targets), -1)
        # A power of two for each: no bit changes, and no square is too large or too small.
        unit = np.ldexp(1.0, np.frexp(np.abs(columns).max(axis=0))[1] - 1)
        columns = columns / unit
        mean = np.average(columns, axis=0, weights=weights)
        spread = np.sqrt(np.average(np.square(columns - mean), axis=0, weights=weights))
        known = (spread > 0) & (columns.min(axis=0) < columns.max(axis=0))
        spread = np.where(known, spread * unit, 1.0)
        return cls(tuple((mean * unit).tolist()), tuple(spread.tolist()))

    def scaled(self, targets: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
        """Targets [rows] or [rows, numbers] at mean 0 and deviation 1."""
        columns = targets.astype(np.float64).reshape(len(targets), -1)
        columns -= self.mean
        columns /= self.spread
        return columns.reshape(targets.shape)

    def unscaled(self, outputs: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """Outputs [rows, numbers] in the units of the label."""
        return outputs.astype(np.float64) * self.spread + self.mean

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
