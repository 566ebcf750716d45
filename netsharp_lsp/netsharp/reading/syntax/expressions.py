"""Names and expressions of a Net# specification as immutable values; knows no declaration."""

from __future__ import annotations


class Node:
    """A node with a span inside its declaration."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


class Name(Node):
    """An identifier where one is defined or used; may start with a digit (a fault)."""

    __slots__ = ("text",)

    def __init__(self, start: int, end: int, text: str) -> None:
        self.start = start
        self.end = end
        self.text = text


class Keyword(Name):
    """A keyword as written, in whatever case."""

    __slots__ = ()


#: How deep expressions may nest, so that they can be traversed by recursion.
DEEPEST = 200
#: Whole numbers have 64 bits.
INTEGER_LIMIT = 2**63


class Number(Node):
    """A literal; real if it has a point or an exponent.  `value` is None if it is malformed."""

    __slots__ = ("text", "value")

    def __init__(self, start: int, end: int, text: str, value: int | float | None) -> None:
        self.start = start
        self.end = end
        self.text = text
        self.value = value


class Boolean(Node):
    """`true` or `false` in any case."""

    __slots__ = ("value",)

    def __init__(self, start: int, end: int, value: bool) -> None:
        self.start = start
        self.end = end
        self.value = value


class Placeholder(Node):
    """`...` where values are left out."""

    __slots__ = ()


class Broken(Node):
    """An expression that was not parsed; its fault is reported elsewhere."""

    __slots__ = ()


class Deep(Broken):
    """An expression nested `DEEPEST` levels deep; its inside is not read."""

    __slots__ = ()


class Unary(Node):
    """`-x`, `+x`, `!x`."""

    __slots__ = ("operand", "operator")

    def __init__(self, start: int, end: int, operator: str, operand: Expression) -> None:
        self.start = start
        self.end = end
        self.operator = operator
        self.operand = operand


class Binary(Node):
    """`left operator right`."""

    __slots__ = ("left", "operator", "right")

    def __init__(
        self, start: int, end: int, operator: str, left: Expression, right: Expression
    ) -> None:
        self.start = start
        self.end = end
        self.operator = operator
        self.left = left
        self.right = right


class Call(Node):
    """`function(arguments)`."""

    __slots__ = ("arguments", "function")

    def __init__(
        self, start: int, end: int, function: Name, arguments: tuple[Expression, ...]
    ) -> None:
        self.start = start
        self.end = end
        self.function = function
        self.arguments = arguments


class Index(Node):
    """`target[position]`."""

    __slots__ = ("position", "target")

    def __init__(self, start: int, end: int, target: Expression, position: Expression) -> None:
        self.start = start
        self.end = end
        self.target = target
        self.position = position


class Tuple(Node):
    """`[a, b]`; `bracket` is "(" where round brackets were written, "" where none were.

    `trailing` is the span of a comma without a value after it, if there is one.
    """

    __slots__ = ("bracket", "items", "trailing")

    def __init__(
        self,
        start: int,
        end: int,
        items: tuple[Expression, ...],
        bracket: str = "[",
        trailing: tuple[int, int] | None = None,
    ) -> None:
        self.start = start
        self.end = end
        self.items = items
        self.bracket = bracket
        self.trailing = trailing


class Numbers(Node):
    """A long tuple of plain numbers, kept as values: trained weights come in thousands."""

    __slots__ = ("values",)

    def __init__(self, start: int, end: int, values: tuple[int | float, ...]) -> None:
        self.start = start
        self.end = end
        self.values = values


class Blob(Node):
    """`[ floats_from_bytes( 3f800000 ... ) ]`: little-endian float32 in hexadecimal."""

    __slots__ = ("values",)

    def __init__(self, start: int, end: int, values: tuple[float, ...]) -> None:
        self.start = start
        self.end = end
        self.values = values


Expression = (
    Name
    | Number
    | Boolean
    | Placeholder
    | Broken
    | Unary
    | Binary
    | Call
    | Index
    | Tuple
    | Numbers
    | Blob
)
