"""Figures of merit over rows that arrive in parts, and the same for a trivial baseline.

Accuracy, logarithmic loss, confusion matrix and AUC for classes; RMSE and R2 for numbers.  All
sums are weighted by the rows' weights and taken in float64.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.storage.growing import GrowingMatrix
from netsharp_engine.data.storage.stores import blocks
from netsharp_engine.distributed.comm import Comm
from netsharp_engine.limits import CONFUSION_CLASSES
from netsharp_engine.train.objective import Objective, Outputs

Weights = npt.NDArray[np.float64]
#: The least probability in a logarithmic loss, some steps of float64 (2.2e-16) from 0 and from 1.
SMALLEST = 1e-15
#: The numbers of outputs that are held until they are counted together: a batch has few rows.
HELD_NUMBERS = 1 << 14


class Tally(Protocol):
    """Collects rows and gives figures."""

    rows: int

    def add(self, outputs: Outputs, targets: npt.NDArray[np.generic], weights: Weights) -> None:
        """Count the rows of one batch: outputs [rows, outputs], targets and weights [rows]."""

    def gather(self, comm: Comm) -> None:
        """Count the rows that other ranks have counted, too: those of rank 0 come first."""

    def metrics(self) -> dict[str, float]:
        """Return the figures over all rows so far."""


def make_tally(objective: Objective) -> Tally:
    """Return an empty tally for the objective's task."""
    if objective.classes is None:
        return NumberTally() if objective.outputs == 1 else NumbersTally(objective.outputs)
    return ClassTally(objective)


def tally_bytes(objective: Objective, rows: int) -> Counter[str]:
    """Return the bytes for evaluating batches of ``rows`` rows, for a network and its baseline.

    A cell of the confusion matrix is a number in an array, one in a list, and text in the model.
    """
    count = len(objective.classes or ())
    cells = count * count if count <= CONFUSION_CLASSES.most else 0
    return Counter(
        {
            "counting right and wrong classes": 48 * cells,
            "probabilities of classes": 8 * 8 * rows * count,
        }
    )


class ClassTally:
    """Figures of a classification.

    ``confusion[i, j]`` counts rows (by weight) of class i that were taken for class j; None where
    it is not asked for, or has more classes than anybody reads.  Not ``ranked``: all rows have the
    same scores.
    """

    def __init__(self, objective: Objective, *, confused: bool = True, ranked: bool = True) -> None:
        assert objective.classes is not None
        count = len(objective.classes)
        self.rows = 0
        few = confused and count <= CONFUSION_CLASSES.most
        self._confusion = np.zeros((count, count)) if few else None
        self._objective, self._count = objective, count
        self._all, self._right = np.zeros(count), np.zeros(count)
        self._log_loss = self._wrong = 0.0
        self._scores = _Scores() if ranked and count == 2 else None
        self._held: list[tuple[Outputs, npt.NDArray[np.intp], Weights]] = []
        self._numbers = 0

    def add(self, outputs: Outputs, targets: npt.NDArray[np.generic], weights: Weights) -> None:
        """Count rows: outputs [rows, outputs], class codes ``targets`` and weights [rows]."""
        self.rows += len(targets)
        self._held.append((np.array(outputs, order="K"), targets.astype(np.intp), weights.copy()))
        self._numbers += outputs.size
        if self._numbers >= HELD_NUMBERS:
            self._tally()

    @property
    def confusion(self) -> npt.NDArray[np.float64] | None:
        """Return the confusion matrix [classes, classes] so far."""
        self._tally()
        return self._confusion

    def _tally(self) -> None:
        """Count the rows of several batches at once, with the sums that one after the other has."""
        if not self._held:
            return
        parts, self._held, self._numbers = self._held, [], 0
        outputs, codes, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
        answered = self._objective.predicted(outputs).astype(np.intp)
        np.add.at(self._all, codes, weights)
        np.add.at(self._right, codes, np.where(answered == codes, weights, 0.0))
        if self._confusion is not None:
            np.add.at(self._confusion, (codes, answered), weights)
        rows, ends = np.arange(len(codes)), np.cumsum([len(each) for _, each, _ in parts]).tolist()
        cuts = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        with np.errstate(all="ignore"):
            probabilities = self._objective.probabilities(outputs)
            right = np.log(np.maximum(probabilities[rows, codes], SMALLEST))
            for cut in cuts:
                self._log_loss -= float(np.dot(right[cut], weights[cut]))
            if self._count > 2:
                wrong = np.maximum(1 - probabilities, SMALLEST)
                wrong[rows, codes] = 1
                wrong = np.log(wrong).sum(axis=1)
                for cut in cuts:
                    self._wrong -= float(np.dot(wrong[cut], weights[cut]))
        if self._scores is not None:
            self._scores.add(probabilities[:, 1], codes == 1, weights)

    def gather(self, comm: Comm) -> None:
        """Add what other ranks have counted."""
        self._tally()
        numbers = np.array([self.rows, self._log_loss, self._wrong])
        counted = [] if self._confusion is None else [self._confusion]
        comm.all_reduce_(numbers, self._all, self._right, *counted)
        self.rows = int(numbers[0])
        self._log_loss, self._wrong = numbers[1:].tolist()
        if self._scores is not None:
            self._scores.gather(comm)

    def metrics(self) -> dict[str, float]:
        """Return accuracy, log_loss; auc for two classes that both occur, mean_error for more.

        ``mean_error`` is MeanErr of rxNeuralNet's log: the sum over the classes of the binary
        cross-entropies.
        """
        self._tally()
        total = float(self._all.sum())
        if not total:
            return {}
        result = {
            "accuracy": float(self._right.sum()) / total,
            "log_loss": self._log_loss / total,
        }
        if self._count > 2:
            result["mean_error"] = (self._log_loss + self._wrong) / total
        if self._count == 2 and self._all.all():
            area = 0.5 if self._scores is None else self._scores.area()
            if area is not None:
                result["auc"] = area
        return result


