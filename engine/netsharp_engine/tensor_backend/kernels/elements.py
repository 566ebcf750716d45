"""Operations on the elements of tensors, forward and backward.

Values are [samples, *shape], those that all samples share [1, *shape], so that numpy's rule of
broadcasting is the operations'. Transcendental functions and sums of many numbers are computed in
float64 and rounded once: numpy's float32 ones differ from processor to processor. Source: CNTK,
Math/TensorOps.h, and ComputationNetworkLib/NonlinearityNodes.h.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netsharp_engine.nodes import Node
from netsharp_engine.tensor_backend.kernels.rows import Array, Sources, TensorKernel, total


def reduced(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Return a gradient summed to the ``shape`` of a source that was broadcast."""
    if gradient.shape == shape:
        return gradient
    first, *rest = shape
    padded = (first, *(1,) * (gradient.ndim - len(shape)), *rest)
    sizes = zip(gradient.shape, padded, strict=True)
    axes = tuple(axis for axis, (size, wanted) in enumerate(sizes) if size != wanted)
    return (total(gradient, axes, keep=True) if axes else gradient).reshape(shape)


def _precisely(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def rounded(values: Array) -> Array:
        return function(values.astype(np.float64, copy=False)).astype(values.dtype, copy=False)

    return rounded


exp, log, tanh = map(_precisely, (np.exp, np.log, np.tanh))
#: CNTK's clip of Log: below the first number, near the least normal float32 (1.2e-38), it returns
#: the second, its rounded logarithm (Math/TensorOps.h, ClippedLog).
_LEAST, _LEAST_LOG = 1e-37, -85.1
#: CNTK's least divisor (EPS_IN_INVERSE), and the difference of logarithms, about log(1e-4), from
#: which the smaller term of a sum is left out (Math/TensorOps.h, LogAdd).
_SMALLEST, _LEFT_OUT = 1e-30, -9.2103


def _pair(sources: Sources) -> tuple[Array, Array]:
    """Return two sources with equally many dimensions."""
    first, second = aligned(sources)
    return first, second


def aligned(sources: Sources) -> list[Array]:
    """Return sources with as many dimensions as the one that has most, [samples, 1, ...,
    *shape].
    """
    rank = max(one.ndim for one in sources)
    return [one.reshape(one.shape[0], *(1,) * (rank - one.ndim), *one.shape[1:]) for one in sources]


def _sigmoid(z: Array) -> Array:
    found: Array = 1 / (exp(-z) + 1)
    return found


def away_from_zero(values: Array) -> Array:
    """Return numbers to divide by, bounded away from zero, of the same shape."""
    least = values.dtype.type(_SMALLEST)
    found: Array = np.where(np.abs(values) < least, np.where(values < 0, -least, least), values)
    return found


def _log_plus(a: Array, b: Array) -> Array:
    """Return log(exp(a) + exp(b)); the larger alone where CNTK leaves the other out
    (Math/TensorOps.h, LogAdd).
    """
    larger, less = np.maximum(a, b), np.minimum(a, b) - np.maximum(a, b)
    joined = larger + log(1 + exp(less))
    return np.where(less < _LEFT_OUT, larger, joined)


def clipped_log(z: Array) -> Array:
    """Return the logarithm, of the same shape, bounded below as CNTK's (Math/TensorOps.h,
    ClippedLog).
    """
    least = z < _LEAST
    return np.where(least, z.dtype.type(_LEAST_LOG), log(np.where(least, z.dtype.type(1), z)))


def log_softmax(z: Array) -> Array:
    """Return log softmax over all elements of a sample, [samples, *shape]."""
    flat = z.reshape(len(z), -1)
    shifted = flat - np.maximum.reduce(flat, axis=1, keepdims=True)
    found: Array = shifted - log(total(exp(shifted), (1,), keep=True))
    return found.reshape(z.shape)


def softmax(z: Array) -> Array:
    """Return softmax over all elements of a sample, [samples, *shape]."""
    return exp(log_softmax(z))


def _over_elements(values: Array) -> Array:
    """Return the sum over the elements of each sample, to be broadcast against them."""
    return total(values, tuple(range(1, values.ndim)), keep=True)


def unary(
    function: Callable[[Array], Array], slope: Callable[[Array, Array, Array], Array]
) -> TensorKernel:
    """Return a row by f(z) and the gradient by (z, f(z), gradient)."""
    return TensorKernel(
        lambda node, sources: function(sources[0]),
        (lambda node, sources, value, gradient: slope(sources[0], value, gradient),),
    )


def _binary(
    function: Callable[[Array, Array], Array],
    left: Callable[[Array, Array, Array], Array],
    right: Callable[[Array, Array, Array], Array],
) -> TensorKernel:
    """Return a row by f(a, b) and both gradients by (a, b, gradient)."""
    return TensorKernel(
        lambda node, sources: function(*_pair(sources)),
        (
            lambda node, sources, value, gradient: left(*_pair(sources), gradient),
            lambda node, sources, value, gradient: right(*_pair(sources), gradient),
        ),
    )


def _held(node: Node, sources: Sources) -> Array:
    raise AssertionError("what is held is not computed")


def _reshaped(node: Node, sources: Sources) -> Array:
    return sources[0].reshape(-1, *node.shape)


def _reshaped_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    return gradient.reshape(-1, *node.inputs[0].shape)


def _normalized(node: Node, sources: Sources) -> Array:
    values, mean, deviation = aligned(sources)
    found: Array = (values - mean) * deviation
    return found


def _normalized_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    return gradient * aligned(sources)[2]


def _restored(node: Node, sources: Sources) -> Array:
    values, mean, deviation = aligned(sources)
    found: Array = values / away_from_zero(deviation) + mean
    return found


def _restored_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found: Array = gradient / away_from_zero(aligned(sources)[2])
    return found


def one_number(number: Array) -> Array:
    """Return a sum as the value of a node, [1, 1]."""
    return number.reshape(1, 1)


def _root_slope(z: Array, y: Array, g: Array) -> Array:
    found: Array = g / (2 * np.maximum(y, _SMALLEST))
    return found


def _reciprocal(z: Array) -> Array:
    return np.where(z == 0, z, 1 / np.where(z == 0, z.dtype.type(1), z))


def _power(a: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):
        found: Array = np.power(a.astype(np.float64, copy=False), b).astype(a.dtype, copy=False)
    return found


def _of_exponent(a: Array, b: Array, g: Array) -> Array:
    """Return the gradient by an exponent; 0 where the base is not above 0 [CNTK:
    Math/TensorOps.h].
    """
    raised = a > 0
    return np.where(raised, g * _power(a, b) * log(np.where(raised, a, a.dtype.type(1))), 0)


def _exponential_unit(z: Array) -> Array:
    return np.where(z >= 0, z, exp(np.minimum(z, 0)) - 1)


def _later(name: Callable[[Array], Array], slope: Callable[[Array, Array], Array]) -> TensorKernel:
    """Return a row of a function of later releases, with its slope by (z, f(z))."""
    rounded = _precisely(name)

    def forward(z: Array) -> Array:
        with np.errstate(all="ignore"):
            return rounded(z)

    return unary(forward, lambda z, y, g: g * slope(z, y))


#: By the names of `netsharp_engine.ops.tensors`.
KERNELS: dict[str, TensorKernel] = {
    "LearnableParameter": TensorKernel(_held, ()),
    "Mean": TensorKernel(_held, (None,)),
    "InvStdDev": TensorKernel(_held, (None,)),
    "Sigmoid": unary(_sigmoid, lambda z, y, g: g * (y * (1 - y))),
    "Tanh": unary(tanh, lambda z, y, g: g * (1 - y * y)),
    "RectifiedLinear": unary(lambda z: np.maximum(z, 0), lambda z, y, g: g * (y > 0)),
    "Exp": unary(exp, lambda z, y, g: g * y),
    "Log": unary(clipped_log, lambda z, y, g: g * exp(-y)),
    "Negate": unary(np.negative, lambda z, y, g: -g),
    "Abs": unary(np.abs, lambda z, y, g: g * np.sign(z)),
    "Sqrt": unary(lambda z: np.sqrt(np.maximum(z, 0)), _root_slope),
    "Reciprocal": unary(_reciprocal, lambda z, y, g: -g * y * y),
    "Softmax": unary(softmax, lambda z, y, g: y * (g - _over_elements(g * y))),
    "LogSoftmax": unary(log_softmax, lambda z, y, g: g - exp(y) * _over_elements(g)),
    "Pass": unary(lambda z: z, lambda z, y, g: g),
    "StopGradient": TensorKernel(lambda node, sources: sources[0], (None,)),
    "Acos": _later(np.arccos, lambda z, y: -1 / np.sqrt(1 - z * z)),
    "Asin": _later(np.arcsin, lambda z, y: 1 / np.sqrt(1 - z * z)),
    "Atan": _later(np.arctan, lambda z, y: 1 / (1 + z * z)),
    "Tan": _later(np.tan, lambda z, y: 1 + y * y),
    "Cosh": _later(np.cosh, lambda z, y: np.sinh(z)),
    "Sinh": _later(np.sinh, lambda z, y: np.cosh(z)),
    "Asinh": _later(np.arcsinh, lambda z, y: 1 / np.sqrt(z * z + 1)),
    "Atanh": _later(np.arctanh, lambda z, y: 1 / (1 - z * z)),
    "ExponentialLinearUnit": unary(
        _exponential_unit, lambda z, y, g: g * np.where(z >= 0, 1, y + 1)
    ),
    # The slope is that of a line between -1 and 1, not that of the steps.
    "StraightThrough": unary(
        lambda z: np.where(z > 0, z.dtype.type(1), z.dtype.type(-1)),
        lambda z, y, g: g * (np.abs(z) <= 1),
    ),
    "Pow": _binary(_power, lambda a, b, g: g * b * _power(a, b - 1), _of_exponent),
    "Plus": _binary(np.add, lambda a, b, g: g, lambda a, b, g: g),
    "Minus": _binary(np.subtract, lambda a, b, g: g, lambda a, b, g: -g),
    "ElementTimes": _binary(np.multiply, lambda a, b, g: g * b, lambda a, b, g: g * a),
    "LogPlus": _binary(
        _log_plus, lambda a, b, g: g * _sigmoid(a - b), lambda a, b, g: g * _sigmoid(b - a)
    ),
    "PerDimMeanVarNormalization": TensorKernel(_normalized, (_normalized_back, None, None)),
    "PerDimMeanVarDeNormalization": TensorKernel(_restored, (_restored_back, None, None)),
    "Reshape": TensorKernel(_reshaped, (_reshaped_back,)),
    "LegacyReshape": TensorKernel(_reshaped, (_reshaped_back,)),
}
