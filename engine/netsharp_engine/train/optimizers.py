"""The update rules, on a plan's flat vectors, block by block and without allocating.

SGD, AdaDelta and max-norm are those of the originals' native kernels (section 11 of our
reading); Adam is Kingma and Ba's, with decoupled weight decay.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from netsharp_engine.graph import Graph

from .settings import Settings

Vector = npt.NDArray[np.floating]
BLOCK = 1 << 15


class Trainable(Protocol):
    """What an optimiser needs of a plan."""

    weights: Vector

    @property
    def gradient(self) -> Vector | None:
        """The gradient of the last step, as long as ``weights``."""

    def incoming(self) -> list[Vector]:
        """Views [rows, fan-in] into ``weights``, biases left out."""


class Optimizer(ABC):
    """An update rule bound to one plan.

    ``rate`` is the learning rate in force.  ``state`` names the flat vectors that the rule
    remembers; together with ``steps`` they are all that a resumed run needs.
    """

    def __init__(self, plan: Trainable, settings: Settings) -> None:
        gradient = plan.gradient
        assert gradient is not None
        self.rate = settings.learning_rate
        self.steps = 0
        self.state: dict[str, Vector] = {}
        self._weights = plan.weights
        self._gradient = gradient
        self._spare = np.empty(min(BLOCK, max(len(plan.weights), 1)), plan.weights.dtype)
        self._decay = settings.weight_decay
        self._limit = _Limit(plan, settings.max_norm) if settings.max_norm else None

    def update(self) -> None:
        """Change the weights by the gradient."""
        self.steps += 1
        self._apply()
        if self._decay:
            np.multiply(self._weights, 1 - self.rate * self._decay, out=self._weights)
        if self._limit is not None:
            self._limit.apply()

    @abstractmethod
    def _apply(self) -> None:
        """Move the weights by this rule's step."""

    def _remember(self, name: str) -> Vector:
        vector = np.zeros_like(self._weights)
        self.state[name] = vector
        return vector

    def _blocks(self, *vectors: Vector) -> list[tuple[Vector, ...]]:
        """Weights, gradient, the given vectors and scratch, cut into equal blocks."""
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

    def restore(self, steps: int, rate: float, state: Mapping[str, Vector]) -> None:
        """Continue where another run of the same rule stopped; KeyError for a missing vector."""
        self.steps, self.rate = steps, rate
        for name, vector in self.state.items():
            vector[...] = state[name]


class PlainSgd(Optimizer):
    """``w -= rate * g``."""

    def __init__(self, plan: Trainable, settings: Settings) -> None:
        super().__init__(plan, settings)
        self._cut = self._blocks()

    def _apply(self) -> None:
        rate = self.rate
        for weights, gradient, spare in self._cut:
            np.multiply(gradient, rate, out=spare)
            np.subtract(weights, spare, out=weights)


