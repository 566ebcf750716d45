"""Operators on numbers, strings, booleans and nodes; knows neither scopes nor calls."""

from __future__ import annotations

import math
import operator
import re

from netsharp_lsp.cntk.brainscript.evaluation.values import Absent
from netsharp_lsp.cntk.networks.node import Node
from netsharp_lsp.cntk.vocabulary import VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from netsharp_lsp.cntk.brainscript.evaluation.values import Value


class Inapplicable(Exception):  # noqa: N818
    """An operator cannot be applied; the evaluator turns it into a fault."""


#: The names of operators in the paths of their operands.
PATH_NAMES = {
    "with": "With",
    "*": "Times",
    "/": "Div",
    ".*": "ElementTimes",
    "**": "Pow",
    "%": "Mod",
    "+": "Plus",
    "-": "Minus",
    "<": "LT",
    "==": "Equal",
    ">": "GT",
    ">=": "GT",
    "!=": "NotEqual",
    "<=": "LE",
    "&&": "And",
    "||": "Or",
    ">>": "Before",
    "<<": "Shift",
}
#: A variable that a configuration would have substituted in a string.
_VARIABLE = re.compile(VARIABLE.pattern.decode())
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "==": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "!=": operator.ne,
    "<=": operator.le,
}
#: Node types of operators on nodes.
NODE_OPERATIONS = {
    "*": "Times",
    "+": "Plus",
    "-": "Minus",
    ".*": "ElementTimes",
    "&&": "ElementTimes",
    "<": "Less",
    "==": "Equal",
    ">": "Greater",
    ">=": "GreaterEqual",
    "!=": "NotEqual",
    "<=": "LessEqual",
    "if": "If",
}


def on_numbers(sign: str, left: float, right: float) -> float | bool:
    """Apply an operator to two numbers; infinity and NaN as in C."""
    if sign in COMPARISONS:
        return COMPARISONS[sign](left, right)
    if sign not in ARITHMETIC:
        raise Inapplicable
    try:
        return ARITHMETIC[sign](left, right)
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return math.nan


def _divided(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": math.fmod,
    "**": math.pow,
}


def on_texts(sign: str, left: str, right: str) -> str | bool:
    """Apply an operator to two strings."""
    if sign == "+":
        return left + right
    if sign in COMPARISONS:
        return COMPARISONS[sign](left, right)
    raise Inapplicable


def is_open(*texts: str) -> bool:
    """Return whether a string contains a variable without a value, which only a run would set."""
    return any(_VARIABLE.search(text) for text in texts)


def on_truths(sign: str, left: bool, right: bool) -> bool:
    """Apply an operator to two booleans."""
    if sign == "||":
        return left or right
    if sign == "&&":
        return left and right
    if sign in COMPARISONS:
        return COMPARISONS[sign](left, right)
    raise Inapplicable


def on_nodes(sign: str, operands: list[Value]) -> tuple[str, list[Value]] | Value:
    """Return the node that an operator on nodes builds: its operation and its operands.

    A boolean may determine the result without a node.
    """
    if sign == "/":
        return _division(operands)
    if sign == "&&":
        if any(one is False for one in operands):
            return operands[0]
        _refuse(operands, float, "a number")
        return "ElementTimes", operands
    if sign not in NODE_OPERATIONS:
        raise Inapplicable
    if sign == "if":
        kinds = {type(one) for one in operands[1:]}
        if kinds == {float, bool}:
            raise Inapplicable("'then' and 'else' cannot mix a number and a boolean.")
    _refuse(operands, bool, "a boolean")
    if sign == "*" and any(isinstance(one, float) for one in operands):
        return "ElementTimes", operands
    return NODE_OPERATIONS[sign], operands


def _division(operands: list[Value]) -> tuple[str, list[Value]]:
    left, right = operands
    _refuse(operands, bool, "a boolean")
    if isinstance(left, float):
        if left != 1:
            raise Inapplicable("a number divided by a node can only be the reciprocal, 1/x.")
        return "Reciprocal", [right]
    if isinstance(right, float):
        return "ElementTimes", [left, _divided(1.0, right)]
    raise Inapplicable("only a node by a number, and 1 by a node, can be divided.")


def _refuse(operands: list[Value], kind: type, what: str) -> None:
    """Raise Inapplicable for operands that the operator does not take."""
    for one in operands:
        if isinstance(one, kind):
            raise Inapplicable(f"this operator does not take {what} together with a node.")
        if not isinstance(one, Node | float | bool):
            raise Inapplicable


def concerns_nodes(operands: list[Value]) -> bool:
    """Return whether an operator builds a node from its operands."""
    return any(isinstance(one, Node) for one in operands)


def is_absent(operands: list[Value]) -> bool:
    """Return whether all nodes among the operands are unknown."""
    nodes = [one for one in operands if isinstance(one, Node)]
    return bool(nodes) and all(isinstance(one, Absent) for one in nodes)
