"""The update rules on one vector of all that is trained, in torch's operations.

They are those of numpy's back end, number by number; what one remembers goes by the same names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import torch

from netsharp_engine.analysis import Analysis
from netsharp_engine.graph import Parameter
from netsharp_engine.program import REMEMBERS, Shaping, UpdateRule
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.numbers import TorchNumbers

#: Below this square of the gradient, and below this rate, no update leaves the range of numbers.
RISKY_SQUARE, RISKY_RATE = 1e30, 1e10
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
    """A kind of rule with what it remembers of the numbers of one network.

    Small parameters are changed together, for which their gradients are copied one after another;
    large ones part by part.
    """

    def __init__(self, kind: str, numbers: TorchNumbers, facts: Analysis) -> None:
        self.steps = 0
        self._kind, self._apply, self._numbers = kind, RULES[kind], numbers
        self.state = {name: torch.zeros_like(numbers.trained) for name in REMEMBERS[kind]}
        self._facts, self._masks = facts, numbers.masks()
        self._incoming: list[Callable[[float], None]] | None = None
        small = [each for each in numbers.changed if not numbers.is_large(each)]
        self._small = sum(len(numbers.parts[each.name]) for each in small)
        self._joined = torch.zeros_like(numbers.trained[: numbers.count(small)])
        vectors = {"": numbers.trained, **self.state}
        cut = {name: self._cut(vector) for name, vector in vectors.items()}
        self._pieces = [
            (weights, {name: cut[name][place] for name in self.state})
            for place, weights in enumerate(cut[""])
        ]

    def _cut(self, vector: Tensor) -> list[Tensor]:
        """Return a vector as the pieces that are changed."""
        large = self._numbers.leaf_views(vector)[self._small :]
        some = [vector[: len(self._joined)]] if self._small else []
        return [*some, *(view.view(-1) for view in large)]

    def gathered(self, found: Sequence[Tensor | None]) -> list[Tensor]:
        """Return the gradients of the leaves as vectors, one for each piece."""
        gradients = [
            torch.zeros_like(leaf) if each is None else each
            for leaf, each in zip(self._numbers.leaves, found, strict=True)
        ]
        for place, mask in self._masks:
            gradients[place] = gradients[place] * mask
        flat = [each.reshape(-1) for each in gradients]
        if not self._small:
            return flat
        torch.cat(flat[: self._small], out=self._joined)
        return [self._joined, *flat[self._small :]]

    def first_parameter(self, vectors: Sequence[Tensor]) -> Parameter | None:
        """Return the first parameter with a number that is not finite in such vectors."""
        joined = torch.cat(list(vectors))
        for place, view in enumerate(self._numbers.leaf_views(joined)):
            if not bool(view.isfinite().all()):
                return self._numbers.owners[place]
        return None

    def calm(self, rule: UpdateRule, square: float) -> bool:
        """Return whether an update by a gradient of this square keeps all numbers finite.

        Steps are then far smaller than the largest number, and no factor makes weights grow;
        AdaDelta's steps may double each time.
        """
        rate = max(rule.rate, 1.0)
        grows = abs(1 - rule.rate * rule.decay) > 1 or self._kind == "adadelta"
        return square * rate * rate < RISKY_SQUARE and rate < RISKY_RATE and not grows

    def update(self, rule: UpdateRule, gradients: Sequence[Tensor]) -> None:
        """Update the trained parameters by the gradients of their pieces."""
        self.steps += 1
        for (weights, state), gradient in zip(self._pieces, gradients, strict=True):
            self._apply(rule, self.steps, weights, gradient, state)
        if rule.decay:
            self._numbers.trained.mul_(1 - rule.rate * rule.decay)
        if rule.max_norm:
            if self._incoming is None:
                self._incoming = list(_incoming(self._numbers, self._facts))
            for shorten in self._incoming:
                shorten(rule.max_norm)


def clip(shaping: Shaping, gradients: Sequence[Tensor]) -> list[Tensor]:
    """Return gradients that are cut as the shaping says; see numpy's back end."""
    found = list(gradients)
    if shaping.limit < math.inf:
        found = [each.clamp(-shaping.limit, shaping.limit) for each in found]
    if shaping.total < math.inf:
        norm = math.hypot(*(float(torch.linalg.vector_norm(each)) for each in found))
        if not math.isfinite(norm):
            # The square of a finite number is none.
            largest = max(float(each.abs().max()) for each in found)
            norms = (float(torch.linalg.vector_norm(each / largest)) for each in found)
            norm = largest * math.hypot(*norms)
        if norm > shaping.total:
            found = [each * (shaping.total / norm) for each in found]
    return found


def _incoming(numbers: TorchNumbers, facts: Analysis) -> Iterator[Callable[[float], None]]:
    """Yield functions that scale the vectors into nodes back to a length, without biases."""
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
