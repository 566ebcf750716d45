"""Says why a run stopped at a number that is not finite: layer, step, rate, one change to try."""

from __future__ import annotations

import numpy as np

from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import Plan

from .optimizers import Vector
from .preparation import Part
from .settings import Settings

LARGE_FEATURE = 50.0
LARGE_TARGET = 1000.0


def layer_of_values(graph: Graph, plan: Plan) -> str:
    """The first layer, in the order of computation, with a value that is not finite."""
    for node in graph.nodes:
        if not node.name:
            continue
        try:
            values = plan.layer(node.name)
        except KeyError:
            continue  # the output does not depend on this node
        if not np.isfinite(values).all():
            return node.name
    return graph.output.name if graph.output is not None else ""


def layer_of_vector(plan: Plan, vector: Vector) -> str:
    """The layer of the first parameter with a number in ``vector`` that is not finite."""
    for name, values in plan.store(vector).items():
        if not np.isfinite(values).all():
            return name.split("/", 1)[0]
    return ""


def explain(what: str, layer: str, step: int, rate: float, change: str) -> str:
    """The sentence for people."""
    where = f" in layer '{layer}'" if layer else ""
    return (
        f"Training stopped at step {step:,}: the {what}{where} is no longer a finite number "
        f"(learning rate {rate:g}). The state before that step is kept. {change}"
    )


def propose(settings: Settings, part: Part, rate: float) -> str:
    """One change that is likely to help."""
    some = part.matrix[part.index[:4096]]
    largest = float(np.abs(some).max()) if some.size else 0.0
    if settings.normalizer == "none" and largest > LARGE_FEATURE:
        return f'The features reach {largest:g} and are not normalised: try normalizer = "minmax".'
    if settings.optimizer == "adadelta":
        return "Try max_norm = 4."
    if settings.regression:
        targets = np.abs(part.targets[part.index[:4096]].astype(np.float64))
        if float(targets.max()) > LARGE_TARGET:
            return (
                f"The label reaches {float(targets.max()):g}, which makes steps large: "
                f"try learning_rate = {rate / 1000:g}."
            )
    return f"Try learning_rate = {rate / 10:g}."
