"""By how much numbers changed, as norms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array


class NormChange(NamedTuple):
    """The norm of numbers before, and after, with that of their difference."""

    before: str
    after: str


def change_of(old: Array, new: Array) -> NormChange | None:
    """How as many numbers changed; None where they are the same, byte by byte or as values."""
    before, after = (np.asarray(one, np.float64).reshape(-1) for one in (old, new))
    if np.array_equal(before, after, equal_nan=True):
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        norms = [float(np.sqrt((one * one).sum())) for one in (before, after, after - before)]
    largest = float(np.abs(after - before).max())
    first, second, moved = (f"{one:.6g}" for one in norms)
    return NormChange(first, f"{second} (difference: norm {moved}, largest {largest:.6g})")
