"""Numpy's update rules, on a plan's flat vectors, block by block and without allocating.

SGD, AdaDelta and max-norm are those of the native kernels of Microsoft's Net# engine; Adam is
Kingma and Ba's (2015), with the decoupled weight decay of Loshchilov and Hutter (2019).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from netsharp_engine.graph import Graph
from netsharp_engine.program import REMEMBERS, Shaping, UpdateRule

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

Vector = npt.NDArray[np.floating]
BLOCK = 1 << 15
#: The rules that have a compiled twin, in the order of twins/plans.c.
STEPS = ("sgd", "momentum", "nesterov", "adadelta", "adam")


class Trainable(Protocol):
    """The part of a plan that an optimiser needs."""

    @property
    def trained(self) -> Vector:
        """Return the weights that change, flat."""

    @property
    def gradient(self) -> Vector | None:
        """Return the gradient of the last step, flat and as long as ``trained``."""

    def incoming(self) -> list[Vector]:
        """Return views [rows, fan-in] into ``trained``, biases left out."""


class Optimizer(ABC):
    """A kind of rule bound to one plan.

    ``state`` names the flat vectors that the kind remembers; together with ``steps`` they are all
    that a resumed run needs.  ``divides``: its constants may be too small for the type of numbers.
    """

    divides = False

    def __init__(self, plan: Trainable, kind: str) -> None:
        gradient = plan.gradient
        assert gradient is not None
        self.steps = 0
        self._kind = kind
        self._weights = plan.trained
        self._gradient = gradient
        self._spare = np.empty(min(BLOCK, max(len(self._weights), 1)), self._weights.dtype)
        self.state = {name: np.zeros_like(self._weights) for name in REMEMBERS[kind]}
        self._cut = self._blocks(*self.state.values())
        self._plan = plan

    @property
    def size(self) -> int:
        """Return the number of weights that it changes."""
        return len(self._weights)

    @cached_property
    def _limit(self) -> _Limit:
        return _Limit(self._plan)

    def update(self, rule: UpdateRule) -> None:
        """Change the weights by the gradient. Both are flat, [numbers]."""
        self.steps += 1
        constants = self.constants(rule)
        if twins is not None:
            ahead = rule.nesterov and self._kind == "momentum"
            kind = STEPS.index("nesterov" if ahead else self._kind)
            size = self._weights.itemsize
            state = self.state.values()
            twins.plan_stepped(size, kind, constants, self._weights, self._gradient, *state)
        elif self.divides:
            with np.errstate(all="ignore"):
                self._apply(rule, constants)
        else:
            self._apply(rule, constants)
        if rule.decay:
            with np.errstate(over="ignore"):
                np.multiply(self._weights, 1 - rule.rate * rule.decay, out=self._weights)
        if rule.max_norm:
            self._limit.apply(rule.max_norm)

    @abstractmethod
    def constants(self, rule: UpdateRule) -> tuple[float, ...]:
        """Return the numbers of a step, which are rounded to the weights' type before they act."""

    @abstractmethod
    def _apply(self, rule: UpdateRule, constants: tuple[float, ...]) -> None:
        """Move the weights by this rule's step."""

    def _blocks(self, *vectors: Vector) -> list[tuple[Vector, ...]]:
        """Return weights, gradient, the given vectors and scratch, cut into equal blocks."""
        size = len(self._weights)
        cuts = [slice(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK)]
        return [
            (
                self._weights[cut],
                self._gradient[cut],
                *(vector[cut] for vector in vectors),
                self._spare[: cut.stop - cut.start],
            )
            for cut in cuts
        ]

    def restore(self, steps: int, state: Mapping[str, Vector]) -> None:
        """Continue where another run of the same kind stopped; KeyError for a missing vector. Each
        vector is [numbers], as those of the weights.
        """
        self.steps = steps
        for name, vector in self.state.items():
            vector[...] = state[name]


class PlainSgd(Optimizer):
    """``w -= rate * g``."""

    def constants(self, rule: UpdateRule) -> tuple[float, ...]:
        """Return the rate."""
        return (rule.rate,)

    def _apply(self, rule: UpdateRule, constants: tuple[float, ...]) -> None:
        (rate,) = constants
        for weights, gradient, spare in self._cut:
            np.multiply(gradient, rate, out=spare)
            np.subtract(weights, spare, out=weights)


class MomentumSgd(Optimizer):
    """``delta = momentum * delta - rate * g; w += delta``.

    With Nesterov's look-ahead the weights move by ``momentum * delta - rate * g`` of the new
    delta (Bengio et al. 2013).
    """

    def constants(self, rule: UpdateRule) -> tuple[float, ...]:
        """Return rate and momentum."""
        return rule.rate, rule.momentum

    def _apply(self, rule: UpdateRule, constants: tuple[float, ...]) -> None:
        rate, momentum = constants
        for weights, gradient, delta, spare in self._cut:
            np.multiply(gradient, rate, out=spare)
            np.multiply(delta, momentum, out=delta)
            np.subtract(delta, spare, out=delta)
            if rule.nesterov:
                np.subtract(weights, spare, out=weights)
                np.multiply(delta, momentum, out=spare)
                np.add(weights, spare, out=weights)
            else:
                np.add(weights, delta, out=weights)


