"""How infix operators bind, as the original parser climbs them; knows no tree.

`**` stands at the level of `*` and every operator groups to the left; `:` lists are flattened.
"""

from __future__ import annotations

from typing import NamedTuple

from netsharp_lsp.cntk.brainscript.reading.syntax import (
    Binary,
    Choice,
    Elements,
    Lambda,
    Place,
    Unary,
)

TYPE_CHECKING = False
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
    """An infix operator, or a prefix one, where it stands."""

    place: Place
    sign: str
    prefix: bool


def climb(parts: list[Expression | Operator]) -> Expression:
    """Group operands and operators in the order of the text."""
    return _Climb(parts).infix(0)


class _Climb:
    """A position among operands and operators."""

    def __init__(self, parts: list[Expression | Operator]) -> None:
        self.parts = parts
        self.position = 0

    def infix(self, lowest: int) -> Expression:
        left = self.operand()
        while self.position < len(self.parts):
            operator = self.parts[self.position]
            assert isinstance(operator, Operator)
            level = LEVELS[operator.sign]
            if level <= lowest:
                break
            self.position += 1
            left = joined(left, operator.sign, self.infix(level))
        return left

    def operand(self) -> Expression:
        part = self.parts[self.position]
        self.position += 1
        if not isinstance(part, Operator):
            return self._open(part)
        operand = self.operand()
        return Unary(spanning(part.place, operand.place), part.sign, operand)

    def _open(self, part: Expression) -> Expression:
        """What ends in an expression of its own goes on as far as the text does."""
        if not isinstance(part, Choice | Lambda) or self.position == len(self.parts):
            return part
        rest = self.parts[self.position :]
        self.position = len(self.parts)
        if isinstance(part, Choice):
            tail = climb([part.alternative, *rest])
            return part._replace(alternative=tail, place=spanning(part.place, tail.place))
        tail = climb([part.body, *rest])
        return part._replace(body=tail, place=spanning(part.place, tail.place))


def joined(left: Expression, sign: str, right: Expression) -> Expression:
    """Two operands as one; a list that continues to the right stays one list."""
    place = spanning(left.place, right.place)
    if sign != ":":
        return Binary(place, sign, left, right)
    if isinstance(left, Elements):
        return Elements(place, (*left.items, right))
    return Elements(place, (left, right))


def spanning(first: Place, last: Place) -> Place:
    """From the start of one place to the end of another in the same text."""
    return Place(first.source, first.start, last.end)