class _Scores:
    """The scores of true rows and of false ones, from which the area under the curve follows.

    Eight bytes for each row; weights are kept only where one is not 1.
    """

    def __init__(self) -> None:
        self._scores: dict[bool, GrowingMatrix[np.float64]] = {}
        self._weights: dict[bool, GrowingMatrix[np.float64]] = {}
        for truth in (False, True):
            self._scores[truth] = GrowingMatrix(1, np.float64)

    def add(
        self, scores: npt.NDArray[np.float64], truths: npt.NDArray[np.bool_], weights: Weights
    ) -> None:
        """Keep the scores of some rows."""
        if not self._weights and (weights != 1).any():
            for truth, known in self._scores.items():
                self._weights[truth] = GrowingMatrix(1, np.float64)
                self._weights[truth].append(np.ones((known.rows, 1)))
        for truth, known in self._scores.items():
            rows = truths == truth
            known.append(scores[rows, None])
            if self._weights:
                self._weights[truth].append(weights[rows, None])

    def gather(self, comm: Comm) -> None:
        """Keep the scores of all ranks."""
        parts = []
        for truth, known in self._scores.items():
            weights = self._weights[truth].joined()[:, 0] if self._weights else np.ones(known.rows)
            parts.append(
                [
                    np.concatenate([np.frombuffer(one) for one in comm.gather(own.tobytes())])
                    for own in (known.joined()[:, 0], weights)
                ]
            )
        self._weights.clear()
        for truth in self._scores:
            self._scores[truth] = GrowingMatrix(1, np.float64)
        for number, (scores, weights) in enumerate(parts):
            self.add(scores, np.full(len(scores), number == 1), weights)

    def area(self) -> float | None:
        """Return the area under the curve of all rows; see ``auc``."""
        wrong, right = (self._scores[truth].joined()[:, 0] for truth in (False, True))
        if not self._weights:
            return _counted_area(right, wrong)
        weights = [self._weights[truth].joined()[:, 0] for truth in (False, True)]
        truths = np.repeat([False, True], [len(wrong), len(right)])
        return auc(np.concatenate([wrong, right]), truths, np.concatenate(weights))


def _counted_area(right: npt.NDArray[np.float64], wrong: npt.NDArray[np.float64]) -> float | None:
    """Return the area of rows that all count 1: sums of whole numbers, so the same as ``auc``."""
    if not len(right) or not len(wrong):
        return None
    wrong.sort()
    twice = 0
    for cut in blocks(len(right), 1):
        for side in ("left", "right"):
            twice += int(np.searchsorted(wrong, right[cut], side=side).sum())
    return twice / 2 / (float(len(right)) * float(len(wrong)))


