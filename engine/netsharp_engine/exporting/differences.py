"""Differences between outputs of an exported network and the engine's, whatever program computes
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.values import Array

#: The largest difference of outputs from the engine's, relative to the largest of them: some 100
#: times float32's precision, for sums in another order.
BOUND = 1e-5


class OutputDifference(NamedTuple):
    """The difference of an output from the engine's: the largest difference, and the largest
    value.
    """

    output: str
    most: float
    largest: float

    def joined(self, other: OutputDifference) -> OutputDifference:
        """Return the largest of both, of the same output for other samples."""
        return OutputDifference(
            self.output, max(self.most, other.most), max(self.largest, other.largest)
        )

    @property
    def relative(self) -> float:
        """Return the difference relative to the largest value; infinite where numbers are
        missing.
        """
        if not np.isfinite(self.most):
            return float("inf")
        return self.most / self.largest if self.largest else self.most


def differences(
    program: str, names: Sequence[str], ours: Sequence[Array], theirs: Sequence[Array]
) -> list[OutputDifference]:
    """Compare outputs of equal shapes with those of a program; numbers that are not finite have to
    be the same. ExportError where a difference is larger than `BOUND`.
    """
    found = []
    for name, one, other in zip(names, ours, theirs, strict=True):
        if one.shape != other.shape:
            raise ExportError(
                f"'{name}' has the shape {list(other.shape)} in {program}, and here "
                f"{list(one.shape)}."
            )
        finite = np.isfinite(one)
        same = np.array_equal(one[~finite], other[~finite], equal_nan=True)
        apart = np.abs(one[finite].astype(np.float64) - other[finite]).max(initial=0.0)
        largest = float(np.abs(one[finite]).max(initial=0.0))
        found.append(OutputDifference(name, float(apart) if same else float("inf"), largest))
    return found


def require_close(found: Sequence[OutputDifference], bound: float) -> None:
    """Do nothing where every output is within a bound, else raise ExportError with the first."""
    for one in found:
        if not one.relative <= bound:
            raise ExportError(
                f"'{one.output}' of the exported model differs by {one.most:.3g}, "
                f"{one.relative:.2g} of its largest value: the bound is {bound:g}. Nothing is "
                "written.",
                differs=True,
            )


def require_same_classes(
    program: str, shares: Array, ours: Any, theirs: Array, apart: OutputDifference
) -> None:
    """Do nothing where a program answers with the classes of the engine, whose probabilities are
    ``shares``, else raise ExportError. ``shares`` are [rows, classes], the classes ``ours`` and
    ``theirs`` [rows].
    """
    # Where two classes are as likely as each other, rounding may prefer the other one.
    ordered = np.sort(shares, axis=1)
    certain = ordered[:, -1] - ordered[:, -2] > 2 * apart.most
    if (np.asarray(ours, object)[certain] != theirs[certain]).any():
        raise ExportError(f"{program} answers with other classes than the engine.", differs=True)
