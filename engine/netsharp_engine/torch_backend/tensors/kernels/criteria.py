"""Torch's rows for what sums over samples: criteria, what is counted beside them, and norms.

What they are given are samples alone: gaps between sequences are left out before.
"""

from __future__ import annotations

import torch

from netsharp_engine.nodes import Node
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.kernels.elements import (
    away_from_zero,
    clipped_log,
    log_softmax,
    softmax,
)
from netsharp_engine.torch_backend.tensors.kernels.rows import (
    Tensors,
    TorchRow,
    flat,
    one_number,
    ruled,
)


def _entropy(node: Node, sources: Tensors) -> Tensor:
    """By CNTK's rule for the gradient by values, which takes it that labels sum to 1."""
    labels, values = flat(sources)
    return ruled(
        lambda t, z: one_number(-(t * log_softmax(z)).sum()),
        lambda value, by, t, z: (-log_softmax(z) * by, (softmax(z) - t) * by),
        labels,
        values,
    )


def _plain_entropy(node: Node, sources: Tensors) -> Tensor:
    labels, given = flat(sources)
    return ruled(
        lambda t, y: one_number(-(t * clipped_log(y)).sum()),
        lambda value, by, t, y: (-clipped_log(y) * by, -t / away_from_zero(y) * by),
        labels,
        given,
    )


def _errors(node: Node, sources: Tensors) -> Tensor:
    """Count samples that have their first largest value elsewhere than the label has its own.

    A third source says how many of the largest values count.
    """
    labels, values = (one.detach() for one in flat(sources[:2]))
    wanted = labels.argmax(1)
    most = int(sources[2].reshape(-1)[0]) if len(sources) == 3 else 1
    if most <= 1:
        missed = wanted != values.argmax(1)
    else:
        best = torch.sort(values, dim=1, descending=True, stable=True).indices[:, :most]
        missed = (best != wanted[:, None]).all(1)
    return one_number(missed.sum().to(values.dtype))


def _squares(node: Node, sources: Tensors) -> Tensor:
    first, second = flat(sources)
    return one_number((first - second).square().sum())


def _logistic(node: Node, sources: Tensors) -> Tensor:
    """Weights of samples count as shares of their sum, times the samples.

    The gradient is CNTK's rule, which takes it that weights are 1 in the mean.
    """
    labels, given, *weights = flat(sources)

    def log_values(t: Tensor, y: Tensor, *w: Tensor) -> Tensor:
        logs = clipped_log(2 * t * y + 1 - t - y)
        if not w:
            return one_number(-logs.sum())
        each = w[0].expand(logs.shape)
        return one_number(-(each * logs).sum() / each.sum() * logs.shape[0])

    def rule(value: Tensor, by: Tensor, t: Tensor, y: Tensor, *w: Tensor) -> list[Tensor | None]:
        sign = (2 * t - 1) * (w[0] if w else 1)
        return [None, -sign / away_from_zero(2 * t * y + 1 - t - y) * by, *(None for _ in w)]

    return ruled(log_values, rule, labels, given, *weights)


def _given(node: Node, sources: Tensors) -> Tensor:
    """Sum up the first source; the second is the gradient that the third gets."""
    log_values, given, source = sources
    return ruled(
        lambda t, g, x: one_number(t.sum()),
        lambda value, by, t, g, x: (None, None, _shaped(g, x) * by.sum() + torch.zeros_like(x)),
        log_values,
        given,
        source,
    )


def _shaped(values: Tensor, like: Tensor) -> Tensor:
    return values.reshape(values.shape[0], *like.shape[1:])


CRITERIA: dict[str, TorchRow] = {
    "CrossEntropyWithSoftmax": _entropy,
    "CrossEntropy": _plain_entropy,
    "ClassificationError": _errors,
    "SquareError": _squares,
    "Logistic": _logistic,
    "DummyCriterion": _given,
    "SumElements": lambda node, sources: one_number(sources[0].sum()),
    "MatrixL1Reg": lambda node, sources: one_number(sources[0].abs().sum()),
    "MatrixL2Reg": lambda node, sources: one_number(torch.linalg.vector_norm(sources[0])),
}