class NumberTally:
    """Figures of a regression.

    The spread of the numbers around their mean is kept up batch by batch (Chan, Golub and LeVeque
    1979), so that no row has to be remembered.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._errors = self._weight = self._mean = self._spread = 0.0
        self._least, self._most = np.inf, -np.inf

    def add(self, outputs: Outputs, targets: npt.NDArray[np.generic], weights: Weights) -> None:
        """Count rows: outputs [rows, 1], numbers ``targets`` and weights [rows]."""
        wanted = targets.astype(np.float64)
        self.rows += len(wanted)
        errors = outputs[:, 0].astype(np.float64) - wanted
        self._errors += float(np.dot(np.square(errors), weights))
        weight = float(weights.sum())
        if not weight:
            return
        mean = float(np.dot(wanted, weights)) / weight
        spread = float(np.dot(np.square(wanted - mean), weights))
        self._join(weight, mean, spread, float(wanted.min()), float(wanted.max()))

    def _join(self, weight: float, mean: float, spread: float, least: float, most: float) -> None:
        """Add the spread of rows around their mean."""
        shift, total = mean - self._mean, self._weight + weight
        self._spread += spread
        self._spread += shift * shift * self._weight * weight / total
        self._mean += shift * weight / total
        self._weight = total
        self._least, self._most = min(self._least, least), max(self._most, most)

    def gather(self, comm: Comm) -> None:
        """Join what other ranks have counted."""
        own = [self._weight, self._mean, self._spread, self._least, self._most]
        numbers = np.array([self.rows, self._errors, *own])
        gathered = [np.frombuffer(one).tolist() for one in comm.gather(numbers.tobytes())]
        self.__init__()  # type: ignore[misc]
        for rows, errors, weight, *others in gathered:
            self.rows += int(rows)
            self._errors += errors
            if weight:
                self._join(weight, *others)

    def metrics(self) -> dict[str, float]:
        """Return rmse and, where the numbers differ, r2 (1 is perfect, 0 is the mean)."""
        if not self._weight:
            return {}
        result = {"rmse": float(np.sqrt(self._errors / self._weight))}
        if self._least < self._most and self._spread > 0:
            result["r2"] = 1 - self._errors / self._spread
        return result


class NumbersTally:
    """Figures of a regression of several numbers: each is counted for itself."""

    def __init__(self, numbers: int) -> None:
        self.rows = 0
        self._tallies = [NumberTally() for _ in range(numbers)]

    def add(self, outputs: Outputs, targets: npt.NDArray[np.generic], weights: Weights) -> None:
        """Count rows with numbers ``targets`` [rows, numbers]."""
        self.rows += len(targets)
        for place, tally in enumerate(self._tallies):
            tally.add(outputs[:, place : place + 1], targets[:, place], weights)

    def gather(self, comm: Comm) -> None:
        """Join what other ranks have counted."""
        for tally in self._tallies:
            tally.gather(comm)
        self.rows = self._tallies[0].rows

    def metrics(self) -> dict[str, float]:
        """Return rmse over all numbers, and the mean of their r2 where each has one."""
        parts = [tally.metrics() for tally in self._tallies]
        if not all(parts):
            return {}
        result = {"rmse": float(np.sqrt(np.mean([part["rmse"] ** 2 for part in parts])))}
        if all("r2" in part for part in parts):
            result["r2"] = float(np.mean([part["r2"] for part in parts]))
        return result


def auc(
    scores: npt.NDArray[np.float64],
    truths: npt.NDArray[np.bool_],
    weights: Weights | None = None,
) -> float | None:
    """Return the area under the ROC curve: the probability that a true row scores above a false one
    (Fawcett, 2006).

    ``scores`` and ``truths`` are [rows]. Equal scores count half. None where all rows are of one
    kind.
    """
    if weights is None:
        weights = np.ones(len(scores))
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    right = np.where(truths[order], weights[order], 0.0)
    wrong = np.where(truths[order], 0.0, weights[order])
    starts = np.flatnonzero(np.diff(ordered, prepend=-np.inf))
    right_groups = np.add.reduceat(right, starts)
    wrong_groups = np.add.reduceat(wrong, starts)
    below = np.cumsum(wrong_groups) - wrong_groups
    pairs = float(right.sum()) * float(wrong.sum())
    if not pairs:
        return None
    return float(np.dot(right_groups, below + wrong_groups / 2)) / pairs


def trivial_answer(
    objective: Objective, parts: Iterable[tuple[npt.NDArray[np.generic], Weights]]
) -> tuple[float, ...]:
    """Return the average of training rows: the share of each class, or the mean of each number.

    ``parts`` are the targets of some rows and their weights [rows].
    """
    counted = np.zeros(objective.outputs if objective.classes is None else len(objective.classes))
    weight = 0.0
    for targets, own in parts:
        if objective.classes is None:
            columns = targets.astype(np.float64).reshape(len(targets), -1)
            counted += (columns * own[:, None]).sum(axis=0)
        else:
            counted += np.bincount(targets.astype(np.intp), own, len(objective.classes))
        weight += float(own.sum())
    return tuple((counted / (weight if objective.classes is None else counted.sum())).tolist())


class BaselineTally:
    """The figures of always giving one trivial answer.

    For classes that is the most frequent one, with the frequencies as probabilities.
    """

    def __init__(self, objective: Objective, answer: tuple[float, ...]) -> None:
        self._answer = np.array([answer])
        if objective.classes is not None:
            objective = Objective(objective.classes, len(answer), "softmax", "cross entropy")
            self._tally: Tally = ClassTally(objective, confused=False, ranked=False)
        else:
            self._tally = make_tally(objective)
        self.rows = 0

    def add(self, outputs: Outputs, targets: npt.NDArray[np.generic], weights: Weights) -> None:
        """Count rows; the network's outputs do not matter. Targets and weights are [rows]."""
        self.rows += len(targets)
        self._tally.add(np.repeat(self._answer, len(targets), axis=0), targets, weights)

    def gather(self, comm: Comm) -> None:
        """Count the rows of other ranks."""
        self._tally.gather(comm)
        self.rows = self._tally.rows

    def metrics(self) -> dict[str, float]:
        """Return the same figures as the network's."""
        return self._tally.metrics()
