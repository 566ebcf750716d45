"""The explanation of a run that stopped at a number that is not finite: layer, step, rate, one
change to try. It must not know back ends.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netsharp_engine.graph import Parameter
from netsharp_engine.program import Fault
from netsharp_engine.train.preparation import Part
from netsharp_engine.train.settings import TrainingSettings

#: Values from which features and targets are named as the likely cause of a divergence: gradients
#: are proportional to them.
LARGE_FEATURE = 50.0
LARGE_TARGET = 1000.0
#: Rows that are searched for them: enough to see the magnitude of a column, and read at once.
SOME_ROWS = 4096


def layer_of(fault: Fault) -> str:
    """Return the layer in which a fault is, empty where it is unknown."""
    if isinstance(fault.place, Parameter):
        return fault.place.name.partition("/")[0]
    return "" if fault.place is None else fault.place.name


def explain(
    fault: Fault, earliest: Callable[[str], str], step: int, rate: float, change: str
) -> str:
    """Return the sentence for people about a fault; ``earliest`` gives the first layer in which any
    process found it.
    """
    layer = earliest(layer_of(fault))
    where = f" in layer '{layer}'" if layer else ""
    return (
        f"Training stopped at step {step:,}: the {fault.what}{where} is no longer a finite number "
        f"(learning rate {rate:g}). The state before that step is kept. {change}"
    )


def propose(settings: TrainingSettings, part: Part, rate: float, *, scaled: bool = False) -> str:
    """Return one change that is likely to help; ``scaled``: the label is learned in other units."""
    some = part.matrix[part.index[:SOME_ROWS]]
    largest = float(np.abs(some).max()) if some.size else 0.0
    if settings.normalizer == "none" and largest > LARGE_FEATURE:
        return f'The features reach {largest:g} and are not normalised: try normalizer = "minmax".'
    if settings.optimizer == "adadelta":
        return "Try max_norm = 4."
    if settings.regression and not scaled:
        targets = np.abs(part.targets[part.index[:SOME_ROWS]].astype(np.float64))
        if float(targets.max()) > LARGE_TARGET:
            return (
                f"The label reaches {float(targets.max()):g}, which makes steps large: "
                f"try learning_rate = {rate / 1000:g}."
            )
    return f"Try learning_rate = {rate / 10:g}."
