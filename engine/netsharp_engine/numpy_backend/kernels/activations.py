"""Numpy's functions of the activations: one row for each of the table of facts.

Source: the Net# guide, the list of functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array

#: The bound below a square root in its slope 1 / (2 y), as the activations of Microsoft's Net#
#: engine have it: the slope is finite near 0.
SMALLEST_ROOT = 1e-10


class Function(NamedTuple):
    """One row.

    ``forward(x, y, spare, line)`` writes f(x) to ``y``.  ``backward(kept, g, out, spare, line)``
    writes the gradient by the input to ``out``, given the gradient ``g`` by the output; ``kept`` is
    the output when ``keeps`` is "output", else the input.  All of ``x y g out spare`` are arrays
    [nodes, samples] of one dtype, ``line`` is [samples]; ``y`` may be ``x`` when ``keeps`` is
    "output", and ``out`` may be ``g``.  Nothing may be allocated.
    """

    forward: Callable[[Array, Array, Array, Array], object]
    backward: Callable[[Array, Array, Array, Array, Array], object]
    keeps: str


def _sigmoid(x: Array, y: Array, spare: Array, line: Array) -> None:
    np.negative(x, out=y)
    np.exp(y, out=y)
    np.add(y, 1.0, out=y)
    np.reciprocal(y, out=y)


def _sigmoid_back(y: Array, g: Array, out: Array, spare: Array, line: Array) -> None:
    np.multiply(y, y, out=spare)
    np.subtract(y, spare, out=spare)
    np.multiply(g, spare, out=out)


def _linear(x: Array, y: Array, spare: Array, line: Array) -> None:
    if y is not x:
        np.copyto(y, x)


def _linear_back(y: Array, g: Array, out: Array, spare: Array, line: Array) -> None:
    if out is not g:
        np.copyto(out, g)


def _softmax(x: Array, y: Array, spare: Array, line: Array) -> None:
    np.maximum.reduce(x, axis=0, out=line)
    np.subtract(x, line, out=y)
    np.exp(y, out=y)
    np.add.reduce(y, axis=0, out=line)
    np.divide(y, line, out=y)


def _softmax_back(y: Array, g: Array, out: Array, spare: Array, line: Array) -> None:
    np.multiply(g, y, out=spare)
    np.add.reduce(spare, axis=0, out=line)
    np.subtract(g, line, out=out)
    np.multiply(out, y, out=out)


def _rlinear(x: Array, y: Array, spare: Array, line: Array) -> None:
    np.maximum(x, 0.0, out=y)


def _rlinear_back(y: Array, g: Array, out: Array, spare: Array, line: Array) -> None:
    np.sign(y, out=spare)
    np.multiply(g, spare, out=out)


def _square(x: Array, y: Array, spare: Array, line: Array) -> None:
    np.multiply(x, x, out=y)


def _square_back(x: Array, g: Array, out: Array, spare: Array, line: Array) -> None:
    np.add(x, x, out=spare)
    np.multiply(g, spare, out=out)


def _sqrt(x: Array, y: Array, spare: Array, line: Array) -> None:
    np.maximum(x, 0.0, out=y)
    np.sqrt(y, out=y)


def _sqrt_back(y: Array, g: Array, out: Array, spare: Array, line: Array) -> None:
    np.maximum(y, SMALLEST_ROOT, out=spare)
    np.divide(g, spare, out=out)
    np.sign(y, out=spare)
    np.multiply(spare, 0.5, out=spare)
    np.multiply(out, spare, out=out)


def _srlinear(x: Array, y: Array, spare: Array, line: Array) -> None:
    np.maximum(x, 0.0, out=spare)
    np.abs(x, out=y)
    np.negative(y, out=y)
    np.exp(y, out=y)
    np.log1p(y, out=y)
    np.add(y, spare, out=y)


def _srlinear_back(y: Array, g: Array, out: Array, spare: Array, line: Array) -> None:
    np.negative(y, out=spare)
    np.expm1(spare, out=spare)
    np.negative(spare, out=spare)
    np.multiply(g, spare, out=out)


def _abs(x: Array, y: Array, spare: Array, line: Array) -> None:
    np.abs(x, out=y)


def _abs_back(x: Array, g: Array, out: Array, spare: Array, line: Array) -> None:
    np.sign(x, out=spare)
    np.multiply(g, spare, out=out)


def _tanh(x: Array, y: Array, spare: Array, line: Array) -> None:
    np.tanh(x, out=y)


def _tanh_back(y: Array, g: Array, out: Array, spare: Array, line: Array) -> None:
    np.multiply(y, y, out=spare)
    np.subtract(1.0, spare, out=spare)
    np.multiply(g, spare, out=out)


def _brlinear(x: Array, y: Array, spare: Array, line: Array) -> None:
    np.maximum(x, 0.0, out=y)
    np.minimum(y, 1.0, out=y)


def _brlinear_back(y: Array, g: Array, out: Array, spare: Array, line: Array) -> None:
    np.subtract(1.0, y, out=spare)
    np.multiply(spare, y, out=spare)
    np.sign(spare, out=spare)
    np.multiply(g, spare, out=out)


#: By the names of `netsharp_engine.activations`.
FUNCTIONS: dict[str, Function] = {
    "sigmoid": Function(_sigmoid, _sigmoid_back, "output"),
    "linear": Function(_linear, _linear_back, "output"),
    "softmax": Function(_softmax, _softmax_back, "output"),
    "rlinear": Function(_rlinear, _rlinear_back, "output"),
    "square": Function(_square, _square_back, "input"),
    "sqrt": Function(_sqrt, _sqrt_back, "output"),
    "srlinear": Function(_srlinear, _srlinear_back, "output"),
    "abs": Function(_abs, _abs_back, "input"),
    "tanh": Function(_tanh, _tanh_back, "output"),
    "brlinear": Function(_brlinear, _brlinear_back, "output"),
}
