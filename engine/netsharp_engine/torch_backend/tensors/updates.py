"""CNTK's update rules in torch's operations: from a gradient to a parameter's new numbers.

They are those of the processor, in the same order; what one remembers goes by the same names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import torch

from netsharp_engine.packing import Indices
from netsharp_engine.program import Shaping, UpdateRule
from netsharp_engine.tensor_backend.updates import faded
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.kernels.sequences import on_device
from netsharp_engine.torch_backend.tensors.walk import Gradient, TorchRows

#: What a rule remembers of one parameter, by name; single numbers are arrays of the host.
Kept = Mapping[str, Any]
_LEAST_SQUARE, _LEAST_MEAN_SQUARE = float(np.float32(1e-16)), float(np.float32(1e-6))
_FIRST_STEP, _LARGEST_GAIN = 0.02, 10.0


class TorchBefore(NamedTuple):
    """A parameter before an update: its numbers, gradient, own rate, and what is remembered.

    ``fresh``: nothing is remembered yet, and what is handed in are zeros.
    """

    values: Tensor
    gradient: Tensor
    rate: float
    kept: Kept
    fresh: bool


#: What a rule remembers, by name and then by parameter.
Memories = Mapping[str, dict[str, Any]]
#: New numbers, and what is remembered from here.
Changed = tuple[Tensor, dict[str, Any]]


class TorchChange(NamedTuple):
    """What an update makes of a parameter; of some rows alone where ``places`` are given."""

    values: Tensor
    kept: dict[str, Any]
    places: Indices | None = None

    def put(self, name: str, values: dict[str, Tensor], memory: Memories) -> None:
        """Write it into the parameter ``name`` and into what is remembered of it."""
        if self.places is None:
            values[name] = self.values
            for kind, one in self.kept.items():
                memory[kind][name] = one
            return
        width = self.values.shape[1]
        at = on_device(self.places, self.values)
        values[name].reshape(-1, width)[at] = self.values
        for kind, one in self.kept.items():
            if isinstance(one, np.ndarray):
                memory[kind][name] = one
            else:
                memory[kind][name].reshape(-1, width)[at] = one


def changed(rule: UpdateRule, before: TorchBefore, gradient: Gradient, name: str) -> TorchChange:
    """Return the updated parameter ``name``.

    Clipping, noise, L2, the rule, then noise and L1 of the result: CNTK's order.
    """
    shaping = rule.shaping
    l2, l1 = (0.0 if name in shaping.unregular else weight for weight in (shaping.l2, shaping.l1))
    rate = rule.rate * shaping.multipliers.get(name, 1.0)
    before = before._replace(rate=rate)
    if isinstance(gradient, TorchRows) and not l2 > 0:
        some = _touched(rule, before, gradient)
        if not shaping.noise > 0 and not l1 > 0:
            return some
        whole = {"": before.values.clone()}
        memory = {kind: {"": _copied(one)} for kind, one in before.kept.items()}
        some.put("", whole, memory)
        values, kept = whole[""], {kind: one[""] for kind, one in memory.items()}
    else:
        given = clipped(shaping, _whole(gradient, before.values))
        if l2 > 0:
            given = given + l2 * before.values
        values, kept = RULES[rule.kind](rule, before._replace(gradient=given))
    if shaping.noise > 0:
        drawn = np.random.default_rng((*shaping.seed, crc32(name.encode())))
        noise = torch.from_numpy(drawn.standard_normal(tuple(values.shape)))
        values = values + shaping.noise * noise.to(values.dtype).to(values.device)
    if l1 > 0:
        bound = rate * l1
        less = values - torch.copysign(torch.full_like(values, bound), values)
        values = torch.where(values.abs() <= bound, torch.zeros_like(values), less)
    return TorchChange(values, kept)


def _copied(one: Any) -> Any:
    return one.copy() if isinstance(one, np.ndarray) else one.clone()


def _whole(gradient: Gradient, like: Tensor) -> Tensor:
    if not isinstance(gradient, TorchRows):
        return gradient
    found = torch.zeros_like(like)
    found.reshape(-1, gradient.values.shape[1])[on_device(gradient.places, like)] = gradient.values
    return found


def _touched(rule: UpdateRule, before: TorchBefore, gradient: TorchRows) -> TorchChange:
    """Apply a rule to the rows that samples hit; the others keep what they have."""
    at, width = on_device(gradient.places, gradient.values), gradient.values.shape[1]

    def rows(one: Any) -> Any:
        return one if isinstance(one, np.ndarray) else one.reshape(-1, width)[at]

    part = before._replace(
        values=rows(before.values),
        gradient=clipped(rule.shaping, gradient.values),
        kept={kind: rows(one) for kind, one in before.kept.items()},
    )
    values, kept = _SPARSE.get(rule.kind, _adagrad)(rule, part)
    return TorchChange(values, kept, gradient.places)


def clipped(shaping: Shaping, gradient: Tensor) -> Tensor:
    """Return a gradient that is cut to a limit, number by number or by its norm."""
    limit = shaping.limit
    if math.isinf(limit):
        return gradient
    if shaping.truncates:
        return gradient.clamp(-abs(limit), abs(limit))
    norm = float(torch.linalg.vector_norm(gradient))
    return gradient * (limit / norm) if norm > limit else gradient


def shorten(limit: float, gradients: dict[str, Gradient]) -> None:
    """Replace all gradients by shorter ones where their joint norm is above a limit."""
    values = {
        name: one.values if isinstance(one, TorchRows) else one for name, one in gradients.items()
    }
    norm = math.hypot(*(float(torch.linalg.vector_norm(one)) for one in values.values()))
    if not norm > limit:
        return
    for name, one in values.items():
        less, found = one * (limit / norm), gradients[name]
        gradients[name] = found._replace(values=less) if isinstance(found, TorchRows) else less


def joined(first: Gradient, second: Gradient, like: Tensor) -> Gradient:
    """Return the sum of two gradients of a parameter."""
    if not isinstance(first, TorchRows) or not isinstance(second, TorchRows):
        return _whole(first, like) + _whole(second, like)
    places = np.union1d(first.places, second.places)
    values = first.values.new_zeros(len(places), first.values.shape[1])
    for one in (first, second):
        at = on_device(np.searchsorted(places, one.places), values)
        values = values.index_add(0, at, one.values)
    return TorchRows(places, values)


def _plain(rule: UpdateRule, one: TorchBefore) -> Changed:
    return one.values - one.rate * one.gradient, {}


def _smoothed(rule: UpdateRule, one: TorchBefore) -> Changed:
    """Momentum with unit gain: what it keeps, a new step lacks."""
    kept = rule.momentum
    step = (1 - kept) * one.rate * one.gradient
    smoothed = kept * one.kept["smoothed"] + step
    if rule.nesterov:
        return one.values - kept * smoothed - step, {"smoothed": smoothed}
    return one.values - smoothed, {"smoothed": smoothed}


def _smoothed_rows(rule: UpdateRule, one: TorchBefore) -> Changed:
    """Momentum of what is sparse: what is remembered has no rate in it."""
    kept = rule.momentum
    step = (1 - kept) * one.gradient
    smoothed = step + kept * one.kept["smoothed"]
    moved = kept * smoothed + step if rule.nesterov else smoothed
    return one.values - one.rate * moved, {"smoothed": smoothed}


def _adagrad(rule: UpdateRule, one: TorchBefore) -> Changed:
    squares = one.kept["squares"] + one.gradient * one.gradient
    root = torch.sqrt(squares + _LEAST_SQUARE)
    rate: Any = one.rate
    if rule.constants.get("normalized"):
        rate = one.rate / (1 / root).mean()
    return one.values - rate * (one.gradient / root), {"squares": squares}


def _fsadagrad(rule: UpdateRule, one: TorchBefore) -> Changed:
    """Return the gain of a number is that of its mean square, which fades over samples."""
    momentum, share = rule.momentum, rule.constants["fading"]
    count = faded(rule, one.kept["count"])
    target = rule.constants["target"] * math.sqrt(count[0])
    gradient = one.gradient
    squares = share * one.kept["squares"] + (1 - share) * gradient * gradient
    gain = (target * (1 / torch.sqrt(squares))).clamp(max=_LARGEST_GAIN)
    gradient = torch.where(squares != 0, gradient * gain, gradient)
    smoothed = one.kept["smoothed"]
    if momentum > 0:
        gradient = smoothed = momentum * smoothed + (1 - momentum) * gradient
    kept = {"squares": squares, "smoothed": smoothed, "count": count}
    return one.values - gradient * one.rate, kept


def _rmsprop(rule: UpdateRule, one: TorchBefore) -> Changed:
    """Return a number's own step grows while its gradient keeps its sign."""
    gradient = one.gradient
    gamma, grown, most, shrunk, least = (
        rule.constants[name] for name in ("gamma", "inc", "max", "dec", "min")
    )
    square = gradient * gradient
    squares, signs, steps = (one.kept[name] for name in ("squares", "signs", "steps"))
    if one.fresh:
        squares, steps = square, torch.full_like(steps, _FIRST_STEP)
    squares = gamma * squares + (1 - gamma) * square
    sign = torch.sign(gradient)
    steps = torch.where(
        signs * sign > 0, (steps * grown).clamp(max=most), (steps * shrunk).clamp(min=least)
    )
    gain = steps / torch.sqrt(squares + _LEAST_MEAN_SQUARE)
    rate: Any = one.rate
    if rule.constants["normalized"]:
        rate = one.rate / gain.mean()
    kept = {"squares": squares, "signs": sign, "steps": steps}
    return one.values - rate * (gradient * gain), kept


#: The rules by the kind that ``UpdateRule`` names.
RULES: Mapping[str, Callable[[UpdateRule, TorchBefore], Changed]] = {
    "sgd": _plain,
    "smoothed": _smoothed,
    "adagrad": _adagrad,
    "fsadagrad": _fsadagrad,
    "rmsprop": _rmsprop,
}
#: Those of rows that samples read, where they are others; all that are not here are AdaGrad's then.
_SPARSE: Mapping[str, Callable[[UpdateRule, TorchBefore], Changed]] = {
    "sgd": _plain,
    "smoothed": _smoothed_rows,
}
