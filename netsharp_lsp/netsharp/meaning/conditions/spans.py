"""Evaluates a filter's condition over whole ranges of indices at once: true, false, or unknown.

Reads the code that `terms` writes, and knows nothing of networks. A number is a `Span`: its least
and its greatest possible value, and its remainder by a modulus, so that `s0 * d0 % 7` is known for
every seventh index. A result that has no value for some indices is unknown.
"""

from __future__ import annotations

import ast
import math
from itertools import product

from netsharp_lsp.netsharp.meaning.values.evaluate import CALLS, divide, power

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    #: The least, the greatest, and for whole numbers `step` and `at`: all are `at` plus a multiple
    #: of `step`, which is 0 where there is one alone.
    Span = tuple[int | float, int | float, int, int]
    #: Truth; None where some of the indices may have one and some the other.
    Truth = bool | None
    Ranges = Mapping[str, range]
    Reader = Callable[[Ranges], Span]
    RangeTruth = Callable[[Ranges], Truth]

#: Powers up to this one are followed.
GREATEST_POWER = 64
#: By how much more than a part of it a power of reals may be off.
POWER_ERROR = 1e-12


class UnknownError(Exception):
    """The result for the ranges is unknown: some of their indices may have no value."""


class UnsupportedError(Exception):
    """Code for which no span is defined."""


def truth_of(code: str) -> RangeTruth | None:
    """Return an evaluator of a condition over ranges of its indices; None for unsupported parts."""
    try:
        truth_in = _truth_in(ast.parse(code, mode="eval").body)
    except UnsupportedError:
        return None

    def truth_in_ranges(ranges: Ranges) -> Truth:
        try:
            return truth_in(ranges)
        except (UnknownError, OverflowError):
            return None

    return truth_in_ranges


def periods_of(code: str) -> dict[str, int]:
    """Return for each index the product of the periods of the condition in it, as far as known."""
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(code, mode="eval")):
        if isinstance(node, ast.Call) and _called(node) in ("remainder", "call_mod"):
            period = node.args[1]
            if isinstance(period, ast.Constant) and type(period.value) is int and period.value:
                for index in _indices(node.args[0]):
                    found[index] = math.lcm(found.get(index, 1), abs(period.value))
    return found


def _indices(node: ast.expr) -> set[str]:
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and one.id[0] in "sd" and one.id[1:].isdigit()
    }


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


# Truth.


