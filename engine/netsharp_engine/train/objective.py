"""The meaning of a network's outputs for a task: the loss, the classes, the probabilities.

It knows graphs only by their output, and must not know Net# and files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.answers import Predictions
from netsharp_engine.data.scaling import TargetScale
from netsharp_engine.graph import Graph
from netsharp_engine.ops.criteria import FUSES
from netsharp_engine.train.failures import TrainingError
from netsharp_engine.train.settings import TrainingSettings

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

Outputs = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Objective:
    """A task with a number of outputs and the activation they pass through.

    ``loss`` is the operation that is minimised; ``classes`` is None for regression, whose outputs
    are in the units of ``scale`` where there is one.
    """

    classes: tuple[str, ...] | None
    outputs: int
    activation: str
    loss: str
    scale: TargetScale | None = None

    def scaled(self, targets: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return targets [rows] or [rows, numbers] in the units in which the network learns
        them.
        """
        return targets if self.scale is None else self.scale.scaled(targets)

    def unscaled(self, outputs: Outputs) -> Outputs:
        """Return outputs [rows, outputs] in the units of the label."""
        return outputs if self.scale is None else self.scale.unscaled(outputs)

    def with_criteria(self, graph: Graph, *, counting: bool = False) -> Graph:
        """Return the graph with its loss as a node and, ``counting``, for classes the right
        answers.
        """
        counted = ["right answers"] if counting and self.classes is not None else []
        return graph.with_criteria(self.loss, *counted)

    def predicted(self, outputs: Outputs) -> npt.NDArray[np.intp] | npt.NDArray[np.float64]:
        """Return, for each row, the index of the class (the first of equal ones), the number, or
        the numbers [rows, outputs] where there are several.
        """
        if self.classes is None:
            found = self.unscaled(outputs).astype(np.float64)
            return found[:, 0] if self.outputs == 1 else found
        if self.outputs == 1:
            return (outputs[:, 0] > 0.5).astype(np.intp)
        return np.asarray(np.argmax(outputs, axis=1))

    def decided(self, outputs: Outputs) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Return per row the index of the class, -1 where an output is NaN, and the probabilities
        [rows, classes].
        """
        rows, count = outputs.shape
        codes, shares = np.empty(rows, np.intp), np.empty((rows, max(count, 2)))
        self.decide(np.ascontiguousarray(outputs), codes, shares)
        return codes, shares

    def decide(
        self, outputs: Outputs, codes: npt.NDArray[np.intp], shares: npt.NDArray[np.float64]
    ) -> bool:
        """Write what ``decided`` returns of contiguous outputs [rows, outputs] to ``codes`` [rows]
        and ``shares`` [rows, classes]; return whether all rows have an answer.
        """
        if twins is None:
            codes[:], shares[:] = self.codes(outputs), self.probabilities(outputs)
            return not (codes < 0).any()
        count = outputs.shape[1]
        meaning = 0 if count == 1 else 1 if self.activation == "softmax" else 2
        return twins.answered(outputs.itemsize, count, meaning, outputs, codes, shares)

    def probabilities(self, outputs: Outputs) -> npt.NDArray[np.float64]:
        """Return probabilities [rows, classes] that sum to 1.

        A single output p gives (1 - p, p). Several outputs that are not a softmax are clipped to
        [0, 1] and divided by their sum, even shares where all are 0.
        """
        assert self.classes is not None
        values = outputs.astype(np.float64)
        if self.outputs == 1:
            right = np.clip(values[:, 0], 0, 1)
            return np.stack([1 - right, right], axis=1)
        if self.activation == "softmax":
            return np.asarray(values / values.sum(axis=1, keepdims=True))
        values = np.clip(values, 0, 1)
        total = values.sum(axis=1, keepdims=True)
        shares = np.full_like(values, 1 / self.outputs)
        np.divide(values, total, out=shares, where=total > 0)
        return shares

    def codes(self, outputs: Outputs) -> npt.NDArray[np.intp]:
        """Return the class of each row [rows], -1 for one that has no answer."""
        found = self.predicted(outputs).astype(np.intp)
        return np.where(np.isnan(outputs).any(axis=1), -1, found)

    def answers(self, outputs: Outputs, kept: tuple[Sequence[str], ...] = ()) -> Predictions:
        """Return the predictions of outputs [rows, outputs], classes by their names; ``kept`` is
        passed on.
        """
        if self.classes is None:
            return Predictions(self.predicted(outputs).astype(np.float64), None, kept)
        names = (*self.classes, None)
        codes, probabilities = self.decided(outputs)
        return Predictions([names[code] for code in codes.tolist()], probabilities, kept)


def output_activation(graph: Graph) -> str:
    """Return the activation of the graph's output; ``linear`` without one."""
    node = graph.output
    if node is not None and node.op == "activation":
        return str(node.attributes["function"])
    return "linear"


def label_is_scaled(graph: Graph, settings: TrainingSettings) -> bool:
    """Return whether numbers to predict are learned in units of their own: those of linear
    outputs.
    """
    return settings.scale_label and output_activation(graph) == "linear"


def choose_objective(
    graph: Graph,
    classes: tuple[str, ...] | None,
    loss: str = "auto",
    numbers: int = 1,
    scale: TargetScale | None = None,
) -> Objective:
    """Return the objective of a task for this graph; raises TrainingError where they do not fit.

    ``numbers`` is how many a regression predicts; ``scale`` their units, where outputs are linear:
    other outputs have a range of their own. ``loss`` ``auto`` takes cross-entropy for classes with
    a softmax or sigmoid output, the squared error otherwise.
    """
    assert graph.output is not None
    outputs, activation = graph.output.size, output_activation(graph)
    _check_outputs(classes, outputs, activation, numbers)
    if classes is None or loss == "squared":
        units = scale if classes is None and activation == "linear" else None
        return Objective(classes, outputs, activation, "squared error", units)
    entropies = {activation: criterion for criterion, activation in FUSES.items()}
    entropy = entropies.get(activation)
    if entropy is None and loss == "cross-entropy":
        raise TrainingError(
            f'loss = "cross-entropy" needs a softmax or sigmoid output; this one is {activation}. '
            'Change the output\'s activation, or set loss = "squared".'
        )
    return Objective(classes, outputs, activation, entropy or "squared error")


def _check_outputs(
    classes: tuple[str, ...] | None, outputs: int, activation: str, numbers: int
) -> None:
    if classes is None:
        if outputs != numbers:
            what = "one number" if numbers == 1 else f"{numbers} numbers"
            raise TrainingError(
                f"Regression predicts {what}; the output layer has {outputs} nodes. "
                f"Give it the size [{numbers}], or set the task to classification."
            )
        return
    count = len(classes)
    if count < 2:
        only = f" '{classes[0]}'" if classes else ""
        raise TrainingError(
            f"All rows have the same class{only}. Two classes are needed to train a classifier; "
            'is it the right label column? For numbers set task = "regression".'
        )
    if outputs == count or (outputs == 1 and count == 2 and activation != "softmax"):
        return
    if outputs == 1 and count == 2:
        raise TrainingError(
            "A softmax over one node always answers 1, so the output layer cannot tell two classes "
            "apart. Write sigmoid in its place, or give it the size [2]."
        )
    allowed = "2 (or 1)" if count == 2 else str(count)
    raise TrainingError(
        f"The labels have {count} classes, so {allowed} outputs are needed; the output layer has "
        f"{outputs}. Change its size, or use auto."
        + (' For numbers to predict set task = "regression".' if count > 20 else "")
    )
