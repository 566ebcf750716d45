"""The syntax of BrainScript as immutable values; knows neither tree-sitter nor meaning.

Spans are UTF-8 byte offsets, half-open, into the text named by `source`.
"""

from __future__ import annotations

from typing import NamedTuple

from netsharp_lsp.cntk.networks.faults import Place


class Number(NamedTuple):
    """A decimal or hexadecimal number."""

    place: Place
    value: float


class Text(NamedTuple):
    """A quoted string without its quotes; there are no escapes."""

    place: Place
    value: str


class Truth(NamedTuple):
    """`true` or `false`."""

    place: Place
    value: bool


class Name(NamedTuple):
    """An identifier that is looked up."""

    place: Place
    name: str


class Variable(NamedTuple):
    """`$name$`, which a configuration would have substituted."""

    place: Place
    name: str


class Broken(NamedTuple):
    """A part that could not be parsed; its error is reported elsewhere."""

    place: Place


class Unary(NamedTuple):
    """`+x`, `-x` or `!x`."""

    place: Place
    operator: str
    operand: Expression


class Binary(NamedTuple):
    """Two operands of an infix operator; `:` is not an operator but `Elements`."""

    place: Place
    operator: str
    left: Expression
    right: Expression


class Elements(NamedTuple):
    """`a:b:c` flattened: an array of at least two elements."""

    place: Place
    items: tuple[Expression, ...]


class ArrayLiteral(NamedTuple):
    """`[|a;b|]`, of any length."""

    place: Place
    items: tuple[Expression, ...]


class ArrayConstructor(NamedTuple):
    """`array[first..last] (element)`, where `element` is a function of the index."""

    place: Place
    first: Expression
    last: Expression
    element: Expression


class Choice(NamedTuple):
    """`if condition then consequence else alternative`."""

    place: Place
    condition: Expression
    consequence: Expression
    alternative: Expression


class Parameter(NamedTuple):
    """A parameter of a function; with a default it is optional and passed by name."""

    place: Place
    name: str
    default: Expression | None


class Lambda(NamedTuple):
    """A function: `x => body`, or what `f(x, y) = body` stores."""

    place: Place
    parameters: tuple[Parameter, ...]
    body: Expression


class Argument(NamedTuple):
    """An argument; `name` is empty for a positional one."""

    place: Place
    name: str
    value: Expression


class BrainScriptCall(NamedTuple):
    """A call; `braced` if its arguments are in `{}`."""

    place: Place
    function: Expression
    arguments: tuple[Argument, ...]
    arguments_place: Place
    braced: bool


class Index(NamedTuple):
    """`target[position]`."""

    place: Place
    target: Expression
    position: Expression


class Select(NamedTuple):
    """`record.name`."""

    place: Place
    record: Expression
    name: str
    name_place: Place


class New(NamedTuple):
    """`new ClassName arguments`."""

    place: Place
    class_name: str
    class_place: Place
    arguments: Expression


class IndexRange(NamedTuple):
    """`[i:first..last]` after the name of a member."""

    place: Place
    name: str
    name_place: Place
    first: Expression
    last: Expression


class Member(NamedTuple):
    """`name[i:first..last](parameters) = value`; parameters are None if none are declared."""

    place: Place
    name: str
    name_place: Place
    index_range: IndexRange | None
    parameters: tuple[Parameter, ...] | None
    braced: bool
    value: Expression


class Include(NamedTuple):
    """`include "path"`, which is replaced by the members of that file."""

    place: Place
    path: str


class RecordLiteral(NamedTuple):
    """`{...}` or the older `[...]`: members that can use each other in any order."""

    place: Place
    entries: tuple[Entry, ...]


class Comment(NamedTuple):
    """A comment with its marks."""

    place: Place
    text: str


class Script(NamedTuple):
    """A whole text: its members, and `built` if it is the value of a builder."""

    place: Place
    entries: tuple[Entry, ...]
    built: Expression | None
    comments: tuple[Comment, ...]


Expression = (
    Number
    | Text
    | Truth
    | Name
    | Variable
    | Broken
    | Unary
    | Binary
    | Elements
    | ArrayLiteral
    | ArrayConstructor
    | Choice
    | Lambda
    | BrainScriptCall
    | Index
    | Select
    | New
    | RecordLiteral
)
Entry = Member | Include