def _truth_in(node: ast.expr) -> RangeTruth:
    if isinstance(node, ast.BoolOp):
        parts = [_truth_in(one) for one in node.values]
        return _together(parts, ends=isinstance(node.op, ast.Or))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _truth_in(node.operand)
        return lambda ranges: None if (truth := inner(ranges)) is None else not truth
    if isinstance(node, ast.Compare):
        return _comparison(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        known = node.value
        return lambda _ranges: known
    raise UnsupportedError


def _together(parts: list[RangeTruth], *, ends: bool) -> RangeTruth:
    """Combine by `&&`, or, where a true part ``ends`` it, by `||`."""

    def truth_in_ranges(ranges: Ranges) -> Truth:
        found: Truth = not ends
        for truth_in in parts:
            truth = truth_in(ranges)
            if truth is ends:
                return ends
            if truth is None:
                found = None
        return found

    return truth_in_ranges


def _comparison(node: ast.Compare) -> RangeTruth:
    sides = (node.left, node.comparators[0])
    sign = type(node.ops[0])
    try:
        left, right = _number(sides[0]), _number(sides[1])
    except UnsupportedError:
        if sign not in (ast.Eq, ast.NotEq):
            raise
        return _same_truth(_truth_in(sides[0]), _truth_in(sides[1]), sign is ast.Eq)
    compare, turned = _COMPARISONS[sign]
    if turned:
        return lambda ranges: compare(right(ranges), left(ranges))
    if sign is not ast.NotEq:
        return lambda ranges: compare(left(ranges), right(ranges))

    def differs(ranges: Ranges) -> Truth:
        equal = compare(left(ranges), right(ranges))
        return None if equal is None else not equal

    return differs


def _same_truth(left: RangeTruth, right: RangeTruth, wanted: bool) -> RangeTruth:
    def truth_in_ranges(ranges: Ranges) -> Truth:
        one, other = left(ranges), right(ranges)
        return None if one is None or other is None else (one == other) == wanted

    return truth_in_ranges


def _less(left: Span, right: Span) -> Truth:
    if left[1] < right[0]:
        return True
    return False if left[0] >= right[1] else None


def _at_most(left: Span, right: Span) -> Truth:
    if left[1] <= right[0]:
        return True
    return False if left[0] > right[1] else None


def _equal(left: Span, right: Span) -> Truth:
    if left[1] < right[0] or right[1] < left[0]:
        return False
    if left[0] == left[1] == right[0] == right[1]:
        return True
    if _is_whole(left) and _is_whole(right):
        step = math.gcd(left[2], right[2])
        return False if step and (left[3] - right[3]) % step else None
    return None


#: For each sign a comparison of spans, and whether its sides change places.
_COMPARISONS: dict[type[ast.cmpop], tuple[Callable[[Span, Span], Truth], bool]] = {
    ast.Lt: (_less, False),
    ast.Gt: (_less, True),
    ast.LtE: (_at_most, False),
    ast.GtE: (_at_most, True),
    ast.Eq: (_equal, False),
    ast.NotEq: (_equal, False),
}


# Numbers.


def _number(node: ast.expr) -> Reader:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        span = _only(node.value)  # type: ignore[arg-type]
        return lambda _ranges: span
    if isinstance(node, ast.Name) and _indices(node):
        name = node.id
        return lambda ranges: _of_range(ranges[name])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _applied(_negative, [node.operand])
    if isinstance(node, ast.BinOp) and type(node.op) in _INFIX:
        return _applied(_INFIX[type(node.op)], [node.left, node.right])
    if isinstance(node, ast.Call) and _called(node) in _FUNCTIONS:
        return _applied(_FUNCTIONS[_called(node)], node.args)
    raise UnsupportedError


def _applied(function: Callable[..., Span], operands: list[ast.expr]) -> Reader:
    readers = [_number(one) for one in operands]
    if len(readers) == 1:
        (inner,) = readers
        return lambda ranges: function(inner(ranges))
    if len(readers) == 2:
        left, right = readers
        return lambda ranges: function(left(ranges), right(ranges))
    return lambda ranges: function(*(one(ranges) for one in readers))


def _only(value: int | float) -> Span:
    return (value, value, 0, value) if isinstance(value, int) else (value, value, 1, 0)


def _of_range(indices: range) -> Span:
    first = indices[0]
    if len(indices) == 1:
        return (first, first, 0, first)
    return (first, indices[-1], indices.step, first % indices.step)


def _is_whole(span: Span) -> bool:
    return isinstance(span[0], int)


def _are_whole(spans: Iterable[Span]) -> bool:
    return all(isinstance(span[0], int) for span in spans)


def _whole(least: int | float, greatest: int | float, step: int, at: int) -> Span:
    return (least, greatest, step, at % step if step else at)


def _real(least: float, greatest: float) -> Span:
    """Return a span of reals, whose arithmetic rounds without changing their order."""
    if not (math.isfinite(least) and math.isfinite(greatest)):
        raise UnknownError
    return (least, greatest, 1, 0)


def _of_corners(function: Callable[..., int | float], left: Span, right: Span) -> Span:
    """Return the span of a function that is monotonic in each of its numbers."""
    corners = [function(a, b) for a, b in product(left[:2], right[:2])]
    if all(isinstance(one, int) for one in corners):
        return _whole(min(corners), max(corners), 1, 0)
    if any(math.isnan(one) for one in corners):
        raise UnknownError
    return _real(min(corners), max(corners))


def _plus(left: Span, right: Span) -> Span:
    least, greatest = left[0] + right[0], left[1] + right[1]
    if isinstance(least, int):
        return _whole(least, greatest, math.gcd(left[2], right[2]), left[3] + right[3])
    return _real(least, greatest)


def _negative(span: Span) -> Span:
    if _is_whole(span):
        return _whole(-span[1], -span[0], span[2], -span[3])
    return _real(-span[1], -span[0])


def _minus(left: Span, right: Span) -> Span:
    return _plus(left, _negative(right))


def _times(left: Span, right: Span) -> Span:
    found = _of_corners(lambda a, b: a * b, left, right)
    if not _is_whole(found):
        return found
    step = math.gcd(left[2] * right[2], left[2] * right[3], right[2] * left[3])
    return _whole(found[0], found[1], step, left[3] * right[3])


def _quotient(left: Span, right: Span) -> Span:
    if right[0] <= 0 <= right[1]:
        raise UnknownError
    return _of_corners(divide, left, right)


def _remainder(left: Span, right: Span) -> Span:
    """Return the remainder by one whole number; it has the sign of the dividend."""
    period = abs(right[0])
    if not _are_whole((left, right)) or right[0] != right[1] or not period:
        raise UnknownError
    least, greatest, step, at = left
    if least < 0 <= greatest:
        return _whole(1 - period, period - 1, math.gcd(step, int(period)), at)
    if greatest < 0:
        return _negative(_remainder(_negative(left), right))
    if least // period == greatest // period:
        return _whole(least % period, greatest % period, step, at - int(least - least % period))
    common = math.gcd(step, int(period))
    if common == period:
        return _only(at % period)
    return _whole(0, period - 1, common, at)


def _power(base: Span, exponent: Span) -> Span:
    times = exponent[0]
    known = _is_whole(exponent) and times == exponent[1] and 0 <= times <= GREATEST_POWER
    if not known:
        raise UnknownError
    ends = sorted(power(one, times) for one in base[:2])
    if times % 2 == 0 and base[0] < 0 < base[1]:
        ends[0] = 0 * ends[0]
    if not _is_whole(base):
        off = POWER_ERROR * max(map(abs, ends))
        return _real(ends[0] - off, ends[1] + off)
    return _whole(ends[0], ends[1], base[2], base[3] ** int(times))


def _absolute(span: Span) -> Span:
    if span[0] >= 0:
        return span
    if span[1] <= 0:
        return _negative(span)
    greatest = max(-span[0], span[1])
    return _whole(0, greatest, 1, 0) if _is_whole(span) else _real(0.0, greatest)


def _extreme(function: Callable[..., int | float]) -> Callable[..., Span]:
    def found(*spans: Span) -> Span:
        least, greatest = (function(span[end] for span in spans) for end in (0, 1))
        if _are_whole(spans):
            return _whole(least, greatest, 1, 0)
        return _real(float(least), float(greatest))

    return found


def _rounded(name: str) -> Callable[[Span], Span]:
    def found(span: Span) -> Span:
        if _is_whole(span):
            return span
        return _whole(CALLS[name](span[0]), CALLS[name](span[1]), 1, 0)

    return found


def _root(span: Span) -> Span:
    if span[0] < 0:
        raise UnknownError
    return _real(math.sqrt(span[0]), math.sqrt(span[1]))


def _sign(span: Span) -> Span:
    least, greatest = ((end > 0) - (end < 0) for end in span[:2])
    return _whole(least, greatest, 1, 0)


_INFIX: dict[type[ast.operator], Callable[[Span, Span], Span]] = {
    ast.Add: _plus,
    ast.Sub: _minus,
    ast.Mult: _times,
}
_FUNCTIONS: dict[str, Callable[..., Span]] = {
    "divide": _quotient,
    "remainder": _remainder,
    "power": _power,
    "call_mod": _remainder,
    "call_pow": _power,
    "call_abs": _absolute,
    "call_min": _extreme(min),
    "call_max": _extreme(max),
    "call_floor": _rounded("floor"),
    "call_ceil": _rounded("ceil"),
    "call_round": _rounded("round"),
    "call_sqrt": _root,
    "call_sign": _sign,
}
