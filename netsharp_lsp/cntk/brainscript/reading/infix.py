"""The precedence of infix operators, as in CNTK's parser; knows no tree.

`**` has the precedence of `*` and every operator is left-associative; `:` lists are flattened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.brainscript.reading.syntax import (
    Binary,
    Choice,
    Elements,
    Lambda,
    Unary,
)
from netsharp_lsp.cntk.networks.faults import Place

if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression

LEVELS = {
    ":": 4,
    "<<": 5,
    ">>": 5,
    "||": 6,
    "&&": 7,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 8),
    **dict.fromkeys(("+", "-", "with"), 9),
    **dict.fromkeys(("*", "/", ".*", "**", "%"), 10),
}


class Operator(NamedTuple):
    """An infix or prefix operator with its place."""

    place: Place
    sign: str
    prefix: bool


class Open(NamedTuple):
    """An operand that no bracket closes on the right: a choice or a function."""

    expression: Expression


def climb(parts: list[Part]) -> Expression:
    """Group operands and operators in the order of the text."""
    return _Climb(parts).infix(0)


class _Climb:
    """A position among operands and operators."""

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts
        self.position = 0

    def infix(self, lowest: int) -> Expression:
        left = self.operand()
        while (sign := self.sign()) and LEVELS[sign] > lowest:
            self.position += 1
            if sign == ":":
                left = self.list_from(left)
            else:
                right = self.infix(LEVELS[sign])
                left = Binary(spanning(left.place, right.place), sign, left, right)
        return left

    def sign(self) -> str:
        """Return the next operator; empty at the end."""
        part = self.parts[self.position] if self.position < len(self.parts) else None
        return part.sign if isinstance(part, Operator) else ""

    def list_from(self, first: Expression) -> Expression:
        """Return a list after its first `:`; a list in brackets before it is continued."""
        items: list[Expression] = [first]
        if isinstance(first, Elements):
            items = list(first.items)
        items.append(self.infix(LEVELS[":"]))
        while self.sign() == ":":
            self.position += 1
            items.append(self.infix(LEVELS[":"]))
        return Elements(spanning(first.place, items[-1].place), tuple(items))

    def operand(self) -> Expression:
        prefixes = []
        while isinstance(part := self.parts[self.position], Operator):
            prefixes.append(part)
            self.position += 1
        self.position += 1
        operand = self._read(part)
        for prefix in reversed(prefixes):
            operand = Unary(spanning(prefix.place, operand.place), prefix.sign, operand)
        return operand

    def _read(self, part: Expression | Open) -> Expression:
        """Return an operand; one that ends in an expression of its own takes in the rest of the
        text.
        """
        if not isinstance(part, Open):
            return part
        rest = self.parts[self.position :]
        self.position = len(self.parts)
        return continued(part.expression, rest)


def continued(expression: Expression, rest: list[Part]) -> Expression:
    """Return an expression whose last part takes in the rest."""
    if not rest:
        return expression
    if isinstance(expression, Choice):
        tail = climb([expression.alternative, *rest])
        return expression._replace(alternative=tail, place=spanning(expression.place, tail.place))
    if isinstance(expression, Lambda):
        tail = climb([expression.body, *rest])
        return expression._replace(body=tail, place=spanning(expression.place, tail.place))
    return climb([expression, *rest])


def spanning(first: Place, last: Place) -> Place:
    """Return the place from the start of one place to the end of another in the same text."""
    return Place(first.source, first.start, last.end)


if TYPE_CHECKING:
    Part = Expression | Operator | Open