class AdaDelta(Optimizer):
    """Zeiler 2012, without a learning rate.

    ``E[g2] = d E[g2] + (1 - d) g2; step = sqrt((E[u2] + c) / (E[g2] + c)) g;
    E[u2] = d E[u2] + (1 - d) step2; w -= step``.
    """

    divides = True

    def __init__(self, plan: Trainable, kind: str) -> None:
        super().__init__(plan, kind)
        self._second = np.empty_like(self._spare)

    def constants(self, rule: UpdateRule) -> tuple[float, ...]:
        """Return d, 1 - d and c."""
        keep = rule.constants["decay"]
        return keep, 1 - keep, rule.constants["constant"]

    def _apply(self, rule: UpdateRule, constants: tuple[float, ...]) -> None:
        keep, _, constant = constants
        for weights, gradient, gradients, steps, spare in self._cut:
            second = self._second[: len(spare)]
            np.multiply(gradient, gradient, out=spare)
            _blend(gradients, spare, keep)
            np.add(steps, constant, out=spare)
            np.add(gradients, constant, out=second)
            np.divide(spare, second, out=spare)
            np.sqrt(spare, out=spare)
            np.multiply(spare, gradient, out=spare)
            np.subtract(weights, spare, out=weights)
            np.multiply(spare, spare, out=spare)
            _blend(steps, spare, keep)


class Adam(Optimizer):
    """Kingma and Ba 2015: bias-corrected first and second moments.

    ``w -= rate * m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon)``.
    """

    divides = True

    def __init__(self, plan: Trainable, kind: str) -> None:
        super().__init__(plan, kind)
        self._step = np.empty_like(self._spare)

    def constants(self, rule: UpdateRule) -> tuple[float, ...]:
        """Return b1, 1 - b1, b2, 1 - b2, epsilon, the size of the step, and 1 / sqrt(1 - b2^t)."""
        beta1, beta2 = rule.constants["beta1"], rule.constants["beta2"]
        size = rule.rate / (1 - beta1**self.steps)
        root = 1 / math.sqrt(1 - beta2**self.steps)
        return beta1, 1 - beta1, beta2, 1 - beta2, rule.constants["epsilon"], size, root

    def _apply(self, rule: UpdateRule, constants: tuple[float, ...]) -> None:
        beta1, _, beta2, _, epsilon, step_size, root = constants
        for weights, gradient, first, second, spare in self._cut:
            step = self._step[: len(spare)]
            np.copyto(spare, gradient)
            _blend(first, spare, beta1)
            np.multiply(gradient, gradient, out=spare)
            _blend(second, spare, beta2)
            np.sqrt(second, out=spare)
            np.multiply(spare, root, out=spare)
            np.add(spare, epsilon, out=spare)
            np.divide(first, spare, out=step)
            np.multiply(step, step_size, out=step)
            np.subtract(weights, step, out=weights)


def _blend(mean: Vector, fresh: Vector, keep: float) -> None:
    """Compute ``mean = keep * mean + (1 - keep) * fresh``; ``fresh`` is overwritten."""
    np.multiply(mean, keep, out=mean)
    np.multiply(fresh, 1 - keep, out=fresh)
    np.add(mean, fresh, out=mean)


def clip_gradient(shaping: Shaping, gradient: Vector | None) -> None:
    """Cut the gradient of all weights in place, as the shaping says; none where it sets no limit.

    By the norm of all together it is ``g * limit / |g|`` where ``|g| > limit`` (Pascanu et al.
    2013), also where the square of a finite number is none. ``gradient`` is [numbers], of all
    weights.
    """
    if gradient is None:
        return
    if shaping.limit < math.inf:
        np.clip(gradient, -shaping.limit, shaping.limit, out=gradient)
    if shaping.total < math.inf:
        with np.errstate(over="ignore"):
            norm = math.sqrt(float(np.dot(gradient, gradient)))
        if not math.isfinite(norm):
            largest = float(np.abs(gradient).max())
            norm = largest * float(np.linalg.norm((gradient / largest).astype(np.float64)))
        if norm > shaping.total:
            np.multiply(gradient, shaping.total / norm, out=gradient)


class _Limit:
    """Max-norm: an incoming weight vector longer than ``limit`` is scaled back to it."""

    def __init__(self, plan: Trainable) -> None:
        self._views = [
            (view, np.empty(len(view), view.dtype)) for view in plan.incoming() if view.size
        ]

    def apply(self, limit: float) -> None:
        """Scale back."""
        for view, norms in self._views:
            np.einsum("ij,ij->i", view, view, out=norms)
            np.sqrt(norms, out=norms)
            np.maximum(norms, limit, out=norms)
            np.divide(limit, norms, out=norms)
            np.multiply(view, norms[:, None], out=view)


def kept_bytes(graph: Graph, kind: str, width: int) -> Counter[str]:
    """Return the bytes of a run beside its plans, by layer: the rule's memory, the weights before a
    risky step, and one copy of all for the model's file.
    """
    found: Counter[str] = Counter()
    for parameter in graph.parameters:
        layer = parameter.name.partition("/")[0]
        found[f"layer '{layer}'"] += parameter.size * width * 2 * (1 + len(REMEMBERS[kind]))
    return found


KINDS: dict[str, type[Optimizer]] = {
    "sgd": PlainSgd,
    "momentum": MomentumSgd,
    "adadelta": AdaDelta,
    "adam": Adam,
}


def bind_optimizer(plan: Trainable, kind: str) -> Optimizer:
    """Return a kind of rule bound to a plan; its state starts at zero."""
    return KINDS[kind](plan, kind)
