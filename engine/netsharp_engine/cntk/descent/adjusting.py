"""The adjustment of learning rates during training: the decisions of AutoAdjust after every epoch
(SGDLib/SGD.cpp, TrainOrAdaptModel).

It decides on numbers alone; its caller loads, trains and saves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

#: When a rate is sought.
NEVER, BEFORE, AFTER = "never", "before", "after"
#: Whether a rate was made smaller or larger.
REDUCED, INCREASED = "reduced", "increased"


class Sizes(NamedTuple):
    """The sizes of minibatches that are tried: up to the ``largest``, every ``frequency`` epochs,
    as long as the criterion is worse by at most a ``margin`` in percent.
    """

    largest: int = 1_048_576  # CNTK, SGDLib/SGD.cpp, minibatchSizeTuningMax
    frequency: int = 1
    margin: float = 1.0


class Adjusting(NamedTuple):
    """The settings of AutoAdjust; gains are relative, ``interval`` counts epochs.

    Epochs are compared by the node ``criterion`` (empty: the training criterion), on the validation
    data if ``validated`` and there is some.
    """

    when: str = NEVER
    interval: int = 1
    reduce_up_to: float = 0.0
    decrease: float = 0.618  # CNTK, SGDLib/SGD.cpp, learnRateDecreaseFactor
    increase_above: float = math.inf
    increase: float = 1.382  # CNTK, SGDLib/SGD.cpp, learnRateIncreaseFactor
    goes_on_reducing: bool = False
    goes_back: bool = True
    validated: bool = True
    criterion: str = ""
    #: Before an epoch: the number of former rates to begin from, and of epochs in which smaller
    #: ones are searched, too, and the samples of a trial.
    former: int = 5
    sided: int = 1
    samples: Sequence[int] = (0,)
    #: How sizes of minibatches are looked for; None: they are not.
    sizes: Sizes | None = None

    @property
    def learns(self) -> bool:
        """Return whether epochs pass on more than CNTK's checkpoint holds."""
        return self.when != NEVER or self.sizes is not None


class Control(NamedTuple):
    """The values carried from epoch to epoch: the rate of the next epoch that has none of its own,
    the ``previous`` interval's criterion and the ``mean`` of this one, in which ``uncounted``
    epochs are missing; whether a rate was ``reduced`` before; and samples of a minibatch. Of
    searches: the ``factor`` by which the last one changed the rate, and the ``former`` rates, each
    at its epoch modulo their number (-1: none).
    """

    rate: float = math.nan
    previous: float = math.inf
    mean: float = math.inf
    uncounted: int = 0
    reduced: bool = False
    minibatch: int = 0
    factor: float = 1.0
    former: tuple[float, ...] = ()

    def found(self, epoch: int, rate: float, places: int) -> Control:
        """Return a copy with the rate that a search before an epoch (from 0) found."""
        known = 0.5 / max(self.minibatch, 1) if math.isnan(self.rate) else self.rate
        former = list(self.former or (-1.0,) * places)
        former[epoch % places] = rate
        return self._replace(rate=rate, factor=rate / known, former=tuple(former))


class Verdict(NamedTuple):
    """The consequence of an epoch: the ``change`` of the rate, and whether training ends."""

    control: Control
    change: str = ""
    ends: bool = False


def is_due(adjusting: Adjusting, epoch: int, explicit: int) -> bool:
    """Return whether a rate is adjusted after an epoch (from 0); epochs with explicit rates keep
    them.
    """
    ends_interval = epoch % adjusting.interval == adjusting.interval - 1
    return adjusting.when == AFTER and epoch >= explicit and ends_interval


def counted(adjusting: Adjusting, control: Control, epoch: int, criterion: float) -> Control:
    """Return a copy with an epoch's criterion in the mean of its interval."""
    before = epoch % adjusting.interval - control.uncounted
    mean = criterion
    if before > 0 and not math.isinf(control.mean):
        mean = (before * control.mean + criterion) / (before + 1)
    return control._replace(mean=mean)


def is_worse(control: Control) -> bool:
    """Return whether an interval is worse than the one before."""
    return math.isnan(control.mean) or (
        not math.isinf(control.previous) and control.previous - control.mean < 0
    )


def decide(adjusting: Adjusting, control: Control) -> Verdict:
    """Return the consequence of an interval for the rate: reduced, increased, unchanged, or the
    end.
    """
    known = not math.isinf(control.previous)
    gain, previous = control.previous - control.mean, control.previous
    little = math.isnan(control.mean) or (known and gain <= adjusting.reduce_up_to * previous)
    if adjusting.goes_on_reducing:
        if little and control.reduced:
            return Verdict(control, ends=True)
        reduced = control.reduced or little
        return _times(adjusting.decrease, REDUCED, control._replace(reduced=reduced), reduced)
    if little:
        return _times(adjusting.decrease, REDUCED, control)
    much = known and gain > adjusting.increase_above * previous
    return _times(adjusting.increase, INCREASED, control, much)


def closed(adjusting: Adjusting, control: Control, epoch: int) -> Control:
    """Return a copy with this interval's criterion as the previous one, where an epoch ends it."""
    if epoch % adjusting.interval != adjusting.interval - 1:
        return control
    return control._replace(previous=control.mean, uncounted=0)


def _times(factor: float, change: str, control: Control, holds: bool = True) -> Verdict:
    if not holds:
        return Verdict(control)
    return Verdict(control._replace(rate=control.rate * factor), change)


def as_numbers(control: Control) -> Sequence[float]:
    """Return the values as a list of numbers."""
    *numbers, former = control
    return [*map(float, numbers), *former]


def from_numbers(numbers: Sequence[float], places: int) -> Control:
    """Return the values from such a list, with ``places`` former rates or none. ValueError for
    other lists.
    """
    least = len(Control._fields) - 1
    if len(numbers) < least:
        raise ValueError(f"its rate has {len(numbers)} numbers, and {least} or more are needed")
    rate, previous, mean, uncounted, reduced, minibatch, factor, *former = numbers
    counts = (uncounted, minibatch)
    if not all(math.isfinite(one) and one >= 0 for one in counts) or len(former) not in (0, places):
        raise ValueError("its counts are none")
    whole = map(int, counts)
    return Control(
        rate, previous, mean, next(whole), bool(reduced), next(whole), factor, tuple(former)
    )
