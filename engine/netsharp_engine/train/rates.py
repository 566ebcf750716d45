"""The update rule of the settings, and the fall of its rate from epoch to epoch. It must not know
back ends.
"""

from __future__ import annotations

import math

from netsharp_engine.program import Shaping, UpdateRule
from netsharp_engine.train.settings import TrainingSettings


def rule_of(settings: TrainingSettings) -> UpdateRule:
    """Return the rule at the beginning of a run."""
    kind, constants = "momentum" if settings.momentum else "sgd", {}
    decay = settings.weight_decay
    if settings.optimizer == "adadelta":
        # AdaDelta has no rate by which weights could decay.
        kind, decay = "adadelta", 0.0
        constants = {"decay": settings.adadelta_decay, "constant": settings.adadelta_constant}
    elif settings.optimizer == "adam":
        kind = "adam"
        constants = {
            "beta1": settings.adam_beta1,
            "beta2": settings.adam_beta2,
            "epsilon": settings.adam_epsilon,
        }
    return UpdateRule(
        kind,
        settings.learning_rate,
        settings.momentum,
        settings.nesterov,
        decay,
        settings.max_norm,
        constants,
        Shaping(limit=settings.clip_value or math.inf, total=settings.clip_norm or math.inf),
    )


def reduced_rate(
    rate: float, settings: TrainingSettings, epoch: int, loss: float, previous: float | None
) -> float:
    """Return the rate after ``epoch`` (from 1) with this mean training loss.

    It is multiplied by rate_reduction_ratio every rate_reduction_frequency epochs, and when the
    loss does not fall by at least rate_reduction_error_ratio of the previous one (0: rises).
    """
    due = epoch % settings.rate_reduction_frequency == 0
    ratio = settings.rate_reduction_error_ratio
    stalled = previous is not None and loss > previous * (1 - ratio)
    return rate * settings.rate_reduction_ratio if due or stalled else rate
