"""Answers of a network in integers beside those of the one in floating point: how many are of the
same class, and how far numbers are apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_compile.operators import Array
    from netsharp_engine.train.objective import Objective

#: The percentage of rows whose class may differ, twice the gate's points, since no class is known
#: to be right here; and of their spread by which numbers may differ, as the gate's.
CLASSES_APART, NUMBERS_APART = 1.0, 2.0


@dataclass(frozen=True, slots=True)
class AnswersApart:
    """The differences of answers.

    ``differing`` counts rows of another class, and is None of a regression; ``error`` is the root
    mean square of the outputs' differences as a part of their spread, ``largest`` the largest
    difference; both are of rows that have an answer.
    """

    rows: int
    differing: int | None
    error: float
    largest: float

    @property
    def agreement(self) -> float | None:
        """Return the share of rows with the same class; None of a regression."""
        return None if self.differing is None else 1 - self.differing / max(self.rows, 1)

    def is_within(self, percent: float) -> bool:
        """Return whether at most a percentage of rows, or one row, has another class; of a
        regression, whether the error is at most that percentage of the spread.
        """
        if self.differing is None:
            return self.error <= percent / 100
        return self.differing <= max(1.0, self.rows * percent / 100)

    def __str__(self) -> str:
        """Return a line."""
        agreed = "" if self.agreement is None else f"{self.agreement:.2%} of the classes agree, "
        return f"on {self.rows:,} rows: {agreed}error {self.error:.2%}, at most {self.largest:.3g}"


class ComparedAnswers:
    """Adds up what two networks answer, part by part."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._rows = self._differing = self._numbers = 0
        self._square = self._largest = 0.0
        self._spread = ValueSpread()

    def add(self, found: npt.NDArray[np.floating], wanted: npt.NDArray[np.floating]) -> None:
        """Add outputs [rows, outputs] of the network in integers and of the other; rows without an
        answer count for nothing.
        """
        there = ~np.isnan(wanted).any(axis=1)
        given, known = found[there].astype(np.float64), wanted[there].astype(np.float64)
        if self._objective.classes is None:
            given = self._objective.unscaled(given).astype(np.float64)
            known = self._objective.unscaled(known).astype(np.float64)
        else:
            codes = self._objective.codes(given), self._objective.codes(known)
            self._differing += int((codes[0] != codes[1]).sum())
        apart = np.abs(given - known)
        self._rows += len(known)
        self._square += float(np.square(apart).sum())
        self._largest = max(self._largest, float(apart.max(initial=0.0)))
        self._spread.add(known)

    def result(self) -> AnswersApart:
        """Return the differences."""
        return AnswersApart(
            self._rows,
            None if self._objective.classes is None else self._differing,
            self._spread.part_of(self._square),
            self._largest,
        )


class ValueSpread:
    """The sum of squares of numbers around their mean, added up part by part."""

    def __init__(self) -> None:
        self._count, self._mean, self._square = 0, 0.0, 0.0

    def add(self, values: Array) -> None:
        """Add numbers of any shape [Chan, Golub and LeVeque (1979), equation 2.1]."""
        if not values.size:
            return
        count, mean = values.size, float(values.mean())
        apart, total = mean - self._mean, self._count + count
        self._square += float(np.square(values - mean).sum())
        self._square += apart * apart * self._count * count / total
        self._mean += apart * count / total
        self._count = total

    def part_of(self, square: float) -> float:
        """Return the root of a sum of squares as a part of the spread; of numbers that are all the
        same, of their root mean square, and of nothing but zeros 0 or infinity.
        """
        whole = self._square or self._mean * self._mean * self._count
        if not square:
            return 0.0
        return float(np.sqrt(square / whole)) if whole else float("inf")
