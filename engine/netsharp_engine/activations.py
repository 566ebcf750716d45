"""The table of activations, one row each: the facts; functions are each back end's.

It imports nothing, so that a checker can read it.
"""

from __future__ import annotations

INFINITY = float("inf")


class Activation:
    """One row of the table.

    ``cost`` is operations per node, ``range`` the closed range of values; ``monotone`` ones never
    fall, and a maximum may be taken before or after them.
    """

    __slots__ = ("cost", "formula", "monotone", "name", "range")

    def __init__(
        self, name: str, formula: str, range: tuple[float, float], monotone: bool, cost: int
    ) -> None:
        self.name = name
        self.formula = formula
        self.range = range
        self.monotone = monotone
        self.cost = cost


_ROWS = (
    Activation("sigmoid", "1 / (1 + e^-x)", (0.0, 1.0), True, 4),
    Activation("linear", "x", (-INFINITY, INFINITY), True, 0),
    Activation("softmax", "e^x / sum of e^x", (0.0, 1.0), False, 5),
    Activation("rlinear", "max(0, x)", (0.0, INFINITY), True, 1),
    Activation("square", "x^2", (0.0, INFINITY), False, 1),
    Activation("sqrt", "sqrt(max(0, x))", (0.0, INFINITY), True, 2),
    Activation("srlinear", "ln(1 + e^x)", (0.0, INFINITY), True, 4),
    Activation("abs", "|x|", (0.0, INFINITY), False, 1),
    Activation("tanh", "tanh(x)", (-1.0, 1.0), True, 3),
    Activation("brlinear", "min(1, max(0, x))", (0.0, 1.0), True, 2),
)

ACTIVATIONS: dict[str, Activation] = {row.name: row for row in _ROWS}
NAMES: tuple[str, ...] = tuple(ACTIVATIONS)
