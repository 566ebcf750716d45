"""The update rules on one vector of all that is trained, in torch's operations.

They are those of numpy's back end, number by number; what one remembers goes by the same names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch

from netsharp_engine.analysis import Analysis
from netsharp_engine.program import REMEMBERS, Shaping, UpdateRule
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.numbers import TorchNumbers

#: (rule, number of the update from 1, weights, gradient, what is remembered): changes weights and
#: what is remembered in place.
Rule = Callable[[UpdateRule, int, Tensor, Tensor, Mapping[str, Tensor]], None]


def _sgd(
    rule: UpdateRule, step: int, weights: Tensor, g: Tensor, state: Mapping[str, Tensor]
) -> None:
    weights.add_(g, alpha=-rule.rate)


def _momentum(
    rule: UpdateRule, step: int, weights: Tensor, g: Tensor, state: Mapping[str, Tensor]
) -> None:
    delta = state["delta"]
    delta.mul_(rule.momentum).add_(g, alpha=-rule.rate)
    if rule.nesterov:
        weights.add_(g, alpha=-rule.rate).add_(delta, alpha=rule.momentum)
    else:
        weights.add_(delta)


def _adadelta(
    rule: UpdateRule, step: int, weights: Tensor, g: Tensor, state: Mapping[str, Tensor]
) -> None:
    keep, constant = rule.constants["decay"], rule.constants["constant"]
    gradients, steps = state["squared_gradient"], state["squared_step"]
    gradients.mul_(keep).addcmul_(g, g, value=1 - keep)
    change = steps.add(constant).div_(gradients.add(constant)).sqrt_().mul_(g)
    weights.sub_(change)
    steps.mul_(keep).addcmul_(change, change, value=1 - keep)


def _adam(
    rule: UpdateRule, step: int, weights: Tensor, g: Tensor, state: Mapping[str, Tensor]
) -> None:
    beta1, beta2 = rule.constants["beta1"], rule.constants["beta2"]
    first, second = state["first_moment"], state["second_moment"]
    first.mul_(beta1).add_(g, alpha=1 - beta1)
    second.mul_(beta2).addcmul_(g, g, value=1 - beta2)
    root = second.sqrt().mul_(1 / math.sqrt(1 - beta2**step)).add_(rule.constants["epsilon"])
    weights.addcdiv_(first, root, value=-rule.rate / (1 - beta1**step))


RULES: dict[str, Rule] = {
    "sgd": _sgd,
    "momentum": _momentum,
    "adadelta": _adadelta,
    "adam": _adam,
}


class TorchUpdates:
    """A kind of rule with what it remembers of the numbers of one network."""

    def __init__(self, kind: str, numbers: TorchNumbers, facts: Analysis) -> None:
        self.steps = 0
        self._apply, self._numbers = RULES[kind], numbers
        self.state = {name: torch.zeros_like(numbers.trained) for name in REMEMBERS[kind]}
        self._facts = facts
        self._incoming: list[Callable[[float], None]] | None = None

    def update(self, rule: UpdateRule, gradient: Tensor) -> None:
        """Change what is trained by its gradient."""
        weights = self._numbers.trained
        self.steps += 1
        self._apply(rule, self.steps, weights, gradient, self.state)
        if rule.decay:
            weights.mul_(1 - rule.rate * rule.decay)
        if rule.max_norm:
            if self._incoming is None:
                self._incoming = list(_incoming(self._numbers, self._facts))
            for shorten in self._incoming:
                shorten(rule.max_norm)


def clip(shaping: Shaping, gradient: Tensor) -> None:
    """Cut the gradient in place, as numpy's back end does."""
    if shaping.limit < math.inf:
        gradient.clamp_(-shaping.limit, shaping.limit)
    if shaping.total < math.inf:
        norm = float(torch.linalg.vector_norm(gradient))
        if not math.isfinite(norm):
            # The square of a finite number is none.
            largest = float(gradient.abs().max())
            norm = largest * float(torch.linalg.vector_norm(gradient / largest))
        if norm > shaping.total:
            gradient.mul_(shaping.total / norm)


def _incoming(numbers: TorchNumbers, facts: Analysis) -> Iterator[Callable[[float], None]]:
    """What scales the vectors into nodes back to a length, biases left out."""
    users = {each: node for node in facts.nodes for each in node.parameters}
    views = numbers.views(numbers.changed, numbers.trained)
    for parameter in numbers.changed:
        part = views[parameter.name][0]
        if parameter.kind == "biases" or not part.numel():
            continue
        if part.dim() > 1:
            yield _rows(part.view(part.shape[0], -1))
        elif parameter in users:
            owners = np.asarray(users[parameter].attributes["edges"][0], np.int64)
            yield _owned(part, torch.from_numpy(owners).to(part.device))


def _rows(part: Tensor) -> Callable[[float], None]:
    def shorten(limit: float) -> None:
        norms = torch.linalg.vector_norm(part, dim=1, keepdim=True)
        part.mul_(limit / norms.clamp(min=limit))

    return shorten


def _owned(part: Tensor, owners: Tensor) -> Callable[[float], None]:
    def shorten(limit: float) -> None:
        squares = part.new_zeros(int(owners[-1]) + 1).index_add(0, owners, part * part)
        part.mul_((limit / squares.sqrt().clamp(min=limit))[owners])

    return shorten
