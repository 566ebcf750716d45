"""The values of Net# expressions and the faults of their evaluation; knows no layers.

A value is a whole number, a real, a boolean or a tuple; None is a value that could not be computed
and whose fault is already reported, so that one fault causes no others. Source: the Net# guide,
"Constants" and "Filtered bundles"; precedence follows C#.
"""

from __future__ import annotations

import math

from netsharp_lsp.diagnostics.nearest import nearest
from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair
from netsharp_lsp.netsharp.meaning.values import faults
from netsharp_lsp.netsharp.reading.syntax import (
    DEEPEST,
    INTEGER_LIMIT,
    Binary,
    Blob,
    Boolean,
    Call,
    Deep,
    Index,
    Name,
    Number,
    Numbers,
    Placeholder,
    Tuple,
    Unary,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.netsharp.meaning.values.faults import ValueFault
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Expression, Node

    Scalar = int | float | bool
    Value = Scalar | tuple["Value", ...]
    #: Looks a constant up: (known, value); value None where its own declaration is at fault.
    Lookup = Callable[[str], tuple[bool, "Value | None"]]
    Report = Callable[[Finding], None]

#: The characters of a number that is too large that are shown.
LONGEST_SHOWN = 40

#: Functions by name: how many arguments they take.
FUNCTIONS: dict[str, tuple[int, int]] = {
    "abs": (1, 1),
    "min": (2, 99),
    "max": (2, 99),
    "floor": (1, 1),
    "ceil": (1, 1),
    "round": (1, 1),
    "sqrt": (1, 1),
    "pow": (2, 2),
    "mod": (2, 2),
    "sign": (1, 1),
}


class UndefinedValueError(Exception):
    """An operation without a value: its fault and the sentence about it.

    `operand` is the position of the operand at fault, None where it is not a single one.
    """

    def __init__(self, fault: ValueFault, message: str, operand: int | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.operand = operand


def type_name(value: Value) -> str:
    """Return the type of a value in words."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int):
        return "a whole number"
    if isinstance(value, float):
        return "a real number"
    return "a tuple"


def show(value: Value) -> str:
    """Return a value as Net# writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(show(item) for item in value) + "]"
    return repr(value)


class Evaluator:
    """Evaluates the expressions of one declaration; every fault goes to ``report``."""

    def __init__(self, declaration: Declaration, lookup: Lookup, report: Report) -> None:
        self.declaration = declaration
        self.lookup = lookup
        self.report = report
        #: Whether the node has no part in the value: only its types are checked.
        self.idle = False

    def fault(self, fault: ValueFault, node: Node, message: str) -> None:
        """Report a fault at an expression."""
        if not (self.idle and fault.of_value):
            self.report(Finding(fault.code, RelativeSpan.of(self.declaration, node), message))

    def value(self, node: Expression) -> Value | None:
        """Return the value of an expression, None if it has none."""
        reader = READERS.get(type(node))
        return reader(self, node) if reader else None

    def _number(self, node: Number) -> Value | None:
        value = node.value
        if isinstance(value, int) and value >= INTEGER_LIMIT:
            text = node.text
            if len(text) > LONGEST_SHOWN:
                text = f"{text[:LONGEST_SHOWN]}..."
            self.fault(faults.TOO_LARGE, node, f"{text} is too large: whole numbers have 64 bits.")
            return None
        if isinstance(value, float) and not math.isfinite(value):
            self.fault(faults.OUT_OF_RANGE, node, f"{node.text} is out of range.")
            return None
        return value

    def _boolean(self, node: Boolean) -> Value | None:
        return node.value

    def _deep(self, node: Deep) -> Value | None:
        self.fault(
            faults.OUT_OF_RANGE,
            node,
            f"This expression is out of range: it is nested more than {DEEPEST} levels deep.",
        )
        return None

    def _placeholder(self, node: Placeholder) -> Value | None:
        self.fault(faults.PLACEHOLDER, node, "'...' is a placeholder; give every value.")
        return None

    def _name(self, node: Name) -> Value | None:
        known, value = self.lookup(node.text)
        if not known and not node.text[:1].isdigit():
            self.undefined(node)
        return value

    def undefined(self, node: Name) -> None:
        """Report an undefined constant: a hook, since the network knows the names."""
        self.fault(faults.UNDEFINED, node, f"Constant '{node.text}' is not defined.")

    def _tuple(self, node: Tuple) -> Value | None:
        items = [self.value(item) for item in node.items]
        known = [item for item in items if item is not None]
        return tuple(known) if len(known) == len(items) else None

    def _numbers(self, node: Numbers) -> Value | None:
        return node.values

    def _blob(self, node: Blob) -> Value | None:
        return node.values

    def _unary(self, node: Unary) -> Value | None:
        operand = self.value(node.operand)
        if operand is None:
            return None
        return self.attempt(node, (node.operand,), unary_value, node.operator, operand)

    def _binary(self, node: Binary) -> Value | None:
        operands = (node.left, node.right)
        left = self.value(node.left)
        if isinstance(left, bool) and node.operator == ("||" if left else "&&"):
            return self._decided(node, left)
        right = self.value(node.right)
        if left is None or right is None:
            return None
        value = self.attempt(node, operands, binary_value, node.operator, left, right)
        if node.operator == "/" and drops_remainder(left, right):
            self.fault(
                faults.REMAINDER,
                node,
                f"Integer division drops a remainder: {show(left)} / {show(right)} = "
                f"{show(value) if value is not None else '?'}.",
            )
        return value

    def _decided(self, node: Binary, left: bool) -> Value | None:
        """Return `false && x`, `true || x`: faults of ``x`` do not matter then."""
        before, self.idle = self.idle, True
        right = self.value(node.right)
        self.idle = before
        if right is not None and not isinstance(right, bool):
            self.attempt(node, (node.left, node.right), binary_value, node.operator, left, right)
            return None
        return left

    def _call(self, node: Call) -> Value | None:
        arguments = [self.value(argument) for argument in node.arguments]
        fault = call_fault(node, self.declaration)
        if fault is not None:
            self.report(fault)
            return None
        known = [argument for argument in arguments if argument is not None]
        if len(known) < len(arguments):
            return None
        return self.attempt(node, node.arguments, call_value, node.function.text, *known)

    def _index(self, node: Index) -> Value | None:
        target = self.value(node.target)
        position = self.value(node.position)
        if target is None or position is None:
            return None
        if not isinstance(target, tuple):
            self.fault(
                faults.NO_TUPLE,
                node.target,
                f"Only tuples can be indexed, not {type_name(target)}.",
            )
            return None
        if isinstance(position, bool) or not isinstance(position, int):
            message = f"An index must be a whole number, found {type_name(position)}."
            self.fault(faults.WRONG_TYPE, node.position, message)
            return None
        if not 0 <= position < len(target):
            message = f"Index {position} is outside the {len(target)} values of the tuple."
            self.fault(faults.NO_ENTRY, node.position, message)
            return None
        return target[position]

    def attempt(
        self,
        node: Expression,
        operands: tuple[Expression, ...],
        operation: Callable[..., Value],
        *arguments: object,
    ) -> Value | None:
        """Apply an operation; a missing value is reported at the operand at fault."""
        try:
            value = operation(*arguments)
        except UndefinedValueError as undefined:
            at = node if undefined.operand is None else operands[undefined.operand]
            self.fault(undefined.fault, at, undefined.message)
            return None
        except (OverflowError, ValueError):
            value = math.inf
        if isinstance(value, int) and not -INTEGER_LIMIT <= value < INTEGER_LIMIT:
            self.fault(
                faults.OUT_OF_RANGE, node, "The value is out of range: whole numbers have 64 bits."
            )
            return None
        if isinstance(value, float) and not math.isfinite(value):
            self.fault(faults.OUT_OF_RANGE, node, "The value is not finite or out of range.")
            return None
        return value


def call_fault(node: Call, declaration: Declaration) -> Finding | None:
    """Return the fault of a call itself: its name (NS044) or its number of arguments (NS045)."""
    name = node.function.text
    place = RelativeSpan.of(declaration, node.function)
    if name not in FUNCTIONS:
        hint = nearest(name, FUNCTIONS)
        if hint is None:
            known = ", ".join(FUNCTIONS)
            return Finding(
                faults.NO_FUNCTION.code, place, f"Unknown function '{name}'. There are {known}."
            )
        repair = Repair(f"Replace by '{hint}'", [Change(place, hint)], safe=True)
        message = f"Unknown function '{name}'. Did you mean '{hint}'?"
        return Finding(faults.NO_FUNCTION.code, place, message, repair=repair)
    least, most = FUNCTIONS[name]
    if least <= len(node.arguments) <= most:
        return None
    wanted = str(least) if least == most else f"at least {least}"
    plural = "" if least == 1 and most == 1 else "s"
    message = f"'{name}' takes {wanted} argument{plural}, found {len(node.arguments)}."
    return Finding(faults.WRONG_ARGUMENTS.code, place, message)


READERS: dict[type, Callable[..., Value | None]] = {
    Number: Evaluator._number,
    Boolean: Evaluator._boolean,
    Deep: Evaluator._deep,
    Placeholder: Evaluator._placeholder,
    Name: Evaluator._name,
    Tuple: Evaluator._tuple,
    Numbers: Evaluator._numbers,
    Blob: Evaluator._blob,
    Unary: Evaluator._unary,
    Binary: Evaluator._binary,
    Call: Evaluator._call,
    Index: Evaluator._index,
}


# The arithmetic itself, also used by predicates.


def is_number(value: object) -> bool:
    """Return whether a value is a whole number or a real; a boolean is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def wanted_numbers(operator: str, *operands: Value) -> None:
    """Raise `UndefinedValueError` unless all operands are numbers."""
    for position, operand in enumerate(operands):
        if not is_number(operand):
            message = f"'{operator}' needs numbers, found {type_name(operand)}."
            raise UndefinedValueError(faults.WRONG_TYPE, message, position)


def wanted_booleans(operator: str, *operands: Value) -> None:
    """Raise `UndefinedValueError` unless all operands are true or false."""
    for position, operand in enumerate(operands):
        if not isinstance(operand, bool):
            message = f"'{operator}' needs true or false, found {type_name(operand)}."
            raise UndefinedValueError(faults.WRONG_TYPE, message, position)


def drops_remainder(left: Value, right: Value) -> bool:
    """Return whether a division of whole numbers has a remainder."""
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v in (left, right))
    return whole and right != 0 and left % right != 0  # type: ignore[operator]


def truncated_quotient(left: int, right: int) -> int:
    """Return the quotient of integers, truncated toward zero."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def unary_value(operator: str, operand: Value) -> Value:
    """Return `-x`, `+x`, `!x`. Raises `UndefinedValueError` for operands of another type."""
    if operator == "!":
        wanted_booleans("!", operand)
        return not operand
    wanted_numbers(operator, operand)
    return -operand if operator == "-" else operand  # type: ignore[operator]


def divide(left: int | float, right: int | float) -> int | float:
    """Return a quotient; of whole numbers truncated toward zero, with a real operand a real."""
    if right == 0:
        raise UndefinedValueError(faults.DIVISION_BY_ZERO, "Division by zero.", 1)
    if isinstance(left, int) and isinstance(right, int):
        return truncated_quotient(left, right)
    return left / right


def remainder(left: int | float, right: int | float) -> int | float:
    """Return the remainder, with the sign of the dividend."""
    if right == 0:
        raise UndefinedValueError(faults.DIVISION_BY_ZERO, "Division by zero.", 1)
    if isinstance(left, int) and isinstance(right, int):
        return left - truncated_quotient(left, right) * right
    return math.fmod(left, right)


def power(left: int | float, right: int | float) -> int | float:
    """Return a power; of whole numbers with exponents from 0 on a whole number.

    Raises `OverflowError` beyond 64 bits before it computes the number, and `UndefinedValueError`
    for a root of a negative number and a negative power of 0.
    """
    if left == 0 and right < 0:
        raise UndefinedValueError(
            faults.DIVISION_BY_ZERO, "Division by zero: 0 to a negative power."
        )
    if isinstance(left, int) and isinstance(right, int) and right >= 0:
        if (abs(left).bit_length() - 1) * right > 63:
            raise OverflowError
        return int(left**right)
    value = float(left) ** right
    if isinstance(value, complex):
        raise UndefinedValueError(faults.OUT_OF_RANGE, "A negative number has no such power.")
    return value


ARITHMETIC: dict[str, Callable[[int | float, int | float], int | float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": divide,
    "%": remainder,
    "^": power,
}

RELATIONS: dict[str, Callable[[int | float, int | float], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def binary_value(operator: str, left: Value, right: Value) -> Value:
    """Return the value of ``left operator right``. Raises `UndefinedValueError` without one."""
    if operator in ("&&", "||"):
        wanted_booleans(operator, left, right)
        return bool(left and right) if operator == "&&" else bool(left or right)
    if operator in ("==", "!="):
        if is_number(left) != is_number(right) or isinstance(left, tuple) != isinstance(
            right, tuple
        ):
            raise UndefinedValueError(
                faults.WRONG_TYPE,
                f"'{operator}' compares {type_name(left)} with {type_name(right)}.",
            )
        return (left == right) == (operator == "==")
    wanted_numbers(operator, left, right)
    if operator in RELATIONS:
        return RELATIONS[operator](left, right)  # type: ignore[arg-type]
    return ARITHMETIC[operator](left, right)  # type: ignore[arg-type]


def square_root(value: int | float) -> float:
    """Return the square root. Raises `UndefinedValueError` for a negative number."""
    if value < 0:
        raise UndefinedValueError(
            faults.OUT_OF_RANGE, f"The square root of {value} is not a number."
        )
    return math.sqrt(value)


def half_up(value: int | float) -> int:
    """Return the nearest whole number; halves are rounded away from zero."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def whole(function: Callable[[int | float], int]) -> Callable[[int | float], int]:
    """Return the same function, raising `OverflowError` for anything that is not finite."""

    def finite(value: int | float) -> int:
        if isinstance(value, int):
            return value
        if not math.isfinite(value):
            raise OverflowError
        return function(value)

    return finite


def extreme(function: Callable[..., int | float]) -> Callable[..., int | float]:
    """Return `min` or `max`: among mixed arguments the result is a real."""

    def mixed(*values: int | float) -> int | float:
        value = function(values)
        return float(value) if any(isinstance(v, float) for v in values) else value

    return mixed


CALLS: dict[str, Callable[..., int | float]] = {
    "abs": abs,
    "min": extreme(min),
    "max": extreme(max),
    "floor": whole(math.floor),
    "ceil": whole(math.ceil),
    "round": whole(half_up),
    "sqrt": square_root,
    "pow": power,
    "mod": remainder,
    "sign": lambda value: (value > 0) - (value < 0),
}


def call_value(name: str, *arguments: Value) -> Value:
    """Return the value of a function. Raises `UndefinedValueError` where there is none."""
    wanted_numbers(name, *arguments)
    return CALLS[name](*arguments)
