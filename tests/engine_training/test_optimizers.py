"""Every update rule against the same formula written out in plain Python, number by number."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

from netsharp_engine.numpy_backend.updates import BLOCK, bind_optimizer
from netsharp_engine.train import read_settings
from netsharp_engine.train.rates import reduced_rate, rule_of

SIZE = 2 * BLOCK + 7
CHECKED = (0, 1, BLOCK - 1, BLOCK, SIZE - 1)


class Weights:
    """A plan's flat vectors without a network."""

    def __init__(self, size=SIZE, rows=0):
        random = np.random.default_rng(5)
        self.weights = random.normal(size=size)
        self.gradient = np.zeros(size)
        self._rows = rows

    @property
    def trained(self):
        return self.weights

    def incoming(self):
        return [self.weights[: self._rows * 3].reshape(self._rows, 3)] if self._rows else []


def gradients(steps, size=SIZE):
    random = np.random.default_rng(6)
    return [random.normal(size=size) for _ in range(steps)]


def run(steps=4, **flags):
    settings = read_settings({}, {"dtype": "float64", "optimizer": "sgd", **flags})
    plan = Weights()
    start = plan.weights.copy()
    rule = rule_of(settings)
    optimizer = bind_optimizer(plan, rule.kind)
    fed = gradients(steps)
    for gradient in fed:
        plan.gradient[...] = gradient
        optimizer.update(rule)
    return start, fed, plan.weights, settings


def compare(rule, start, fed, found):
    for place in CHECKED:
        expected = rule(float(start[place]), [float(gradient[place]) for gradient in fed])
        assert found[place] == pytest.approx(expected, rel=1e-12)


def test_sgd():
    def rule(w, gradients):
        for g in gradients:
            w -= 0.3 * g
        return w

    start, fed, found, _ = run(learning_rate=0.3)
    compare(rule, start, fed, found)


def test_sgd_with_momentum_and_weight_decay():
    def rule(w, gradients):
        delta = 0.0
        for g in gradients:
            delta = -0.3 * g + 0.8 * delta
            w += delta
            w *= 1 - 0.3 * 0.01
        return w

    start, fed, found, _ = run(learning_rate=0.3, momentum=0.8, weight_decay=0.01)
    compare(rule, start, fed, found)


def test_nesterov_looks_ahead():
    def rule(w, gradients):
        """The textbook form: the gradient is taken at w + momentum * delta."""
        ahead, delta = w, 0.0
        for g in gradients:
            position = ahead - 0.8 * delta
            delta = 0.8 * delta - 0.3 * g
            position += delta
            ahead = position + 0.8 * delta
        return ahead

    start, fed, found, _ = run(learning_rate=0.3, momentum=0.8, nesterov=True)
    compare(rule, start, fed, found)


def test_adadelta():
    def rule(w, gradients):
        mean_g2 = mean_u2 = 0.0
        for g in gradients:
            mean_g2 = 0.9 * mean_g2 + 0.1 * g * g
            step = math.sqrt((mean_u2 + 1e-4) / (mean_g2 + 1e-4)) * g
            mean_u2 = 0.9 * mean_u2 + 0.1 * step * step
            w -= step
        return w

    start, fed, found, _ = run(optimizer="adadelta", adadelta_decay=0.9, adadelta_constant=1e-4)
    compare(rule, start, fed, found)


def test_adam():
    def rule(w, gradients):
        m = v = 0.0
        for t, g in enumerate(gradients, 1):
            m = 0.9 * m + 0.1 * g
            v = 0.99 * v + 0.01 * g * g
            w -= 0.02 * (m / (1 - 0.9**t)) / (math.sqrt(v / (1 - 0.99**t)) + 1e-6)
            w *= 1 - 0.02 * 0.1
        return w

    start, fed, found, _ = run(
        optimizer="adam",
        learning_rate=0.02,
        adam_beta1=0.9,
        adam_beta2=0.99,
        adam_epsilon=1e-6,
        weight_decay=0.1,
    )
    compare(rule, start, fed, found)


def test_max_norm_scales_long_incoming_vectors_alone():
    settings = read_settings({}, {"max_norm": 1, "learning_rate": 0.5, "dtype": "float64"})
    plan = Weights(size=11, rows=3)
    plan.weights[...] = [3, 4, 0, 0.6, 0, 0.8, 0, 0, 0, 100, -100]
    rule = rule_of(settings)
    bind_optimizer(plan, rule.kind).update(rule)
    expected = [0.6, 0.8, 0, 0.6, 0, 0.8, 0, 0, 0, 100, -100]
    np.testing.assert_allclose(plan.weights, expected, rtol=1e-15)
    assert plan.weights[3] == 0.6  # a vector within the limit keeps every bit


@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        {"optimizer": "adadelta"},
        {"optimizer": "adam"},
    ],
)
def test_an_update_allocates_no_array(flags):
    plan = Weights()
    rule = rule_of(read_settings({}, {"dtype": "float64", **flags}))
    optimizer = bind_optimizer(plan, rule.kind)
    plan.gradient[...] = 1
    optimizer.update(rule)
    tracemalloc.start()
    optimizer.update(rule)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < BLOCK


@pytest.mark.parametrize(
    ("flags", "epoch", "loss", "previous", "expected"),
    [
        ({}, 100, 2.0, 1.0, 0.1),  # ratio 1 never changes the rate
        ({"rate_reduction_ratio": 0.5}, 99, 0.9, 1.0, 0.1),
        ({"rate_reduction_ratio": 0.5}, 100, 0.9, 1.0, 0.05),
        ({"rate_reduction_ratio": 0.5}, 3, 1.1, 1.0, 0.05),  # the loss rose
        ({"rate_reduction_ratio": 0.5}, 3, 1.0, 1.0, 0.1),
        ({"rate_reduction_ratio": 0.5}, 1, 5.0, None, 0.1),
        ({"rate_reduction_ratio": 0.5, "rate_reduction_frequency": 2}, 4, 0.9, 1.0, 0.05),
        ({"rate_reduction_ratio": 0.5, "rate_reduction_error_ratio": 0.2}, 3, 0.85, 1.0, 0.05),
        ({"rate_reduction_ratio": 0.5, "rate_reduction_error_ratio": 0.2}, 3, 0.75, 1.0, 0.1),
    ],
)
def test_rate_reduction(flags, epoch, loss, previous, expected):
    settings = read_settings({}, flags)
    assert reduced_rate(0.1, settings, epoch, loss, previous) == expected
