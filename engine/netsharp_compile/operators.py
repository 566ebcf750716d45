"""The operators that stand between two layers, element by element: in floating point with a bound
on its error, and in decimals for what that bound leaves open.

A row for each; the names are those of Net#'s activations, with the ones of ONNX beside them.  Knows
no scheme and no table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[np.float64]

#: What a caller names: an operator, one with its numbers, or a function of one float.
Named: TypeAlias = "str | tuple[str | float, ...] | Callable[[float], float]"

#: Digits of decimals; the distance from its limit that stands for a function that never meets it;
#: and the distance below which a number is a tie: no result of exact operators is nearer without
#: being one.
DIGITS, ALMOST, TIE = 120, Decimal("1e-90"), Decimal("1e-100")
#: The operand beyond which exp(-x) is less than ALMOST, and the least operand at which exp is
#: computed: it is still not 0 there.
_FAR, _LOWEST = 208, -10_000
#: numpy's functions and those of the C library err by a few units of the last place.
_FUNCTION_ERROR = 16 * 2.0**-53


class TransferOperator(NamedTuple):
    """An operator: how it is shown, its values in floating point, how far these are off where the
    operands are off by so much, and its exact values; None where nothing is known of these.
    """

    name: str
    values: Callable[..., Array]
    error: Callable[..., Array] | None
    exact: Callable[..., Decimal] | None


def chain_of(named: Named | Sequence[Named], operands: int = 1) -> tuple[TransferOperator, ...]:
    """Return a chain of operators by their names, the first with a given number of operands.

    A tuple is one operator with its numbers, a list several.  Raises ValueError for an unknown
    operator.
    """
    chain: list[object] = list(named) if isinstance(named, list) else [named]
    if operands == 1:
        return tuple(_of_one(one) for one in chain)
    first, *others = chain or [None]
    return (_of_two(first), *(_of_one(one) for one in others))


def error_of(operator: TransferOperator, values: Array, *operands: Array) -> Array:
    """Return a bound of the error of values [...]; operands are values, each with its error."""
    if operator.error is None:
        return np.zeros_like(values)
    with np.errstate(all="ignore"):
        return operator.error(*operands) + np.abs(values) * _FUNCTION_ERROR


def exact_value(chain: Sequence[TransferOperator], operands: Sequence[Decimal]) -> Decimal | None:
    """Return the result of a chain for exact operands, to some 100 digits; None where an operator
    is a function of the caller's.
    """
    with localcontext(Context(prec=DIGITS, Emin=-(10**9), Emax=10**9)):
        values = list(operands)
        for operator in chain:
            if operator.exact is None:
                return None
            values = [operator.exact(*values)]
        return values[0]


def _exponential(x: Decimal) -> Decimal:
    return max(x, Decimal(_LOWEST)).exp()


def _sigmoid(x: Decimal) -> Decimal:
    if x > _FAR:
        return 1 - ALMOST
    return 1 / (1 + _exponential(-x)) if x > 0 else 1 - 1 / (1 + _exponential(x))


def _tanh(x: Decimal) -> Decimal:
    if abs(x) > _FAR / 2:
        return (1 - ALMOST).copy_sign(x)
    if abs(x) < Decimal("1e-30"):
        return x - x**3 / 3
    power = (2 * x).exp()
    return (power - 1) / (power + 1)


def _softplus(x: Decimal) -> Decimal:
    if x > _FAR:
        return x + ALMOST
    return (1 + _exponential(x)).ln() if x > -_FAR / 2 else _exponential(x)


def _erf(x: Decimal) -> Decimal:
    """Return erf(x) = 2 / sqrt(pi) exp(-x^2) sum 2^n x^(2n+1) / (1 3 5 ... (2n+1)), whose terms all
    have the same sign [Abramowitz and Stegun, 7.1.6].
    """
    if abs(x) > Decimal("14.4"):
        return (1 - ALMOST).copy_sign(x)
    term = total = x
    number = 1
    while abs(term) > abs(total).scaleb(-DIGITS):
        number += 2
        term *= 2 * x * x / number
        total += term
    found = _TWO_BY_ROOT_PI * (-x * x).exp() * total
    return min(abs(found), 1 - ALMOST).copy_sign(x)


def _pi() -> Decimal:
    """Return pi = 16 arctan(1/5) - 4 arctan(1/239) [Machin]."""

    def arctan(inverse: int) -> Decimal:
        power, total, number = Decimal(1) / inverse, Decimal(0), 1
        while abs(power) > Decimal(1).scaleb(-DIGITS - 5):
            total += power / number
            power /= -inverse * inverse
            number += 2
        return total

    return 16 * arctan(5) - 4 * arctan(239)  # Machin's formula


with localcontext(Context(prec=DIGITS + 5)):
    _TWO_BY_ROOT_PI = 2 / _pi().sqrt()


def _slope(bound: float) -> Callable[[Array, Array], Array]:
    """Return a function that bounds the error of one whose slope is at most ``bound``."""
    return lambda x, error: bound * error


def _of_root(x: Array, error: Array) -> Array:
    steep = error / np.sqrt(np.maximum(x, error))
    return np.where(error > 0, np.minimum(np.sqrt(error), steep) * 2, 0.0)


_erf_values = np.vectorize(math.erf, otypes=[np.float64])
#: Bounds of slopes: a sigmoid's is 1/4, that of erf 2 / sqrt(pi) = 1.13 (rounded up), both at 0.
_UNARY: dict[str, TransferOperator] = {
    one.name: one
    for one in (
        TransferOperator("linear", lambda x: x, _slope(1), lambda x: x),
        TransferOperator(
            "rlinear", lambda x: np.maximum(x, 0), _slope(1), lambda x: max(x, Decimal(0))
        ),
        TransferOperator(
            "brlinear",
            lambda x: np.clip(x, 0, 1),
            _slope(1),
            lambda x: min(max(x, Decimal(0)), Decimal(1)),
        ),
        TransferOperator("abs", np.abs, _slope(1), abs),
        TransferOperator("sigmoid", lambda x: 1 / (1 + np.exp(-x)), _slope(0.25), _sigmoid),
        TransferOperator("tanh", np.tanh, _slope(1), _tanh),
        TransferOperator("srlinear", lambda x: np.logaddexp(0, x), _slope(1), _softplus),
        TransferOperator("erf", _erf_values, _slope(1.2), _erf),
        TransferOperator(
            "square", np.square, lambda x, e: (2 * np.abs(x) + e) * e, lambda x: x * x
        ),
        # Net# defines the root of negative numbers as 0.
        TransferOperator(
            "sqrt",
            lambda x: np.sqrt(np.maximum(x, 0)),
            _of_root,
            lambda x: max(x, Decimal(0)).sqrt(),
        ),
    )
}
#: Other names for them, those of ONNX.
_ALSO = {"identity": "linear", "relu": "rlinear", "softplus": "srlinear"}
_BINARY: dict[str, TransferOperator] = {
    one.name: one
    for one in (
        TransferOperator("add", np.add, lambda a, e, b, f: e + f, lambda a, b: a + b),
        TransferOperator("subtract", np.subtract, lambda a, e, b, f: e + f, lambda a, b: a - b),
        TransferOperator(
            "multiply",
            np.multiply,
            lambda a, e, b, f: np.abs(a) * f + np.abs(b) * e + e * f,
            lambda a, b: a * b,
        ),
        TransferOperator("maximum", np.maximum, lambda a, e, b, f: np.maximum(e, f), max),
        TransferOperator("minimum", np.minimum, lambda a, e, b, f: np.maximum(e, f), min),
    )
}


def _leaky(slope: float) -> TransferOperator:
    exact = Decimal(slope)
    return TransferOperator(
        f"leaky relu {slope:g}",
        lambda x: np.where(x < 0, slope * x, x),
        _slope(max(1.0, abs(slope))),
        lambda x: x * exact if x < 0 else x,
    )


def _scaled(factor: float) -> TransferOperator:
    exact = Decimal(factor)
    return TransferOperator(
        f"multiply {factor:g}", lambda x: x * factor, _slope(abs(factor)), lambda x: x * exact
    )


def _moved(amount: float) -> TransferOperator:
    exact = Decimal(amount)
    return TransferOperator(f"add {amount:g}", lambda x: x + amount, _slope(1), lambda x: x + exact)


def _clipped(low: float, high: float) -> TransferOperator:
    least, most = Decimal(low), Decimal(high)
    return TransferOperator(
        f"clip {low:g} {high:g}",
        lambda x: np.clip(x, low, high),
        _slope(1),
        lambda x: min(max(x, least), most),
    )


#: Operators that have numbers of their own: what makes them, and how many they take.
_WITH_NUMBERS: dict[str, tuple[Callable[..., TransferOperator], tuple[int, ...]]] = {
    "leaky relu": (lambda slope=0.01: _leaky(slope), (0, 1)),
    "multiply": (_scaled, (1,)),
    "add": (_moved, (1,)),
    "clip": (_clipped, (2,)),
}


def _of_one(named: object) -> TransferOperator:
    if callable(named):
        name = getattr(named, "__name__", type(named).__name__)
        return TransferOperator(name, np.vectorize(named, otypes=[np.float64]), None, None)
    name, *numbers = named if isinstance(named, tuple) and named else (named,)
    if not numbers and (found := _UNARY.get(_ALSO.get(str(name), str(name)))) is not None:
        return found
    make, counts = _WITH_NUMBERS.get(str(name), (None, ()))
    if make is not None and len(numbers) in counts:
        return make(*(_number(str(name), one) for one in numbers))
    numbered = "('leaky relu', slope), ('multiply', factor), ('add', number), ('clip', low, high)"
    raise ValueError(
        f"{named!r} is not an operator of one operand: those are "
        f"{', '.join(sorted({*_UNARY, *_ALSO}))}, {numbered}, and any function of one float."
    )


def _of_two(named: object) -> TransferOperator:
    if not isinstance(named, str) or named not in _BINARY:
        raise ValueError(
            f"{named!r} is not an operator of two operands: those are "
            f"{', '.join(sorted(_BINARY))}. What follows it has one operand."
        )
    return _BINARY[named]


def _number(name: str, value: object) -> float:
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"The numbers of '{name}' are finite; {value!r} is none.")
    return float(value)
