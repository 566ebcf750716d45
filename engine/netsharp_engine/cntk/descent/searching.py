"""Looks for a learning rate, and for the samples of a minibatch, by trials before an epoch.

A trial is a function that trains a little and forgets it; nothing else is known of training.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.descent.adjusting import Control, Sizes

#: From a rate per sample and the samples of a minibatch to the criterion, NaN where it is none.
Trial = Callable[[float, int], float]
#: CNTK's constants (SGDLib/SGD.cpp, SearchForBestLearnRate): the golden section as the step of a
#: search, in float64 in some places and in float32 in others; the first rate, 1/8 a step up; the
#: share of the least rate at which a search ends, and that of a trial in a blend with an epoch of
#: unknown size; the ratio at which an interval is narrow, and its lower end.
_STEP, _SHORT_STEP = 0.618, float(np.float32(0.618))
_FIRST = float(np.float32(0.125) / np.float32(0.618))
_LEAST_SHARE, _UNKNOWN_SHARE = float(np.float32(0.3)), 0.3
_NEAR, _SMALLEST = 1.2, 0.01
#: Sizes are multiples of this.
_GRAIN = 64


class Search(NamedTuple):
    """A search before an epoch (from 0): with trials of ``samples`` of an epoch (0: of unknown
    length), in minibatches of ``size``.
    """

    epoch: int
    size: int
    samples: int
    epoch_size: int
    control: Control


def found_rate(search: Search, least: float, sided: bool, trial: Trial) -> float:
    """Return the rate of an epoch: the largest that does not make the criterion worse; NaN where
    even a trial of rate 0 has no finite one.

    ``sided``: smaller rates are searched, too. Source: SGDLib/SGD.cpp, SearchForBestLearnRate.
    """
    control, size = search.control, search.size
    rate = _FIRST / math.sqrt(size)
    largest = max(control.former, default=-1.0)
    if search.epoch and largest > 0:
        rate = largest / _SHORT_STEP / _SHORT_STEP
    base = trial(0.0, size)
    if not math.isfinite(base):
        return math.nan
    previous = base if math.isinf(control.previous) else control.previous
    share = _UNKNOWN_SHARE
    if search.epoch_size:
        share = math.sqrt(search.samples / search.epoch_size)
    base = max(share * previous + (1 - share) * base, base)
    while True:
        rate *= _STEP
        criterion = trial(rate, size)
        harms = criterion > base and rate > least * _LEAST_SHARE
        if not (math.isnan(criterion) or harms):
            break
    return _between(rate, criterion, size, trial) if sided else rate


def _between(right: float, right_criterion: float, size: int, trial: Trial) -> float:
    """Return the better end of an interval of rates that is narrowed from both sides."""
    left = _SMALLEST / size
    left_criterion = trial(left, size)
    while right > left * _NEAR:
        if right_criterion > left_criterion:
            right *= _STEP
            right_criterion = trial(right, size)
        else:
            left /= _STEP
            left_criterion = trial(left, size)
    return left if left_criterion < right_criterion else right


def found_size(search: Search, sizes: Sizes, rate: float, change: float, trial: Trial) -> int:
    """Return the samples of a minibatch at a rate that is ``change`` times the first one. Source:
    SGDLib/SGD.cpp, AdaptiveMinibatchSizing.
    """
    before = 0 if search.epoch < 2 else search.control.minibatch
    number = search.epoch + 1
    if before and number > sizes.frequency and number % sizes.frequency:
        return before
    root = math.sqrt(max(change, 0.0))
    low = int(search.size / root) if 0 < root < 1 else search.size
    high = sizes.largest
    if before:
        low, high = max(low, before // 2), min(high, before * 2)
    if low > high:
        return high
    found, base = 0, math.nan
    each = np.float32(low)
    while each <= high:
        size = _rounded(each)
        criterion = trial(rate, size)
        if not found:
            base = criterion
        elif not criterion <= base * (1.0 + sizes.margin / 100.0):
            break
        found = size
        each *= np.float32(np.sqrt(np.float32(2.0)))
    return found


def _rounded(size: np.float32) -> int:
    return max(_GRAIN * int((size + np.float32(_GRAIN // 2)) / np.float32(_GRAIN)), _GRAIN)
