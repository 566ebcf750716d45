"""Learning rate, momentum and minibatch size of every epoch, rounded where CNTK rounds.

Source: CNTK, SGDLib/SGD.h, GetLearningRatePerSample and GetMomentumPerSample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from netsharp_engine.cntk.generators import MinimalStandard
from netsharp_engine.phases import Draws, Phase

#: Units of learning rates.
PER_SAMPLE, PER_MINIBATCH = "sample", "minibatch"
#: The further unit of momentum: over how many samples a step fades.
TIME_CONSTANT = "time constant"

Value = TypeVar("Value")


class Schedule(NamedTuple):
    """The settings that change from epoch to epoch: lists, whose last value holds for all epochs
    after.

    ``rows`` multiplies sizes of minibatches that count steps of that number of sequences.
    """

    rates: Sequence[float]
    rate_unit: str
    momenta: Sequence[float]
    momentum_unit: str
    sizes: Sequence[int]
    rows: int = 1

    def size(self, epoch: int) -> int:
        """Return the samples of a minibatch in an epoch (from 0)."""
        return of_epoch(self.sizes, epoch)

    def rate(self, epoch: int) -> float:
        """Return the learning rate per sample."""
        given = np.float32(of_epoch(self.rates, epoch))
        if self.rate_unit == PER_MINIBATCH:
            given = given / np.float32(self._whole(self.size(epoch)))
        return float(given)

    def momentum(self, epoch: int) -> float:
        """Return the momentum per sample. A time constant T in samples is exp(-1 / T), a momentum
        of a minibatch its root (SGDLib/SGD.cpp, SGDParams).
        """
        given = float(np.float32(of_epoch(self.momenta, epoch)))
        if self.momentum_unit == TIME_CONSTANT:
            return float(np.float32(math.exp(-1.0 / given))) if given else 0.0
        if self.momentum_unit == PER_MINIBATCH:
            return math.pow(given, 1.0 / self._whole(self.size(epoch)))
        return given

    def effective_momentum(self, epoch: int, size: int) -> float:
        """Return the momentum of a minibatch of ``size`` samples."""
        return math.pow(self.momentum(epoch), self._whole(size))

    def _whole(self, size: int) -> int:
        """Return the samples of a minibatch over all rows; a minibatch of one sample stays one."""
        return size * self.rows if size > 1 else size

    def time_constant(self, epoch: int) -> float:
        """Return the momentum as a time constant in samples; 0 without momentum."""
        momentum = self.momentum(epoch)
        return -1.0 / math.log(momentum) if momentum else 0.0


class Noise(NamedTuple):
    """The settings of dropout and batch normalisation from epoch to epoch."""

    dropout: Sequence[float] = (0.0,)
    normalization: Sequence[float] = (0.0,)
    blend: Sequence[float] = (0.0,)

    def phase(self, epoch: int, dtype: str) -> Phase:
        """Return the settings of an epoch (from 0)."""

        def draws(position: int, nodes: int, wide: bool) -> Draws:
            generator = MinimalStandard(epoch * nodes + position)
            return lambda count: generator.units(count, "float64" if wide else dtype)

        constants = (_set(values, epoch) for values in (self.normalization, self.blend))
        return Phase(of_epoch(self.dropout, epoch), draws, *constants)


def _set(values: Sequence[float], epoch: int) -> float | None:
    """Return the last value of a list up to an epoch that differs from the one before it (0 before
    the first); None where none does: nodes then keep their own.
    """
    found, before = None, 0.0
    for value in values[: epoch + 1]:
        if value != before:
            found = value
        before = value
    return found


def of_epoch(values: Sequence[Value], epoch: int) -> Value:
    """Return the value of a list for an epoch."""
    return values[min(epoch, len(values) - 1)]
