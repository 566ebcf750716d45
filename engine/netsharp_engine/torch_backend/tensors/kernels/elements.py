"""Torch's rows for operations on elements, with CNTK's slopes where torch has others."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

from netsharp_engine.nodes import Node
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.kernels.rows import Tensors, TorchRow, aligned, ruled

#: What Log gives at and below its clip, and where that is.
_LEAST, _LEAST_LOG = 1e-37, -85.1
#: The least that is divided by, and how much less a term is that a sum of logarithms leaves out.
_SMALLEST, _LEFT_OUT = 1e-30, -9.2103


def away_from_zero(values: Tensor) -> Tensor:
    """Return numbers to divide by: none is nearer to 0 than 1e-30."""
    least = torch.full_like(values, _SMALLEST)
    return torch.where(values.abs() < _SMALLEST, torch.where(values < 0, -least, least), values)


def clipped_log(values: Tensor) -> Tensor:
    """Return logarithms, -85.1 at and below 1e-37; the slope there is that of -85.1."""
    return ruled(_logarithm, lambda value, by, _: (by * torch.exp(-value),), values)


def _logarithm(values: Tensor) -> Tensor:
    # Compared in the type of the numbers, in which the bound may be another number.
    least = values < torch.tensor(_LEAST, dtype=values.dtype)
    found = torch.log(torch.where(least, torch.ones_like(values), values))
    return torch.where(least, torch.full_like(values, _LEAST_LOG), found)


def log_softmax(values: Tensor) -> Tensor:
    """Return logarithms of shares over all elements of a sample."""
    return torch.log_softmax(values.reshape(values.shape[0], -1), 1).reshape(values.shape)


def softmax(values: Tensor) -> Tensor:
    """Return shares over all elements of a sample."""
    return torch.softmax(values.reshape(values.shape[0], -1), 1).reshape(values.shape)


def unary(function: Callable[[Tensor], Tensor]) -> TorchRow:
    """Return a row by f(z)."""
    return lambda node, sources: function(sources[0])


def _binary(function: Callable[[Tensor, Tensor], Tensor]) -> TorchRow:
    """Return a row by f(a, b)."""
    return lambda node, sources: function(*aligned(sources))


def _root(values: Tensor) -> Tensor:
    return ruled(
        lambda z: z.clamp(min=0).sqrt(),
        lambda value, by, _: (by / (2 * value.clamp(min=1e-30)),),
        values,
    )


def _reciprocal(values: Tensor) -> Tensor:
    none = values == 0
    found = 1 / torch.where(none, torch.ones_like(values), values)
    return torch.where(none, torch.zeros_like(values), found)


def _straight(values: Tensor) -> Tensor:
    """Return the slope is that of a line between -1 and 1, not that of the steps."""
    ones = torch.ones_like(values)
    return ruled(
        lambda z: torch.where(z > 0, ones, -ones),
        lambda value, by, z: (by * (z.abs() <= 1),),
        values,
    )


def _power(first: Tensor, second: Tensor) -> Tensor:
    return ruled(torch.pow, _power_back, first, second)


def _power_back(value: Tensor, by: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of base and exponent; that of the exponent is 0 where the base is not
    above 0 [CNTK: TensorOps.h].

    A gradient of 0 stays 0, also where a slope is infinite.
    """
    raised = a > 0
    logs = torch.log(torch.where(raised, a, torch.ones_like(a)))
    nothing = torch.zeros_like(value)
    base = torch.where(by == 0, nothing, by * b * torch.pow(a, b - 1))
    return base, torch.where(raised & (by != 0), by * value * logs, nothing)


def _log_plus(first: Tensor, second: Tensor) -> Tensor:
    """Return the larger alone where CNTK leaves the other out."""

    def joined(a: Tensor, b: Tensor) -> Tensor:
        larger = torch.maximum(a, b)
        less = torch.minimum(a, b) - larger
        return torch.where(less < _LEFT_OUT, larger, larger + torch.log(1 + torch.exp(less)))

    return ruled(
        joined,
        lambda value, by, a, b: (by * torch.sigmoid(a - b), by * torch.sigmoid(b - a)),
        first,
        second,
    )


def _reshaped(node: Node, sources: Tensors) -> Tensor:
    return sources[0].reshape(-1, *node.shape)


def _normalized(node: Node, sources: Tensors) -> Tensor:
    values, mean, deviation = aligned(sources)
    return (values - mean.detach()) * deviation.detach()


def _restored(node: Node, sources: Tensors) -> Tensor:
    values, mean, deviation = aligned(sources)
    return values / away_from_zero(deviation.detach()) + mean.detach()


def _compared(compare: Callable[[Tensor, Tensor], Tensor]) -> TorchRow:
    def row(node: Node, sources: Tensors) -> Tensor:
        first, second = aligned(sources)
        return compare(first, second).to(first.dtype)

    return row


def _chosen(node: Node, sources: Tensors) -> Tensor:
    condition, first, second = aligned(sources)
    return torch.where(condition.detach() != 0, first, second)


def _clipped(node: Node, sources: Tensors) -> Tensor:
    least, most, values = aligned(sources)
    return ruled(
        lambda low, high, z: torch.minimum(torch.maximum(z, low), high),
        lambda value, by, low, high, z: (None, None, by * (z == value)),
        least.detach(),
        most.detach(),
        values,
    )


#: By the names of `netsharp_engine.ops.tensors`.
ELEMENTS: dict[str, TorchRow] = {
    "Sigmoid": unary(torch.sigmoid),
    "Tanh": unary(torch.tanh),
    "RectifiedLinear": unary(torch.relu),
    "Exp": unary(torch.exp),
    "Log": unary(clipped_log),
    "Negate": unary(torch.neg),
    "Abs": unary(torch.abs),
    "Sqrt": unary(_root),
    "Reciprocal": unary(_reciprocal),
    "Softmax": unary(softmax),
    "LogSoftmax": unary(log_softmax),
    "Pass": unary(lambda z: z),
    "StopGradient": unary(lambda z: z.detach()),
    "Acos": unary(torch.acos),
    "Asin": unary(torch.asin),
    "Atan": unary(torch.atan),
    "Tan": unary(torch.tan),
    "Cosh": unary(torch.cosh),
    "Sinh": unary(torch.sinh),
    "Asinh": unary(torch.asinh),
    "Atanh": unary(torch.atanh),
    "Floor": unary(lambda z: torch.floor(z.detach())),
    "Sin": unary(torch.sin),
    "Cosine": unary(torch.cos),
    "ExponentialLinearUnit": unary(functional.elu),
    "StraightThrough": unary(_straight),
    "Pow": _binary(_power),
    "Plus": _binary(torch.add),
    "Minus": _binary(torch.sub),
    "ElementTimes": _binary(torch.mul),
    "LogPlus": _binary(_log_plus),
    "PerDimMeanVarNormalization": _normalized,
    "PerDimMeanVarDeNormalization": _restored,
    "Reshape": _reshaped,
    "LegacyReshape": _reshaped,
    "If": _chosen,
    "Clip": _clipped,
    "Less": _compared(torch.lt),
    "LessEqual": _compared(torch.le),
    "Equal": _compared(torch.eq),
    "NotEqual": _compared(torch.ne),
    "GreaterEqual": _compared(torch.ge),
    "Greater": _compared(torch.gt),
}
