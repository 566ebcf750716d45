"""The finding that a network is no better than always answering the same, and its likely cause.

The causes are examined in an order: one that explains the others comes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.graph import Graph
from netsharp_engine.train.diagnosis import LARGE_FEATURE, LARGE_TARGET
from netsharp_engine.train.examining.layers import LayerFigures, some_rows
from netsharp_engine.train.objective import label_is_scaled
from netsharp_engine.train.preparation import Part
from netsharp_engine.train.report import PERCENT, Report
from netsharp_engine.train.settings import TrainingSettings

#: A figure that is an error must be smaller than the baseline's by this part to be better.
BETTER = 0.01
#: A loss that fell by less than this part has hardly fallen.
HARDLY = 0.02
#: Layers whose answers differ by less between rows (root mean square) give the next one no
#: information.
SMALL_SPREAD = 0.01


class Evidence(NamedTuple):
    """The facts about a run that has ended."""

    graph: Graph
    settings: TrainingSettings
    part: Part
    history: Sequence[dict[str, Any]]
    rate: float
    reports: Sequence[Report]
    layers: Sequence[LayerFigures]


def is_no_better(report: Report) -> bool:
    """Return whether a report has no figure that is better than the baseline's.

    For classes neither the accuracy nor, by 1 %, the logarithmic loss; for numbers not the error,
    by 1 %. False where there is nothing to learn: one class, or equal numbers.
    """
    metrics, baseline = report.metrics, report.baseline
    if report.classes is not None:
        if not {"accuracy", "log_loss"} <= metrics.keys() & baseline.keys():
            return False
        if baseline["accuracy"] >= 1:
            return False
        return metrics["accuracy"] <= baseline["accuracy"] and not (
            metrics["log_loss"] < (1 - BETTER) * baseline["log_loss"]
        )
    if not baseline.get("rmse") or "rmse" not in metrics:
        return False
    return not metrics["rmse"] < (1 - BETTER) * baseline["rmse"]


def explain_trivial(evidence: Evidence) -> str:
    """Return sentences on a network that learned nothing: the finding, its cause, and what to
    try.
    """
    report = evidence.reports[-1]
    name = "rmse" if report.classes is None else "accuracy"
    answer = "the mean" if report.classes is None else "the most frequent class"
    values = _shown(name, report.metrics[name]), _shown(name, report.baseline[name])
    label = "RMSE" if name == "rmse" else name
    reason = next(reason for find in REASONS for reason in find(evidence))
    return (
        f"On {report.part} rows the network is no better than always answering {answer} "
        f"({label} {values[0]}, {values[1]}). {reason}"
    )


def _shown(name: str, value: float) -> str:
    return f"{value:.2%}" if name in PERCENT else f"{value:.4g}"


def _memorised(evidence: Evidence) -> Iterator[str]:
    first = evidence.reports[0]
    if len(evidence.reports) > 1 and not is_no_better(first):
        yield (
            "On training rows it is: it has memorised these. Try dropout = 0.5, fewer "
            "nodes, or more rows."
        )


def _unscaled(evidence: Evidence) -> Iterator[str]:
    some = evidence.part.matrix[some_rows(evidence.part)]
    largest = float(np.abs(some).max()) if some.size else 0.0
    if evidence.settings.normalizer == "none" and largest > LARGE_FEATURE:
        yield (
            f"Scaling: the features reach {largest:g} and are not normalised. Try "
            'normalizer = "gaussian".'
        )


def _flat(evidence: Evidence) -> Iterator[str]:
    for layer in evidence.layers:
        if layer.dead == layer.nodes:
            yield (
                f"Layer '{layer.name}' has no gradient: all {layer.nodes:,} nodes are where "
                f"{layer.function} is flat, in every row, so a step was too large. Try "
                f"learning_rate = {evidence.rate / 10:g}."
            )
        if layer.saturated == layer.nodes:
            yield (
                f"All {layer.nodes:,} nodes of layer '{layer.name}' are saturated: its sums are "
                "too large. Try a smaller init_diameter or learning_rate, or another normalizer."
            )


def _risen(evidence: Evidence) -> Iterator[str]:
    first, last = _losses(evidence)
    if last > first * (1 + HARDLY) or not math.isfinite(last):
        yield (
            f"Rate: the loss has risen from {first:.4g} to {last:.4g}, so the steps are too large. "
            f"Try learning_rate = {evidence.rate / 10:g}."
        )


def _large_label(evidence: Evidence) -> Iterator[str]:
    settings = evidence.settings
    if not settings.regression or label_is_scaled(evidence.graph, settings):
        return
    targets = np.abs(evidence.part.targets[some_rows(evidence.part)].astype(np.float64))
    largest = float(targets.max())
    if largest > LARGE_TARGET:
        yield (
            f"Scaling: the label reaches {largest:g}, and weights that small steps change do not "
            "get there. Divide the label so that it lies between -1 and 1."
        )


def _alike(evidence: Evidence) -> Iterator[str]:
    first, last = _losses(evidence)
    if last < first * (1 - HARDLY):
        return
    for layer in evidence.layers:
        if layer.spread < SMALL_SPREAD and len(evidence.layers) > 1:
            settings = evidence.settings
            change = "tanh or rlinear in its place"
            if settings.host is not None:
                change = f"init_diameter = {10 * settings.init_diameter:g}"
            elif settings.init == "uniform":
                change = 'init = "glorot"'
            yield (
                f"Initial values: what layer '{layer.name}' answers hardly differs between rows "
                f"(by {layer.spread:.2g}), so the layers after it learn nothing. Try {change}, or "
                "fewer layers."
            )


def _loss_is_flat(evidence: Evidence) -> Iterator[str]:
    first, last = _losses(evidence)
    if last > first * (1 - HARDLY):
        epochs = len(evidence.history)
        rate = 0.0 if evidence.settings.optimizer == "adadelta" else evidence.rate
        change = f"learning_rate = {10 * rate:g}, or more epochs" if rate else "more epochs"
        yield (
            f"Rate: in {epochs:,} epoch{'s' * (epochs > 1)} the loss hardly fell, from {first:.4g} "
            f"to {last:.4g}. Try {change}; where that does not help, the features may say nothing "
            "about the label."
        )


def _still_falling(evidence: Evidence) -> Iterator[str]:
    first, last = _losses(evidence)
    yield (
        f"Rate: the loss has fallen from {first:.4g} to {last:.4g}, which is not enough yet. Try "
        "more epochs or a larger learning_rate; where that does not help, a larger network."
    )


def _losses(evidence: Evidence) -> tuple[float, float]:
    """Return the mean loss of the first epoch and that of the whole network now."""
    first = evidence.history[0].get("loss") if evidence.history else None
    last = evidence.reports[0].loss
    return (math.inf if first is None else first), (math.nan if last is None else last)


#: In the order in which they are asked; the last one always has an answer.
REASONS: tuple[Callable[[Evidence], Iterator[str]], ...] = (
    _memorised,
    _unscaled,
    _large_label,
    _flat,
    _risen,
    _alike,
    _loss_is_flat,
    _still_falling,
)
