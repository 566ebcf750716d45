"""Learning rates that fall from epoch to epoch: one row for each schedule.

Rates are those of `torch.optim.lr_scheduler` (StepLR, CosineAnnealingLR, ReduceLROnPlateau with its
defaults), except for the floor, which holds for all. A schedule's memory is in the state of the
run; nothing else is known here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from netsharp_engine.train.settings import TrainingSettings
from netsharp_engine.train.state import TrainingState

#: A loss is better where it is lower by this share of the best one (ReduceLROnPlateau's default).
BETTER = 1e-4


def _constant(settings: TrainingSettings, state: TrainingState, loss: float | None) -> float:
    return state.rate


def _step(settings: TrainingSettings, state: TrainingState, loss: float | None) -> float:
    """Return ``rate * factor ** (epoch // epochs)``."""
    falls = state.epoch // _epochs(settings)
    return settings.learning_rate * settings.schedule_factor**falls


def _cosine(settings: TrainingSettings, state: TrainingState, loss: float | None) -> float:
    """Return a rate that falls along half a cosine to its floor, which holds from there on
    (Loshchilov and Hutter 2017, without restarts).
    """
    part = min(state.epoch / _epochs(settings), 1.0)
    least = settings.schedule_least
    return least + (settings.learning_rate - least) * (1 + math.cos(math.pi * part)) / 2


def _plateau(settings: TrainingSettings, state: TrainingState, loss: float | None) -> float:
    """Return the rate times the factor, where more than ``schedule_epochs`` epochs in a row had no
    better loss.
    """
    best = state.plateau_loss
    if loss is None or not math.isfinite(loss):
        return state.rate
    if best is None or loss < best - abs(best) * BETTER:
        state.plateau_loss, state.plateau_epochs = loss, 0
        return state.rate
    state.plateau_epochs += 1
    if state.plateau_epochs <= _epochs(settings):
        return state.rate
    state.plateau_epochs = 0
    return state.rate * settings.schedule_factor


#: By the names of the setting ``schedule``.
SCHEDULES: Mapping[str, Callable[[TrainingSettings, TrainingState, float | None], float]] = {
    "constant": _constant,
    "step": _step,
    "cosine": _cosine,
    "plateau": _plateau,
}


def scheduled_rate(settings: TrainingSettings, state: TrainingState, loss: float | None) -> float:
    """Return the rate of the epoch after ``state.epoch`` finished ones, and remember the loss.

    ``loss`` is that of validation rows if there are any, else of training rows; None where no row
    counts.  The rate never falls below ``schedule_least``.
    """
    rate = SCHEDULES[settings.schedule](settings, state, loss)
    return rate if settings.schedule == "constant" else max(rate, settings.schedule_least)


def vanishing(settings: TrainingSettings) -> str:
    """Return why epochs at the end of a run would change nothing; empty where none would.

    A cosine falls to its floor, by default 0, within ``schedule_epochs``.
    """
    if settings.schedule != "cosine" or settings.schedule_least:
        return ""
    reached = _epochs(settings)
    if settings.epochs <= reached:
        return ""
    return (
        f'With schedule = "cosine" the learning rate is 0 after epoch {reached}, and '
        f"{settings.epochs} epochs are asked for: the others would change nothing. Train with "
        "schedule_epochs as large as all epochs together, or with schedule_least above 0."
    )


def _epochs(settings: TrainingSettings) -> int:
    assert settings.schedule_epochs is not None
    return settings.schedule_epochs
