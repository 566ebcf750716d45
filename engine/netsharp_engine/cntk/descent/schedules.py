"""Learning rate, momentum and minibatch size of every epoch, rounded where the original rounds."""

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
    """What changes from epoch to epoch: lists, whose last value holds for all that follow.

    ``rows`` is by what sizes are multiplied where they are steps of so many sequences.
    """

    rates: Sequence[float]
    rate_unit: str
    momenta: Sequence[float]
    momentum_unit: str
    sizes: Sequence[int]
    rows: int = 1

    def size(self, epoch: int) -> int:
        """Samples of a minibatch in an epoch (from 0)."""
        return of_epoch(self.sizes, epoch)

    def rate(self, epoch: int) -> float:
        """The learning rate per sample."""
        given = np.float32(of_epoch(self.rates, epoch))
        if self.rate_unit == PER_MINIBATCH:
            given = given / np.float32(self._whole(self.size(epoch)))
        return float(given)

    def momentum(self, epoch: int) -> float:
        """The momentum per sample."""
        given = float(np.float32(of_epoch(self.momenta, epoch)))
        if self.momentum_unit == TIME_CONSTANT:
            return float(np.float32(math.exp(-1.0 / given))) if given else 0.0
        if self.momentum_unit == PER_MINIBATCH:
            return math.pow(given, 1.0 / self._whole(self.size(epoch)))
        return given

    def effective_momentum(self, epoch: int, size: int) -> float:
        """The momentum of a minibatch of so many samples."""
        return math.pow(self.momentum(epoch), self._whole(size))

    def _whole(self, size: int) -> int:
        """The samples of a minibatch, of all rows; one of a single sample stays that."""
        return size * self.rows if size > 1 else size

    def time_constant(self, epoch: int) -> float:
        """The momentum as a number of samples; 0 without."""
        momentum = self.momentum(epoch)
        return -1.0 / math.log(momentum) if momentum else 0.0


class Noise(NamedTuple):
    """What dropout and batch normalisation are set to from epoch to epoch."""

    dropout: Sequence[float] = (0.0,)
    normalization: Sequence[float] = (0.0,)
    blend: Sequence[float] = (0.0,)

    def phase(self, epoch: int, dtype: str) -> Phase:
        """What an epoch (from 0) sets."""

        def draws(position: int, nodes: int, wide: bool) -> Draws:
            generator = MinimalStandard(epoch * nodes + position)
            return lambda count: generator.units(count, "float64" if wide else dtype)

        constants = (_set(values, epoch) for values in (self.normalization, self.blend))
        return Phase(of_epoch(self.dropout, epoch), draws, *constants)


def _set(values: Sequence[float], epoch: int) -> float | None:
    """The last of a list's values until an epoch that was another than the one before it, of which
    the first is 0: others leave nodes as they are.
    """
    found, before = None, 0.0
    for value in values[: epoch + 1]:
        if value != before:
            found = value
        before = value
    return found


def of_epoch(values: Sequence[Value], epoch: int) -> Value:
    """The value of a list for an epoch."""
    return values[min(epoch, len(values) - 1)]
