"""Converts nodes of the tree to expressions; a missing part becomes `Broken`, nothing fails."""

from __future__ import annotations

import math
import re

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.brainscript.reading.infix import Open, Operator, climb
from netsharp_lsp.cntk.brainscript.reading.moving import moved
from netsharp_lsp.cntk.brainscript.reading.syntax import (
    Argument,
    ArrayConstructor,
    ArrayLiteral,
    BrainScriptCall,
    Broken,
    Choice,
    Include,
    Index,
    IndexRange,
    Lambda,
    Member,
    Name,
    New,
    Number,
    Parameter,
    RecordLiteral,
    Select,
    Text,
    Truth,
    Variable,
)
from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.text.remembered import Remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from netsharp_lsp.cntk.brainscript.reading.infix import Part
    from netsharp_lsp.cntk.brainscript.reading.syntax import Entry, Expression

#: Hexadecimal numbers, as far as the C function `wcstod` accepts them.
HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]+")
#: The deepest nesting of expressions that is parsed, so that they can be walked by recursion.
DEEPEST = 120
#: The most operators of one expression, without `:`; each is nested in the next.
MOST_OPERATORS = 250
#: The bytes of members that are cached, and the least size of one.
KEPT, LEAST = 2 << 20, 256
#: Outermost members by their source, depth and bytes, each as it was last parsed.
_MEMBERS: Remembered[Member] = Remembered(KEPT)


