"""The syntax of configurations, NDL and MEL as immutable values; knows neither tree nor meaning.

Spans are UTF-8 byte offsets into the whole text, half-open. The text of a value is as written: no
variable is substituted, and no list without brackets is split.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

#: The most levels of brackets, so that the syntax can be traversed by recursion.
DEEPEST = 200


class Node:
    """Anything with a span."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.start}, {self.end})"


class Name(Node):
    """A key, a function's or an argument's name, spelt as in the text."""

    __slots__ = ("text",)

    def __init__(self, start: int, end: int, text: str) -> None:
        super().__init__(start, end)
        self.text = text


class Comment(Node):
    """From `#` to the end of the line."""

    __slots__ = ()


# Values.


class Text(Node):
    """Bare text: `256:512*3`, `Dim`, `$Root$/x`."""

    __slots__ = ("text",)

    def __init__(self, start: int, end: int, text: str) -> None:
        super().__init__(start, end)
        self.text = text


class String(Text):
    """Text in quotes; `text` is their contents. An unclosed one ends with its line."""

    __slots__ = ("closed",)

    def __init__(self, start: int, end: int, text: str, closed: bool) -> None:
        super().__init__(start, end, text)
        self.closed = closed


class BuilderText(Text):
    """The network of a BrainScript builder with its brackets, which another grammar reads."""

    __slots__ = ()


class Block(Node):
    """Records in brackets or braces; `opening` is the bracket."""

    __slots__ = ("opening", "records")

    def __init__(self, start: int, end: int, opening: str, records: tuple[Record, ...]) -> None:
        super().__init__(start, end)
        self.opening = opening
        self.records = records


class List(Node):
    """Elements in parentheses; `separators` are the places between them."""

    __slots__ = ("elements", "separators")

    def __init__(
        self,
        start: int,
        end: int,
        elements: tuple[Element, ...],
        separators: tuple[tuple[int, int], ...],
    ) -> None:
        super().__init__(start, end)
        self.elements = elements
        self.separators = separators


class ConfigurationCall(Node):
    """`function(arguments)`, as a value or, in MEL, as a record."""

    __slots__ = ("arguments", "function")

    def __init__(self, start: int, end: int, function: Name, arguments: List) -> None:
        super().__init__(start, end)
        self.function = function
        self.arguments = arguments


class Joined(Node):
    """Words, and a bracket that belongs to them: `a[1]`, one value; `text` is all of it."""

    __slots__ = ("parts", "text")

    def __init__(self, start: int, end: int, text: str, parts: tuple[Value, ...]) -> None:
        super().__init__(start, end)
        self.text = text
        self.parts = parts


class Named(Node):
    """`name=value` among the arguments of a call."""

    __slots__ = ("name", "value")

    def __init__(self, start: int, end: int, name: Name, value: Value | None) -> None:
        super().__init__(start, end)
        self.name = name
        self.value = value


class Deep(Node):
    """A value nested `DEEPEST` levels deep, which is not parsed further."""

    __slots__ = ()


# Records.


class Assignment(Node):
    """`key = value` or `key [ ... ]`; the value is None where it is missing."""

    __slots__ = ("name", "value")

    def __init__(self, start: int, end: int, name: Name, value: Value | None) -> None:
        super().__init__(start, end)
        self.name = name
        self.value = value


class Builder(Assignment):
    """The assignment of a BrainScript builder."""

    __slots__ = ()


class Macro(Node):
    """`name(parameters) = body`, NDL's function."""

    __slots__ = ("body", "name", "parameters")

    def __init__(
        self,
        span: tuple[int, int],
        name: Name,
        parameters: List,
        body: Value | Macro | None,
    ) -> None:
        super().__init__(*span)
        self.name = name
        self.parameters = parameters
        self.body = body


class Flag(Node):
    """A key alone, which means true; or a bracket alone, whose records belong to the outer
    block.
    """

    __slots__ = ("value",)

    def __init__(self, start: int, end: int, value: Value) -> None:
        super().__init__(start, end)
        self.value = value


class Stray(Node):
    """Text that is not a record: a closing bracket too many, `=` without a key."""

    __slots__ = ()


class Gap(Node):
    """A closing bracket that is missing (the gap is empty) or wrong.

    `expected` is the right one; `opening` is the start of the open bracket.
    """

    __slots__ = ("expected", "opening")

    def __init__(self, start: int, end: int, expected: str, opening: int) -> None:
        super().__init__(start, end)
        self.expected = expected
        self.opening = opening


class Document:
    """A whole text: its records, comments, and gaps among its brackets, in order."""

    __slots__ = ("comments", "gaps", "records")

    def __init__(
        self,
        records: tuple[Record, ...],
        comments: tuple[Comment, ...],
        gaps: tuple[Gap, ...],
    ) -> None:
        self.records = records
        self.comments = comments
        self.gaps = gaps

    def all_records(self) -> Iterator[Record]:
        """Yield every record, each before those in its block."""
        waiting = list(reversed(self.records))
        while waiting:
            record = waiting.pop()
            yield record
            value = record.body if isinstance(record, Macro) else getattr(record, "value", None)
            if isinstance(value, Block):
                waiting += reversed(value.records)


if TYPE_CHECKING:
    Value: TypeAlias = Text | Block | List | ConfigurationCall | Joined | Deep
    Element: TypeAlias = Value | Named
    Record: TypeAlias = Assignment | Macro | ConfigurationCall | Flag | Stray
