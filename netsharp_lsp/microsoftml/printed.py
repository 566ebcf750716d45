"""The lines that MicrosoftML and microsoftml print of a training, from its facts and events.

The form is that of the logs in their reference; nothing is measured here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RULE = "_" * 67
#: Names of output activations in the log, where they are not only capitalised.
FUNCTIONS = {"softmax": "SoftMax", "rlinear": "RectifiedLinear"}
LOSSES = {"cross-entropy": "LogLoss", "squared": "SquaredLoss"}


class PrintedFacts(NamedTuple):
    """The lines of a log before the first iteration; `rule` are those on the optimiser."""

    definition: Sequence[str]
    inputs: int
    outputs: int
    function: str
    loss: str
    rule: Sequence[str]
    hidden: int


def opening_lines(facts: PrintedFacts) -> list[str]:
    """Return the lines above those of the iterations, without the measurements of a start."""
    function = FUNCTIONS.get(facts.function, facts.function.capitalize())
    return [
        "***** Net definition *****",
        *facts.definition,
        "***** End net definition *****",
        f"Input count: {facts.inputs}",
        f"Output count: {facts.outputs}",
        f"Output Function: {function}",
        f"Loss Function: {LOSSES[facts.loss]}",
        "PreTrainer: NoPreTrainer",
        RULE,
        "Starting training...",
        *facts.rule,
        RULE,
    ]


def mean_error(figures: Mapping[str, float]) -> float:
    """Return the log's MeanErr: for more than two classes the sum of the outputs' binary
    cross-entropies, for a regression the mean squared error, else the loss.
    """
    if "mean_error" in figures:
        return figures["mean_error"]
    return figures["rmse"] ** 2 if "rmse" in figures else figures["loss"]


def start_lines(hidden: int, weights: int | None, error: float) -> list[str]:
    """Return the lines on the network before the first iteration of a run; ``weights`` is None
    where these are not initialised but continue an earlier run.
    """
    first = (
        [] if weights is None else [f"Initializing {hidden} Hidden Layers, {weights} Weights..."]
    )
    return [*first, f"Estimated Pre-training MeanError = {error:.6f}"]


def iteration_line(
    iteration: int, iterations: int, error: float, before: float, updates: float | None
) -> str:
    """Return the line of an iteration; ``updates``: of weights, in a second."""
    change = f"{(error - before) / before:.2%}" if before else "0.00%"
    pace = "" if updates is None else f", {updates / 1e6:.2f}M WeightUpdates/sec"
    return f"Iter:{iteration}/{iterations}, MeanErr={error:.6f}({change}){pace}"


def end_lines(error: float, *, done: bool) -> list[str]:
    """Return the lines after the last iteration; ``done``: it came to its end."""
    return [*["Done!"] * done, f"Estimated Post-training MeanError = {error:.6f}", RULE]