class MomentumSgd(Optimizer):
    """``delta = momentum * delta - rate * g; w += delta``.

    With Nesterov's look-ahead the weights move by ``momentum * delta - rate * g`` of the new
    delta (Bengio et al. 2013).
    """

    def __init__(self, plan: Trainable, settings: Settings) -> None:
        super().__init__(plan, settings)
        self._momentum = settings.momentum
        self._nesterov = settings.nesterov
        self._cut = self._blocks(self._remember("delta"))

    def _apply(self) -> None:
        rate, momentum = self.rate, self._momentum
        for weights, gradient, delta, spare in self._cut:
            np.multiply(gradient, rate, out=spare)
            np.multiply(delta, momentum, out=delta)
            np.subtract(delta, spare, out=delta)
            if self._nesterov:
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

    def __init__(self, plan: Trainable, settings: Settings) -> None:
        super().__init__(plan, settings)
        self._decay = 0.0
        self._keep = settings.adadelta_decay
        self._constant = settings.adadelta_constant
        self._second = np.empty_like(self._spare)
        gradients, steps = self._remember("squared_gradient"), self._remember("squared_step")
        self._cut = self._blocks(gradients, steps)

    def _apply(self) -> None:
        keep, constant = self._keep, self._constant
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

    def __init__(self, plan: Trainable, settings: Settings) -> None:
        super().__init__(plan, settings)
        self._beta1, self._beta2 = settings.adam_beta1, settings.adam_beta2
        self._epsilon = settings.adam_epsilon
        first, second = self._remember("first_moment"), self._remember("second_moment")
        self._cut = self._blocks(first, second)
        self._step = np.empty_like(self._spare)

    def _apply(self) -> None:
        beta1, beta2 = self._beta1, self._beta2
        step_size = self.rate / (1 - beta1**self.steps)
        root = 1 / math.sqrt(1 - beta2**self.steps)
        for weights, gradient, first, second, spare in self._cut:
            step = self._step[: len(spare)]
            np.copyto(spare, gradient)
            _blend(first, spare, beta1)
            np.multiply(gradient, gradient, out=spare)
            _blend(second, spare, beta2)
            np.sqrt(second, out=spare)
            np.multiply(spare, root, out=spare)
            np.add(spare, self._epsilon, out=spare)
            np.divide(first, spare, out=step)
            np.multiply(step, step_size, out=step)
            np.subtract(weights, step, out=weights)


def _blend(mean: Vector, fresh: Vector, keep: float) -> None:
    """``mean = keep * mean + (1 - keep) * fresh``; ``fresh`` is used up."""
    np.multiply(mean, keep, out=mean)
    np.multiply(fresh, 1 - keep, out=fresh)
    np.add(mean, fresh, out=mean)


class _Limit:
    """Max-norm: an incoming weight vector longer than ``limit`` is scaled back to it."""

    def __init__(self, plan: Trainable, limit: float) -> None:
        self._limit = limit
        self._views = [
            (view, np.empty(len(view), view.dtype)) for view in plan.incoming() if view.size
        ]

    def apply(self) -> None:
        limit = self._limit
        for view, norms in self._views:
            np.einsum("ij,ij->i", view, view, out=norms)
            np.sqrt(norms, out=norms)
            np.maximum(norms, limit, out=norms)
            np.divide(limit, norms, out=norms)
            np.multiply(view, norms[:, None], out=view)


def kept_bytes(graph: Graph, settings: Settings) -> Counter[str]:
    """What a run keeps beside its plans, by layer: what the rule remembers, the weights before a
    risky step, and one copy of all for the model's file.
    """
    remembered = {"adadelta": 2, "adam": 2}.get(settings.optimizer, int(bool(settings.momentum)))
    width = np.dtype(settings.dtype).itemsize
    found: Counter[str] = Counter()
    for parameter in graph.parameters:
        layer = parameter.name.partition("/")[0]
        found[f"layer '{layer}'"] += parameter.size * width * 2 * (1 + remembered)
    return found


RULES: dict[str, type[Optimizer]] = {"adadelta": AdaDelta, "adam": Adam}


def bind_optimizer(plan: Trainable, settings: Settings) -> Optimizer:
    """The rule that the settings ask for, bound to a plan; its state starts at zero."""
    rule = RULES.get(settings.optimizer)
    if rule is None:
        rule = MomentumSgd if settings.momentum else PlainSgd
    return rule(plan, settings)


def reduced_rate(
    rate: float, settings: Settings, epoch: int, loss: float, previous: float | None
) -> float:
    """The rate after ``epoch`` (from 1) with this mean training loss.

    It is multiplied by rate_reduction_ratio every rate_reduction_frequency epochs, and when the
    loss does not fall by at least rate_reduction_error_ratio of the previous one (0: rises).
    """
    due = epoch % settings.rate_reduction_frequency == 0
    ratio = settings.rate_reduction_error_ratio
    stalled = previous is not None and loss > previous * (1 - ratio)
    return rate * settings.rate_reduction_ratio if due or stalled else rate
