"""The table of activations, one row each: everything that the project knows about one.

It imports no numpy, so that a checker can read the names; the numpy module is
handed to a row's functions when a network runs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

INFINITY = float("inf")


class Activation:
    """One row of the table.

    ``forward(np, x, y, spare, line)`` writes f(x) to ``y``.  ``backward(np, kept, g, out,
    spare, line)`` writes the gradient by the input to ``out``, given the gradient ``g`` by
    the output; ``kept`` is the output when ``keeps`` is "output", else the input.  All of
    ``x y g out spare`` are arrays [nodes, samples] of one dtype, ``line`` is [samples];
    ``y`` may be ``x`` when ``keeps`` is "output", and ``out`` may be ``g``.  Nothing may be
    allocated.  ``cost`` is operations per node, ``range`` the closed range of values.
    """

    __slots__ = ("backward", "cost", "formula", "forward", "keeps", "name", "range")

    def __init__(
        self,
        name: str,
        formula: str,
        forward: Callable[..., object],
        backward: Callable[..., object],
        keeps: str,
        range: tuple[float, float],
        cost: int,
    ) -> None:
        self.name = name
        self.formula = formula
        self.forward = forward
        self.backward = backward
        self.keeps = keeps
        self.range = range
        self.cost = cost


def _sigmoid(np: Any, x: Any, y: Any, spare: Any, line: Any) -> None:
    np.negative(x, out=y)
    np.exp(y, out=y)
    np.add(y, 1.0, out=y)
    np.reciprocal(y, out=y)


def _sigmoid_back(np: Any, y: Any, g: Any, out: Any, spare: Any, line: Any) -> None:
    np.multiply(y, y, out=spare)
    np.subtract(y, spare, out=spare)
    np.multiply(g, spare, out=out)


def _linear(np: Any, x: Any, y: Any, spare: Any, line: Any) -> None:
    if y is not x:
        np.copyto(y, x)


def _linear_back(np: Any, y: Any, g: Any, out: Any, spare: Any, line: Any) -> None:
    if out is not g:
        np.copyto(out, g)


def _softmax(np: Any, x: Any, y: Any, spare: Any, line: Any) -> None:
    np.maximum.reduce(x, axis=0, out=line)
    np.subtract(x, line, out=y)
    np.exp(y, out=y)
    np.add.reduce(y, axis=0, out=line)
    np.divide(y, line, out=y)


def _softmax_back(np: Any, y: Any, g: Any, out: Any, spare: Any, line: Any) -> None:
    np.multiply(g, y, out=spare)
    np.add.reduce(spare, axis=0, out=line)
    np.subtract(g, line, out=out)
    np.multiply(out, y, out=out)


def _rlinear(np: Any, x: Any, y: Any, spare: Any, line: Any) -> None:
    np.maximum(x, 0.0, out=y)


def _rlinear_back(np: Any, y: Any, g: Any, out: Any, spare: Any, line: Any) -> None:
    np.sign(y, out=spare)
    np.multiply(g, spare, out=out)


def _square(np: Any, x: Any, y: Any, spare: Any, line: Any) -> None:
    np.multiply(x, x, out=y)


def _square_back(np: Any, x: Any, g: Any, out: Any, spare: Any, line: Any) -> None:
    np.add(x, x, out=spare)
    np.multiply(g, spare, out=out)


def _sqrt(np: Any, x: Any, y: Any, spare: Any, line: Any) -> None:
    np.maximum(x, 0.0, out=y)
    np.sqrt(y, out=y)


def _sqrt_back(np: Any, y: Any, g: Any, out: Any, spare: Any, line: Any) -> None:
    np.maximum(y, 1e-10, out=spare)
    np.divide(g, spare, out=out)
    np.sign(y, out=spare)
    np.multiply(spare, 0.5, out=spare)
    np.multiply(out, spare, out=out)


def _srlinear(np: Any, x: Any, y: Any, spare: Any, line: Any) -> None:
    np.maximum(x, 0.0, out=spare)
    np.abs(x, out=y)
    np.negative(y, out=y)
    np.exp(y, out=y)
    np.log1p(y, out=y)
    np.add(y, spare, out=y)


def _srlinear_back(np: Any, y: Any, g: Any, out: Any, spare: Any, line: Any) -> None:
    np.negative(y, out=spare)
    np.expm1(spare, out=spare)
    np.negative(spare, out=spare)
    np.multiply(g, spare, out=out)


def _abs(np: Any, x: Any, y: Any, spare: Any, line: Any) -> None:
    np.abs(x, out=y)


def _abs_back(np: Any, x: Any, g: Any, out: Any, spare: Any, line: Any) -> None:
    np.sign(x, out=spare)
    np.multiply(g, spare, out=out)


def _tanh(np: Any, x: Any, y: Any, spare: Any, line: Any) -> None:
    np.tanh(x, out=y)


def _tanh_back(np: Any, y: Any, g: Any, out: Any, spare: Any, line: Any) -> None:
    np.multiply(y, y, out=spare)
    np.subtract(1.0, spare, out=spare)
    np.multiply(g, spare, out=out)


def _brlinear(np: Any, x: Any, y: Any, spare: Any, line: Any) -> None:
    np.maximum(x, 0.0, out=y)
    np.minimum(y, 1.0, out=y)


def _brlinear_back(np: Any, y: Any, g: Any, out: Any, spare: Any, line: Any) -> None:
    np.subtract(1.0, y, out=spare)
    np.multiply(spare, y, out=spare)
    np.sign(spare, out=spare)
    np.multiply(g, spare, out=out)


_ROWS = (
    Activation("sigmoid", "1 / (1 + e^-x)", _sigmoid, _sigmoid_back, "output", (0.0, 1.0), 4),
    Activation("linear", "x", _linear, _linear_back, "output", (-INFINITY, INFINITY), 0),
    Activation("softmax", "e^x / sum of e^x", _softmax, _softmax_back, "output", (0.0, 1.0), 5),
    Activation("rlinear", "max(0, x)", _rlinear, _rlinear_back, "output", (0.0, INFINITY), 1),
    Activation("square", "x^2", _square, _square_back, "input", (0.0, INFINITY), 1),
    Activation("sqrt", "sqrt(max(0, x))", _sqrt, _sqrt_back, "output", (0.0, INFINITY), 2),
    Activation("srlinear", "ln(1 + e^x)", _srlinear, _srlinear_back, "output", (0.0, INFINITY), 4),
    Activation("abs", "|x|", _abs, _abs_back, "input", (0.0, INFINITY), 1),
    Activation("tanh", "tanh(x)", _tanh, _tanh_back, "output", (-1.0, 1.0), 3),
    Activation("brlinear", "min(1, max(0, x))", _brlinear, _brlinear_back, "output", (0.0, 1.0), 2),
)

ACTIVATIONS: dict[str, Activation] = {row.name: row for row in _ROWS}
NAMES: tuple[str, ...] = tuple(ACTIVATIONS)
