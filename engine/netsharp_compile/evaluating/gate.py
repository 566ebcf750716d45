"""The gate: an evaluation of a network in integers beside the one in floating point, on rows that
neither the training nor the calibration has seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.evaluating.comparing import ValueSpread
from netsharp_compile.layers import values_of
from netsharp_compile.refusal import CompileError
from netsharp_compile.simulating import answers_from, logits_of, stretches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_compile.calibrating.rows import Answers, Features, LabelledRows
    from netsharp_compile.integers import IntegerNetwork
    from netsharp_compile.layers import SummedLayer
    from netsharp_engine.model import Model

#: Percentage points of accuracy that may be lost, and the percentage of their spread that numbers
#: of a regression may be off.
USUAL_DROP, USUAL_ERROR = 0.5, 2.0
#: The quantile of the normal distribution for two-sided 95 %.
_DEVIATIONS = 1.959963984540054


class GateRows(NamedTuple):
    """Rows with what is to be answered, a word for them, and the percentage that may be lost: None
    for the usual one.
    """

    held_back: LabelledRows
    what: str
    allowed: float | None = None


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The result of an evaluation on held-out rows.

    ``right_before`` and ``right`` count rows that the network in floating point and the one in
    integers classify correctly, ``differing`` those that they classify differently; all are None of
    a regression.  ``error`` is the root mean square of the differences of the answers, before a
    softmax, as a part of their spread.  ``allowed`` is in percentage points of accuracy, of a
    regression the percentage for ``error``.
    """

    what: str
    rows: int
    right_before: int | None
    right: int | None
    differing: int | None
    error: float
    allowed: float

    @property
    def drop(self) -> float | None:
        """Return the percentage points of accuracy that are lost; None of a regression."""
        if self.right is None or self.right_before is None:
            return None
        return 100 * (self.right_before - self.right) / self.rows

    @property
    def is_met(self) -> bool:
        """Return whether the loss is within the limit; one row never fails it."""
        if self.right is None or self.right_before is None:
            return 100 * self.error <= self.allowed
        # A row in a thousand is exactly a tenth of a point, without an error of rounding.
        return self.right_before - self.right <= max(1.0, self.rows * self.allowed / 100 + 1e-9)

    @property
    def is_too_small(self) -> bool:
        """Return whether one row is more than is allowed, so that the rows are too few for the
        bound.
        """
        return self.right is not None and self.rows * self.allowed < 100

    @property
    def agreement(self) -> float | None:
        """Return the share of rows with the same class; None of a regression."""
        return None if self.differing is None else 1 - self.differing / self.rows

    def interval(self, right: int | None) -> tuple[float, float] | None:
        """Return the 95 % interval of an accuracy; None of a regression."""
        return None if right is None else wilson_interval(right, self.rows)

    def lines(self) -> list[str]:
        """Return lines for people."""
        verdict = "passed" if self.is_met else "FAILED"
        if self.right is None or self.right_before is None:
            return [
                f"on {self.rows:,} held-out rows ({self.what}): error {self.error:.2%} (at most "
                f"{self.allowed:g} % allowed): {verdict}"
            ]
        before, after = (
            f"{right / self.rows:.2%} ({low:.2%} to {high:.2%})"
            for right, (low, high) in (
                (one, wilson_interval(one, self.rows)) for one in (self.right_before, self.right)
            )
        )
        found = [
            f"on {self.rows:,} held-out rows ({self.what}): accuracy {before} in floating point, "
            f"{after} in integers, {self.agreement:.2%} of the classes agree, error "
            f"{self.error:.2%}",
            f"{self._change()}at most {self.allowed:g} percentage points"
            f"{' or one row' * self.is_too_small} allowed): {verdict}",
        ]
        if self.is_too_small and self.allowed > 0:
            found.append(
                f"note: {self.rows:,} held-out rows are too few to measure a loss of "
                f"{self.allowed:g} percentage points, as one row is {100 / self.rows:.2g}: hold "
                f"out at least {int(np.ceil(100 / self.allowed)):,}"
            )
        return found

    def _change(self) -> str:
        """Return by how much the accuracy changed, up to the words on how much may be lost."""
        if not self.drop:
            return "no loss of accuracy ("
        what, loss = ("loss", "") if self.drop > 0 else ("gain", "a loss of ")
        return f"{what} of accuracy: {abs(self.drop):.2f} percentage points ({loss}"


def wilson_interval(right: int, rows: int) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a share [Wilson (1927)]."""
    share, square = right / rows, _DEVIATIONS**2
    middle = (share + square / (2 * rows)) / (1 + square / rows)
    half = _DEVIATIONS * sqrt(share * (1 - share) / rows + square / (4 * rows * rows))
    half /= 1 + square / rows
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    # Exactly 0 and 1 at the ends, without errors of rounding.
    return (0.0 if not right else low), (1.0 if right == rows else high)


def _blocks_of_rows(rows: LabelledRows) -> Iterator[tuple[Features, Answers]]:
    """Yield blocks of rows of limited size: the values of a network take memory for each row."""
    for features, wanted in rows():
        for some in stretches(len(features)):
            yield features[some], wanted[some]


def gate_verdict(
    model: Model, layers: Sequence[SummedLayer], network: IntegerNetwork, gate: GateRows
) -> GateVerdict:
    """Return the verdict of a gate's rows on a compiled network.

    Raises CompileError where there are none. Raises ValueError for an activation without an
    operator.
    """
    objective = model.objective
    rows = right_before = right = differing = 0
    square, spread = 0.0, ValueSpread()
    for features, wanted in _blocks_of_rows(gate.held_back):
        normalized = features.astype(model.settings.dtype)
        model.normalizer.apply(normalized)
        *_, (_, known) = values_of(layers, normalized.astype(np.float64))
        found = logits_of(network, features.astype(np.float64))
        square += float(np.square(found - known).sum())
        spread.add(known)
        rows += len(features)
        if model.classes is not None:
            before = objective.codes(model.compute(features))
            after = objective.codes(answers_from(network, found))
            right_before += int((before == wanted).sum())
            right += int((after == wanted).sum())
            differing += int((before != after).sum())
    if not rows:
        raise CompileError("There are no held-out rows: name others with --holdout.")
    counts = model.classes is not None
    usual = USUAL_DROP if counts else USUAL_ERROR
    return GateVerdict(
        gate.what,
        rows,
        right_before if counts else None,
        right if counts else None,
        differing if counts else None,
        spread.part_of(square),
        usual if gate.allowed is None else gate.allowed,
    )
