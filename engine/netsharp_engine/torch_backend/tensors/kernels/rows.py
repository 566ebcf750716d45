"""What a row of torch's table for CNTK's operations is, and gradients that are not the slope.

Values are tensors [columns, *shape], of what all samples share [1, *shape].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from netsharp_engine.nodes import Node
from netsharp_engine.torch_backend.kernels.rows import Tensor

Tensors = Sequence[Tensor]
#: From a node and its sources to its value; the gradient is what autograd makes of that.
TorchRow = Callable[[Node, Tensors], Tensor]
#: From a value, its gradient and the sources to a gradient by each source, None where it has none.
GradientRule = Callable[..., Sequence[Tensor | None]]


class RuledGradient(torch.autograd.Function):  # type: ignore[misc]
    """A value whose gradient is CNTK's rule and not the slope of what was computed."""

    @staticmethod
    def forward(
        ctx: Any, compute: Callable[..., Tensor], rule: GradientRule, *sources: Tensor
    ) -> Tensor:
        """Return the result of ``compute`` for the sources."""
        value = compute(*sources)
        ctx.rule = rule
        ctx.save_for_backward(value, *sources)
        return value

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the rule, summed up to the shapes of sources."""
        value, *sources = ctx.saved_tensors
        found = ctx.rule(value, gradient, *sources)
        given = (
            None if one is None else one.sum_to_size(source.shape)
            for one, source in zip(found, sources, strict=True)
        )
        return (None, None, *given)


def ruled(compute: Callable[..., Tensor], rule: GradientRule, *sources: Tensor) -> Tensor:
    """Return ``compute(*sources)`` with the gradient ``rule(value, gradient, *sources)``."""
    return RuledGradient.apply(compute, rule, *sources)


def aligned(sources: Tensors) -> list[Tensor]:
    """Return sources with as many dimensions as the one that has most; samples stay in front."""
    rank = max(one.dim() for one in sources)
    return [stretched(one, rank - 1) for one in sources]


def stretched(source: Tensor, rank: int) -> Tensor:
    """Return the same numbers with ``rank`` dimensions after that of samples."""
    lacking = rank + 1 - source.dim()
    if lacking <= 0:
        return source
    return source.reshape(source.shape[0], *(1,) * lacking, *source.shape[1:])


def flat(sources: Tensors) -> list[Tensor]:
    """Return sources as [samples, elements], as many samples of each."""
    count = max(one.shape[0] for one in sources)
    found = [one.reshape(one.shape[0], -1) for one in sources]
    return [one.expand(count, one.shape[1]) for one in found]


def one_number(number: Tensor) -> Tensor:
    """Return a sum as the value [1, 1] of a node."""
    return number.reshape(1, 1)
