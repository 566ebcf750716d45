"""Torch's criteria: a loss for each row, fused with the activation that it reads or alone.

A target is codes [rows], or numbers [rows, nodes].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from netsharp_engine.torch_backend.kernels.rows import Tensor, matrix

#: From the last values, the target and shares of the rows to the weighted mean of their losses.
Judge = Callable[[Tensor, Tensor, Tensor | None], Tensor]


class FlooredEntropy(torch.autograd.Function):  # type: ignore[misc]
    """-t ln y, where y below the smallest step of its type counts as that step, in slopes, too."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, target: Tensor) -> Tensor:
        """Return the products, one for each value."""
        least = values.clamp(min=torch.finfo(values.dtype).eps)
        ctx.save_for_backward(least, target)
        return -target * least.log()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Return the gradient by the values."""
        least, target = ctx.saved_tensors
        return -gradient * target / least, None


def _goal(last: Tensor, target: Tensor) -> Tensor:
    """Return the target as numbers [rows, nodes]."""
    if target.dtype == torch.int64:
        return functional.one_hot(target, last.shape[1]).to(last.dtype)
    return target


def _mean(losses: Tensor, shares: Tensor | None) -> Tensor:
    """Return the mean over rows of the sums of losses [rows, nodes]."""
    rows = losses.sum(1)
    return rows.mean() if shares is None else torch.dot(rows, shares)


def _softmax_entropy(last: Tensor, target: Tensor, shares: Tensor | None) -> Tensor:
    if shares is None:
        return functional.cross_entropy(last, target)
    return torch.dot(functional.cross_entropy(last, target, reduction="none"), shares)


def _sigmoid_entropy(last: Tensor, target: Tensor, shares: Tensor | None) -> Tensor:
    goal = _goal(last, target)
    losses = functional.binary_cross_entropy_with_logits(last, goal, reduction="none")
    return _mean(losses, shares)


def _entropy(last: Tensor, target: Tensor, shares: Tensor | None) -> Tensor:
    return _mean(FlooredEntropy.apply(last, _goal(last, target)), shares)


def _binary_entropy(last: Tensor, target: Tensor, shares: Tensor | None) -> Tensor:
    goal = _goal(last, target)
    losses = FlooredEntropy.apply(last, goal) + FlooredEntropy.apply(1 - last, 1 - goal)
    return _mean(losses, shares)


def _squared(last: Tensor, target: Tensor, shares: Tensor | None) -> Tensor:
    return _mean((last - _goal(last, target)).square(), shares)


class Criterion(NamedTuple):
    """A loss on what the activation before it reads, and on what that makes."""

    fused: Judge
    plain: Judge


CRITERIA: dict[str, Criterion] = {
    "cross entropy": Criterion(_softmax_entropy, _entropy),
    "binary cross entropy": Criterion(_sigmoid_entropy, _binary_entropy),
    "squared error": Criterion(_squared, _squared),
}


def right_answers(last: Tensor, codes: Tensor) -> Tensor:
    """Return the number of rows whose largest value is that of the label; see numpy's."""
    rows = matrix(last)
    predicted = rows[:, 0] > 0.5 if rows.shape[1] == 1 else rows.argmax(1)
    return (predicted == codes.reshape(-1)).sum()


#: Criteria that are reported beside the one that is minimised.
COUNTS = {"right answers": right_answers}
