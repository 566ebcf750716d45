"""Figures about many numbers, and about their change. It must not know whose numbers they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array


class NormChange(NamedTuple):
    """The norm of numbers before and after, that of their difference, and its largest element."""

    before: float
    after: float
    difference: float
    largest: float


def change_of(old: Array, new: Array) -> NormChange | None:
    """Return the change from one array to another of the same size; None where they are the same,
    byte by byte or as values. Arrays have any shape; norms are computed in float64.
    """
    before, after = (np.asarray(one, np.float64).reshape(-1) for one in (old, new))
    if np.array_equal(before, after, equal_nan=True):
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        norms = [float(np.sqrt((one * one).sum())) for one in (before, after, after - before)]
        largest = float(np.abs(after - before).max())
    return NormChange(norms[0], norms[1], norms[2], largest)


#: Bars of a histogram, and numbers that are looked at together.
BARS, _TOGETHER = 32, 1 << 20


def figures_of(numbers: Array) -> dict[str, Any]:
    """Return statistics of an array, in memory that does not grow with it.

    `size`, `zeros` and `not_finite` count; `least`, `greatest`, `mean`, `deviation` and `norm` are
    of the finite ones, None where there are none; `bars` count these in `BARS` parts of equal width
    from the least to the greatest, in one where those are equal. The array has any shape.
    """
    flat = np.asarray(numbers).reshape(-1)
    zeros, finite, total = 0, 0, 0.0
    least, greatest, scale = np.inf, -np.inf, 0.0
    for part in _finite_parts(flat):
        zeros += int((part == 0).sum())
        finite += part.size
        total += float(part.sum())
        least, greatest = min(least, float(part.min())), max(greatest, float(part.max()))
    found: dict[str, Any] = {
        "size": int(flat.size),
        "zeros": zeros,
        "not_finite": int(flat.size) - finite,
        **dict.fromkeys(("least", "greatest", "mean", "deviation", "norm")),
        "bars": [],
    }
    if not finite:
        return found
    mean, scale = total / finite, max(abs(least), abs(greatest)) or 1.0
    bars = np.zeros(BARS if greatest > least else 1, np.int64)
    squares, spread = 0.0, 0.0
    for part in _finite_parts(flat):
        # Divided first, so that squares of the largest numbers are still numbers.
        squares += float(((part / scale) ** 2).sum())
        spread += float(((part / scale - mean / scale) ** 2).sum())
        # Near the least float64, only where all numbers are equal: all of them are in one bar.
        width = max(greatest / scale - least / scale, 1e-300)
        places = (part / scale - least / scale) * (bars.size / width)
        bars += np.bincount(np.clip(places.astype(np.int64), 0, bars.size - 1), minlength=bars.size)
    found.update(least=least, greatest=greatest, mean=mean, bars=bars.tolist())
    found.update(deviation=scale * (spread / finite) ** 0.5, norm=scale * squares**0.5)
    return found


def _finite_parts(flat: Array) -> Iterator[Array]:
    """Yield the finite numbers in double precision, some at a time."""
    for start in range(0, flat.size, _TOGETHER):
        part = np.asarray(flat[start : start + _TOGETHER], np.float64)
        part = part[np.isfinite(part)]
        if part.size:
            yield part