class ExpressionReader:
    """Parses the expressions of one text."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data = data
        self.source = source
        self.depth = 0
        #: Whether no member was parsed yet, so that the next are the outermost.
        self._is_outermost = True

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def place(self, node: Node) -> Place:
        """Return the place of a node."""
        return Place(self.source, node.start_byte, node.end_byte)

    def read(self, node: Node | None, around: Node) -> Expression:
        """Return the expression of a node, or `Broken` at the end of ``around`` if there is
        none.
        """
        if node is None:
            return Broken(Place(self.source, around.end_byte, around.end_byte))
        reader = READERS.get(node.type)
        if reader is None or self.depth >= DEEPEST:
            return Broken(self.place(node))
        self.depth += 1
        try:
            return reader(self, node)
        finally:
            self.depth -= 1

    def field(self, node: Node, name: str) -> Expression:
        """Return the expression in a field of a node."""
        return self.read(node.child_by_field_name(name), node)

    def name(self, node: Node, field: str) -> tuple[str, Place]:
        """Return the identifier in a field, empty if it is missing, and its place."""
        found = node.child_by_field_name(field)
        if found is None:
            return "", Place(self.source, node.end_byte, node.end_byte)
        return self.text(found), self.place(found)

    def operands(self, node: Node) -> list[Expression]:
        """Return the expressions directly below a node."""
        return [self.read(child, node) for child in node.named_children if child.type in READERS]

    def infix(self, node: Node) -> Expression:
        """Return a chain of operators, regrouped by precedence."""
        parts = self.chain(node)
        signs = [part for part in parts if isinstance(part, Operator) and part.sign != ":"]
        if len(signs) > MOST_OPERATORS:
            return Broken(self.place(node))
        return climb(parts)._replace(place=self.place(node))

    def chain(self, node: Node) -> list[Part]:
        """Return the operands and operators of nested `binary` and `unary`, in the order of the
        text.
        """
        parts: list[Part] = []
        waiting = [node]
        while waiting:
            current = waiting.pop()
            sign = current.child_by_field_name("operator")
            if current.type == "binary" and sign is not None:
                right = current.child_by_field_name("right")
                left = current.child_by_field_name("left")
                waiting.extend(one for one in (right, sign, left) if one is not None)
            elif current.type == "unary" and sign is not None:
                parts.append(Operator(self.place(sign), self.text(sign), prefix=True))
                operand = current.child_by_field_name("operand")
                waiting.extend(one for one in (operand,) if one is not None)
            elif current.type in ("if", "lambda"):
                parts.append(Open(self.read(current, node)))
            elif current.type in READERS or current.type.startswith("missing"):
                parts.append(self.read(current, node))
            else:
                parts.append(Operator(self.place(current), self.text(current), prefix=False))
        return parts

    def entries(self, node: Node) -> tuple[Entry, ...]:
        """Return the members and includes of a record or a text."""
        found: list[Entry] = []
        is_outermost = self._is_outermost
        for child in node.named_children:
            raise_if_cancelled()
            if child.type == "member":
                self._is_outermost = False
                found.append(self._known(child) if is_outermost else self.member(child))
            elif child.type == "include":
                path = self.field(child, "path")
                if isinstance(path, Text):
                    found.append(Include(self.place(child), path.value))
        return tuple(found)

    def _known(self, node: Node) -> Member:
        """Return a member, from the cache if an edit only moved it: it depends on its own bytes and
        its depth.
        """
        key = (self.source, self.depth, self.data[node.start_byte : node.end_byte])
        known = None if node.has_error else _MEMBERS.find(key)
        if known is not None and known.place.start == node.start_byte:
            return known
        read = self.member(node) if known is None else moved(known, node.start_byte)
        if not node.has_error:
            _MEMBERS.keep(key, read, LEAST + len(key[2]))
        return read

    def member(self, node: Node) -> Member:
        """Return a member."""
        name, place = self.name(node, "name")
        index = parameters = None
        braced = False
        for child in node.named_children:
            if child.type == "index_range":
                index = self.index_range(child)
            elif child.type == "parameters":
                parameters = self.parameters(child)
                braced = self.text(child).startswith("{")
        value = self.field(node, "value")
        whole = Place(self.source, node.start_byte, max(place.end, value.place.end))
        return Member(whole, name, place, index, parameters, braced, value)

    def index_range(self, node: Node) -> IndexRange:
        """Return the range of a member that is an array."""
        name, place = self.name(node, "name")
        first, last = self.field(node, "first"), self.field(node, "last")
        return IndexRange(self.place(node), name, place, first, last)

    def parameters(self, node: Node) -> tuple[Parameter, ...]:
        """Return declared parameters, required and optional."""
        found = []
        for child in node.named_children:
            if child.type == "parameter":
                name, place = self.name(child, "name")
                default = child.child_by_field_name("default")
                found.append(
                    Parameter(place, name, None if default is None else self.read(default, child))
                )
        return tuple(found)

    def arguments(self, node: Node) -> tuple[Argument, ...]:
        """Return the arguments of a call in the order of the text."""
        found = []
        for child in node.named_children:
            if child.type == "named_argument":
                name, _ = self.name(child, "name")
                found.append(Argument(self.place(child), name, self.field(child, "value")))
            elif child.type in READERS:
                found.append(Argument(self.place(child), "", self.read(child, node)))
        return tuple(found)


def _number(reader: ExpressionReader, node: Node) -> Expression:
    text = reader.text(node)
    try:
        if HEXADECIMAL.fullmatch(text):
            return Number(reader.place(node), float.fromhex(text))
        return Number(reader.place(node), float(text))
    except OverflowError:
        return Number(reader.place(node), math.inf)
    except ValueError:
        return Broken(reader.place(node))


def _text_literal(reader: ExpressionReader, node: Node) -> Expression:
    return Text(reader.place(node), reader.text(node)[1:-1])


def _truth(reader: ExpressionReader, node: Node) -> Expression:
    return Truth(reader.place(node), reader.text(node) == "true")


def _name(reader: ExpressionReader, node: Node) -> Expression:
    return Name(reader.place(node), reader.text(node))


def _variable(reader: ExpressionReader, node: Node) -> Expression:
    return Variable(reader.place(node), reader.text(node)[1:-1])


def _broken(reader: ExpressionReader, node: Node) -> Expression:
    return Broken(reader.place(node))


def _parenthesized(reader: ExpressionReader, node: Node) -> Expression:
    inside = reader.operands(node)
    return inside[0] if len(inside) == 1 else Broken(reader.place(node))


def _record(reader: ExpressionReader, node: Node) -> Expression:
    return RecordLiteral(reader.place(node), reader.entries(node))


def _array_literal(reader: ExpressionReader, node: Node) -> Expression:
    return ArrayLiteral(reader.place(node), tuple(reader.operands(node)))


def _array_constructor(reader: ExpressionReader, node: Node) -> Expression:
    bounds = reader.field(node, "first"), reader.field(node, "last")
    return ArrayConstructor(reader.place(node), *bounds, reader.field(node, "element"))


def _choice(reader: ExpressionReader, node: Node) -> Expression:
    condition = reader.field(node, "condition")
    chosen = reader.field(node, "consequence"), reader.field(node, "alternative")
    return Choice(reader.place(node), condition, *chosen)


def _lambda(reader: ExpressionReader, node: Node) -> Expression:
    name, place = reader.name(node, "parameter")
    parameter = Parameter(place, name, None)
    return Lambda(reader.place(node), (parameter,), reader.field(node, "body"))


def _call(reader: ExpressionReader, node: Node) -> Expression:
    function = reader.field(node, "function")
    arguments = node.child_by_field_name("arguments")
    if arguments is None:
        return function
    braced = reader.text(arguments).startswith("{")
    read = reader.arguments(arguments)
    return BrainScriptCall(reader.place(node), function, read, reader.place(arguments), braced)


def _index(reader: ExpressionReader, node: Node) -> Expression:
    return Index(reader.place(node), reader.field(node, "target"), reader.field(node, "position"))


def _select(reader: ExpressionReader, node: Node) -> Expression:
    name, place = reader.name(node, "name")
    return Select(reader.place(node), reader.field(node, "object"), name, place)


def _new(reader: ExpressionReader, node: Node) -> Expression:
    name, place = reader.name(node, "class")
    return New(reader.place(node), name, place, reader.field(node, "arguments"))


READERS: dict[str, Callable[[ExpressionReader, Node], Expression]] = {
    "number": _number,
    "string": _text_literal,
    "unclosed_string": _broken,
    "boolean": _truth,
    "identifier": _name,
    "variable": _variable,
    "missing_operand": _broken,
    "parenthesized": _parenthesized,
    "record": _record,
    "array_literal": _array_literal,
    "array_constructor": _array_constructor,
    "if": _choice,
    "lambda": _lambda,
    "unary": ExpressionReader.infix,
    "binary": ExpressionReader.infix,
    "call": _call,
    "index": _index,
    "select": _select,
    "new": _new,
}
