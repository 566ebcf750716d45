"""CNTK's update rules (Math/Matrix.cpp, SGDLib/SGD.cpp UpdateWeights): one row for each kind, from
a gradient to a parameter's new numbers.

Every operation is in the type of the numbers unless it says otherwise, in CNTK's order. It must not
know networks; a rule's memory is passed in and out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from netsharp_engine.packing import Indices
from netsharp_engine.program import Shaping, UpdateRule
from netsharp_engine.tensor_backend.kernels.sparse import Gradient, TouchedRows

Array = npt.NDArray[Any]
#: What a rule remembers of one parameter, by name.
Kept = Mapping[str, Array]
#: CNTK's terms below the roots of AdaGrad and of RMSProp, so that a gradient of 0 is not divided by
#: 0, RMSProp's first step, and fsAdaGrad's largest gain (Math/Matrix.cpp, Math/CPUMatrix.cpp).
_LEAST_SQUARE, _LEAST_MEAN_SQUARE = np.float32(1e-16), np.float32(1e-6)
_FIRST_STEP, _LARGEST_GAIN = 0.02, 10


class BeforeUpdate(NamedTuple):
    """A parameter before an update: its numbers, gradient, own rate, and what is remembered.

    ``fresh``: nothing is yet, and what is handed in are zeros.  ``touched``: the rows of the
    parameter that the gradient has, None for all.
    """

    values: Array
    gradient: Array
    rate: float
    kept: Kept
    fresh: bool
    touched: Indices | None = None

    @property
    def kind(self) -> Any:
        """Return the type of the numbers."""
        return self.values.dtype.type


#: New numbers, and what is remembered from here.
Changed = tuple[Array, dict[str, Array]]


class ChangedRows(NamedTuple):
    """The changed rows; all others are unchanged."""

    places: Indices
    values: Array
    kept: dict[str, Array]

    def put(self, values: Array, kept: Kept) -> None:
        """Write them into a parameter's numbers and into the rule's memory of it."""
        width = self.values.shape[1]
        values.reshape(-1, width)[self.places] = self.values
        for name, fresh in self.kept.items():
            kept[name].reshape(-1, width)[self.places] = fresh


def changed(rule: UpdateRule, one: BeforeUpdate, name: str) -> Changed | ChangedRows:
    """Return the parameter ``name`` after an update.

    The order is CNTK's: clipping, noise, L2, the rule, then noise and L1 of the result
    (SGDLib/SGD.cpp, UpdateWeights).
    """
    shaping = rule.shaping
    l2, l1 = (0.0 if name in shaping.unregular else weight for weight in (shaping.l2, shaping.l1))
    rate = rule.rate * shaping.multipliers.get(name, 1.0)
    one = one._replace(rate=rate)
    if one.touched is not None and not l2 > 0:
        some = _touched(rule, one, one.touched)
        if not shaping.noise > 0 and not l1 > 0:
            return some
        values, kept = one.values.copy(), {name: known.copy() for name, known in one.kept.items()}
        some.put(values, kept)
    else:
        gradient = one.gradient
        if one.touched is not None:
            gradient = TouchedRows(one.touched, gradient).dense(one.values.shape)
        gradient = clipped(shaping, gradient)
        if l2 > 0:
            gradient = gradient + one.kind(l2) * one.values
        values, kept = RULES[rule.kind](rule, one._replace(gradient=gradient))
    if shaping.noise > 0:
        seed = (*shaping.seed, crc32(name.encode()))
        drawn = np.random.default_rng(seed).standard_normal(values.shape)
        values = values + one.kind(shaping.noise) * drawn.astype(one.kind)
    if l1 > 0:
        bound = one.kind(rate * l1)
        values = np.where(np.abs(values) <= bound, 0, values - np.copysign(bound, values))
    return values, kept


def _touched(rule: UpdateRule, one: BeforeUpdate, places: Indices) -> ChangedRows:
    """Return the rows that samples hit after an update; others keep their numbers and memory."""

    def rows(values: Array) -> Array:
        return values.reshape(-1, one.gradient.shape[1])

    part = one._replace(
        values=rows(one.values)[places],
        gradient=clipped(rule.shaping, one.gradient),
        kept={
            name: rows(values)[places] if values.size == one.values.size else values
            for name, values in one.kept.items()
        },
    )
    found, remembered = _SPARSE.get(rule.kind, _adagrad)(rule, part)
    return ChangedRows(places, found, remembered)


def clipped(shaping: Shaping, gradient: Array) -> Array:
    """Return a gradient of the same shape, clipped to a limit: number by number or by its norm."""
    kind, limit = gradient.dtype.type, shaping.limit
    if math.isinf(limit):
        return gradient
    if shaping.truncates:
        bound = abs(kind(limit))
        return np.clip(gradient, -bound, bound)
    norm = float(np.sqrt(np.sum(gradient * gradient, dtype=kind)))
    return gradient * kind(limit / norm) if norm > limit else gradient


def shorten(limit: float, gradients: dict[str, Gradient]) -> None:
    """Replace all gradients by shorter ones where their joint norm is above a limit."""
    values = {
        name: found.values if isinstance(found, TouchedRows) else found
        for name, found in gradients.items()
    }
    squares = (float(np.sum(np.square(one, dtype=np.float64))) for one in values.values())
    norm = math.sqrt(math.fsum(squares))
    if not norm > limit:
        return
    for name, one in values.items():
        less = one * one.dtype.type(limit / norm)
        found = gradients[name]
        gradients[name] = found._replace(values=less) if isinstance(found, TouchedRows) else less


def _plain(rule: UpdateRule, one: BeforeUpdate) -> Changed:
    return one.values - one.kind(one.rate) * one.gradient, {}


def _smoothed(rule: UpdateRule, one: BeforeUpdate) -> Changed:
    """Return an update by momentum with unit gain: a new step has the factor 1 - momentum."""
    kept = one.kind(rule.momentum)
    step = (one.kind(1) - kept) * one.kind(one.rate) * one.gradient
    smoothed = kept * one.kept["smoothed"]
    np.add(step, smoothed, out=smoothed)
    if rule.nesterov:
        return one.values - kept * smoothed - step, {"smoothed": smoothed}
    return np.subtract(one.values, smoothed, out=step), {"smoothed": smoothed}


def _smoothed_rows(rule: UpdateRule, one: BeforeUpdate) -> Changed:
    """Return an update of sparse rows by momentum, whose memory does not contain the rate."""
    kept, rate = one.kind(rule.momentum), one.kind(one.rate)
    step = (one.kind(1) - kept) * one.gradient
    smoothed = step + kept * one.kept["smoothed"]
    moved = kept * smoothed + step if rule.nesterov else smoothed
    return one.values - rate * moved, {"smoothed": smoothed}


def _adagrad(rule: UpdateRule, one: BeforeUpdate) -> Changed:
    squares = one.kept["squares"] + one.gradient * one.gradient
    root = np.sqrt(squares + one.kind(_LEAST_SQUARE))
    mean = _mean(1 / root) if rule.constants.get("normalized") else 1.0
    return one.values + one.kind(-one.rate / mean) * (one.gradient / root), {"squares": squares}


def _fsadagrad(rule: UpdateRule, one: BeforeUpdate) -> Changed:
    """Return an update by fsAdaGrad: the gain of a number is that of its mean square, which decays
    over samples.
    """
    kind, momentum = one.kind, one.kind(rule.momentum)
    count = faded(rule, one.kept["count"])
    target = kind(rule.constants["target"] * math.sqrt(count[0]))
    share = kind(rule.constants["fading"])
    gradient = one.gradient
    squares = share * one.kept["squares"] + (kind(1) - share) * gradient * gradient
    gain = np.minimum(target * (kind(1) / np.sqrt(squares)), kind(_LARGEST_GAIN))
    gradient = np.where(squares != 0, gradient * gain, gradient)
    smoothed = one.kept["smoothed"]
    if momentum > 0:
        gradient = smoothed = momentum * smoothed + (kind(1) - momentum) * gradient
    kept = {"squares": squares, "smoothed": smoothed, "count": count}
    return one.values - gradient * kind(one.rate), kept


def _rmsprop(rule: UpdateRule, one: BeforeUpdate) -> Changed:
    """Return an update by CNTK's RMSProp: a number's own step grows while its gradient keeps its
    sign.
    """
    kind, gradient = one.kind, one.gradient
    gamma, grown, most, shrunk, least = (
        kind(rule.constants[name]) for name in ("gamma", "inc", "max", "dec", "min")
    )
    square = gradient * gradient
    squares, signs, steps = (one.kept[name] for name in ("squares", "signs", "steps"))
    if one.fresh:
        squares, steps = square, np.full_like(steps, _FIRST_STEP)
    squares = gamma * squares + (kind(1) - gamma) * square
    sign = np.sign(gradient)
    steps = np.where(
        signs * sign > 0, np.minimum(steps * grown, most), np.maximum(steps * shrunk, least)
    )
    gain = steps / np.sqrt(squares + kind(_LEAST_MEAN_SQUARE))
    mean = _mean(gain) if rule.constants["normalized"] else 1.0
    kept = {"squares": squares, "signs": sign, "steps": steps}
    return one.values + kind(-one.rate / mean) * (gradient * gain), kept


def faded(rule: UpdateRule, count: Array) -> Array:
    """Return the samples [1] over which fsAdaGrad's mean square was taken, with those of a
    minibatch.
    """
    samples, fading = rule.constants["samples"], rule.constants["fading"]
    return np.array([fading * float(count[0]) + (1.0 - fading) * samples])


def finite(values: Array) -> bool:
    """Return whether all numbers of an array of any shape are finite; a finite sum shows it without
    another array.
    """
    return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def _mean(values: Array) -> Any:
    return np.float64(np.sum(values, dtype=values.dtype) / values.dtype.type(values.size))


#: The rules by the kind that ``UpdateRule`` names.
RULES: Mapping[str, Callable[[UpdateRule, BeforeUpdate], Changed]] = {
    "sgd": _plain,
    "smoothed": _smoothed,
    "adagrad": _adagrad,
    "fsadagrad": _fsadagrad,
    "rmsprop": _rmsprop,
}
#: Those of sparse gradients, where they are others; all that are not here are AdaGrad's then.
_SPARSE: Mapping[str, Callable[[UpdateRule, BeforeUpdate], Changed]] = {
    "sgd": _plain,
    "smoothed": _smoothed_rows,
}
