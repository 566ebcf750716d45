"""The syntax of NDL as values with places; knows no function and evaluates nothing.

Offsets are bytes of the script's text, half-open; `NdlScript.place` converts them to the file.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.text.expressions import late

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.networks.faults import BuildingFault

#: Replaces the dollar signs of a variable that has no value.
HOLE = "\x1a"
_NUMBER = late(
    r"[+-]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?"
    r"|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?"
    r"|[nN][aA][nN](?:\(\w*\))?)\Z"
)


class Word(NamedTuple):
    """A name, a number or another piece of text, without its quotes; `quoted` if it had some."""

    text: str
    start: int
    end: int
    quoted: bool = False

    @property
    def is_number(self) -> bool:
        """Return whether CNTK reads it as a number."""
        return not self.text or _NUMBER.match(self.text) is not None

    @property
    def is_hole(self) -> bool:
        """Return whether it contains a variable without a value."""
        return HOLE in self.text


class Array(NamedTuple):
    """A list in brackets of any kind."""

    items: tuple[Value, ...]
    start: int
    end: int


class Option(NamedTuple):
    """`name = value` among the arguments of a call."""

    name: Word
    value: Word | Array
    start: int
    end: int


class NdlCall(NamedTuple):
    """A call.  `swallowed` is the offset of a character after the bracket that is read as a
    separator.
    """

    name: Word
    arguments: tuple[Value, ...]
    start: int
    end: int
    swallowed: int | None = None


class NdlAssignment(NamedTuple):
    """A statement; without a `name` it is the only one of a short macro."""

    name: Word | None
    value: Value
    start: int
    end: int


class Body(NamedTuple):
    """The statements of a macro; after `=` it is `short`: nothing can be defined in it."""

    statements: tuple[Statement, ...]
    short: bool
    start: int
    end: int


class Definition(NamedTuple):
    """A macro; `body` is None if the text ends before it."""

    name: Word
    parameters: tuple[Word, ...]
    body: Body | None
    start: int
    end: int


Value = Word | Array | Option | NdlCall
Statement = NdlAssignment | Definition


class NdlScript:
    """The statements of one text, and its syntax errors."""

    __slots__ = ("_definitions", "faults", "statements", "text")

    def __init__(
        self, text: Traced, statements: tuple[Statement, ...], faults: tuple[BuildingFault, ...]
    ) -> None:
        self.text = text
        self.statements = statements
        self.faults = faults
        self._definitions: tuple[Definition, ...] | None = None

    def place(self, start: int, end: int) -> Place:
        """Return the place of a span of the text in its file."""
        return place_of(self.text, start, end)

    def definitions(self) -> tuple[Definition, ...]:
        """Return the macros that the text defines, including those in macros."""
        if self._definitions is None:
            self._definitions = tuple(self._found())
        return self._definitions

    def calls(self) -> Iterator[NdlCall]:
        """Yield all calls of the text, including those in macros and in other calls."""
        within = (one.body.statements for one in self.definitions() if one.body is not None)
        for statement in chain(self.statements, *within):
            if isinstance(statement, NdlAssignment):
                yield from (one for one in values(statement.value) if isinstance(one, NdlCall))

    def _found(self) -> Iterator[Definition]:
        waiting = list(reversed(self.statements))
        while waiting:
            statement = waiting.pop()
            if isinstance(statement, Definition):
                yield statement
                waiting += reversed(statement.body.statements if statement.body else ())


def place_of(text: Traced, start: int, end: int) -> Place:
    """Return the place of a span of a traced text in its file."""
    found = text.place(start, end)
    # The text that replaces a key without a value is longer than the key may be.
    return Place(found.source.name, found.start, min(found.end, len(found.source.text)))


def moved(value: Value, by: int) -> Value:
    """Return the same value moved by a number of bytes."""
    if not by:
        return value
    start, end = value.start + by, value.end + by
    if isinstance(value, Word):
        return Word(value.text, start, end, value.quoted)
    if isinstance(value, Array):
        return _moved_array(value, by)
    name = Word(value.name.text, value.name.start + by, value.name.end + by, value.name.quoted)
    if isinstance(value, NdlCall):
        swallowed = None if value.swallowed is None else value.swallowed + by
        arguments = tuple([moved(one, by) for one in value.arguments])
        return NdlCall(name, arguments, start, end, swallowed)
    inner = value.value
    if isinstance(inner, Array):
        return Option(name, _moved_array(inner, by), start, end)
    word = Word(inner.text, inner.start + by, inner.end + by, inner.quoted)
    return Option(name, word, start, end)


def _moved_array(array: Array, by: int) -> Array:
    items = tuple([moved(one, by) for one in array.items])
    return Array(items, array.start + by, array.end + by)


def values(value: Value) -> Iterator[Value]:
    """Yield a value and all values in it, in the order of the text."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        yield one
        if isinstance(one, NdlCall):
            waiting += reversed(one.arguments)
        elif isinstance(one, Array):
            waiting += reversed(one.items)
        elif isinstance(one, Option):
            waiting.append(one.value)
