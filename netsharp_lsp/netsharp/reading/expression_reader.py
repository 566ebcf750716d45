"""Reading expressions out of the tree: numbers, names, operators, calls, tuples of any length.

It knows no names' meanings; depth is bounded, since people and fuzzers nest without end.
"""

from __future__ import annotations

import re
import struct
from sys import intern

from netsharp_lsp.netsharp.reading.syntax import (
    DEEPEST,
    INTEGER_LIMIT,
    Binary,
    Blob,
    Boolean,
    Broken,
    Call,
    Deep,
    Fault,
    Index,
    Keyword,
    Number,
    Numbers,
    Placeholder,
    Tuple,
    Unary,
)
from netsharp_lsp.netsharp.reading.tree_reader import MISSING, TreeReader
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node as TreeNode

    from netsharp_lsp.netsharp.reading.comments import Span
    from netsharp_lsp.netsharp.reading.syntax import Expression

#: Most tuples: whole numbers and truth values, of which no more is to be asked than their text.
PLAIN_TUPLE = re.compile(rb"\[ *+(?:[0-9]++|true|false) *+(?:, *+(?:[0-9]++|true|false) *+)*+\]\Z")
PLAIN_VALUE = re.compile(rb"[0-9a-z]++")
#: From this many children a tuple of plain numbers is read in one go.
LONG_TUPLE = 200
PLAIN_NUMBERS = late(rb"\[[-+0-9.eE,\s]*\]\Z")
#: Digits of a whole number that are read: many more than fit 64 bits.
LONGEST_INTEGER = 40
TRUTHS = {"true": True, "false": False}


class ExpressionReader(TreeReader):
    """Reads the expressions of one top-level node."""

    def __init__(self, data: bytes, node: TreeNode, comments: list[Span]) -> None:
        super().__init__(data, node, comments)
        self.depth = 0
        self.reported_depth = False
        #: Whether a malformed number was met, or a name that starts with a digit.
        self.odd_digits = False

    def expression(self, node: TreeNode) -> Expression:
        """Return an expression of any kind; `Broken` where the tree has none."""
        kind = node.type
        if kind == "number":
            return self.number(node)
        if kind == "identifier":
            return self.name(node)
        if kind == "digit_name":
            self.odd_digits = True
            return self.name(node)
        reader = EXPRESSIONS.get(kind)
        if reader is None:
            return Broken(*self.span(node))
        if self.depth == DEEPEST:
            return self.deep(node)
        self.depth += 1
        expression = reader(self, node)
        self.depth -= 1
        return expression

    def deep(self, node: TreeNode) -> Broken:
        """Leave an expression unparsed, except for its comments and faults.

        Where one branch is too deep, others beside it are too as a rule, so only the first is
        noted.
        """
        pending = [node]
        while pending:
            pending.extend(self.parts(pending.pop()))
        kind = Broken if self.reported_depth else Deep
        self.reported_depth = True
        return kind(*self.span(node))

    def number(self, node: TreeNode) -> Number:
        """Return a literal number."""
        text = self.text(node)
        return Number(*self.span(node), text, number_value(text))

    def malformed(self, node: TreeNode) -> Number:
        """Return a word that looks like a number and is not one."""
        self.odd_digits = True
        return Number(*self.span(node), self.text(node), None)

    def boolean(self, node: TreeNode) -> Boolean:
        """Return `true` or `false`."""
        self.parts(node)
        return Boolean(*self.span(node), self.text(node).lower() == "true")

    def placeholder(self, node: TreeNode) -> Placeholder:
        """Return `...` in place of values."""
        return Placeholder(*self.span(node))

    def parenthesized(self, node: TreeNode) -> Expression:
        """Return the expression inside parentheses."""
        inner = [part for part in self.parts(node) if part.is_named and part.type not in MISSING]
        return self.expression(inner[0]) if inner else Broken(*self.span(node))

    def unary(self, node: TreeNode) -> Expression:
        """Return an operator and its operand."""
        parts = self.parts(node)
        if len(parts) < 2:
            return Broken(*self.span(node))
        return Unary(*self.span(node), parts[0].type, self.expression(parts[1]))

    def binary(self, node: TreeNode) -> Expression:
        """Return an operator and its two operands."""
        parts = self.parts(node)
        if len(parts) < 3:
            return Broken(*self.span(node))
        left, operator, right = parts[:3]
        return Binary(
            *self.span(node), operator.type, self.expression(left), self.expression(right)
        )

    def call(self, node: TreeNode) -> Expression:
        """Return a function and its arguments."""
        parts = [part for part in self.parts(node) if part.is_named and part.type not in MISSING]
        arguments = tuple(self.expression(part) for part in parts[1:])
        return Call(*self.span(node), self.name(parts[0]), arguments)

    def index(self, node: TreeNode) -> Expression:
        """Return an entry of a tuple."""
        parts = [part for part in self.parts(node) if part.is_named and part.type not in MISSING]
        if len(parts) < 2:
            return Broken(*self.span(node))
        return Index(*self.span(node), self.expression(parts[0]), self.expression(parts[1]))

    def tuple(self, node: TreeNode) -> Expression:
        """Return values in brackets; commas that separate nothing are noted."""
        if node.child_count > LONG_TUPLE:
            numbers = self.plain_numbers(node)
            if numbers is not None:
                return numbers
        plain = PLAIN_TUPLE.match(self.data, node.start_byte, node.end_byte)
        if plain is not None and not node.has_error and self.depth < DEEPEST:
            return self.plain_tuple(*plain.span())
        items: list[Expression] = []
        bracket = "("
        comma: tuple[int, int] | None = None
        trailing: tuple[int, int] | None = None
        for part in self.parts(node):
            kind = part.type
            if kind == ",":
                if comma is not None or not items:
                    self.faults.append(Fault(*self.span(part), "idle", ","))
                    trailing = self.span(part)
                comma = self.span(part)
            elif kind == "[":
                bracket = "["
            elif kind == "missing_open":
                bracket = ""
            elif part.is_named and kind not in MISSING:
                items.append(self.expression(part))
                comma = None
        if comma is not None and comma != trailing:
            self.faults.append(Fault(*comma, "idle", ","))
        return Tuple(*self.span(node), tuple(items), bracket, comma or trailing)

    def plain_tuple(self, start: int, end: int) -> Tuple:
        """Return a tuple parsed from its text: half of a long text's nodes are such tuples."""
        items: list[Expression] = []
        for found in PLAIN_VALUE.finditer(self.data, start, end):
            span = self.place(*found.span())
            text = intern(found[0].decode())
            if text in TRUTHS:
                self.keywords.append(Keyword(*span, text))
                items.append(Boolean(*span, TRUTHS[text]))
            else:
                items.append(Number(*span, text, number_value(text)))
        return Tuple(*self.place(start, end), tuple(items))

    def plain_numbers(self, node: TreeNode) -> Numbers | None:
        """Return a tuple of plain numbers parsed at once; None where it has anything else."""
        data = self.data[node.start_byte : node.end_byte]
        if not PLAIN_NUMBERS.match(data):
            return None
        values = []
        for word in data[1:-1].decode().split(","):
            value = number_value(word.strip().lstrip("+"))
            if value is None or (isinstance(value, int) and abs(value) >= INTEGER_LIMIT):
                return None
            values.append(value)
        return Numbers(*self.span(node), tuple(values))

    def blob(self, node: TreeNode) -> Blob:
        """Return weights as the bytes of float32 numbers, little-endian."""
        words = (self.text(part) for part in self.parts(node) if part.type == "float_bytes")
        values = tuple(struct.unpack("<f", bytes.fromhex(word))[0] for word in words)
        return Blob(*self.span(node), values)


def number_value(text: str) -> int | float | None:
    """Return the value of a literal, None if it is not one."""
    if text.removeprefix("-").isdecimal():
        return int(text) if len(text) <= LONGEST_INTEGER else long_integer(text)
    try:
        return float(text)
    except ValueError:
        return None


def long_integer(text: str) -> int:
    """Return a whole number of many digits; one beyond 64 bits is cut to its first digits.

    Python refuses to parse thousands of digits, and of such a number it only matters that it is too
    large.
    """
    sign = "-" if text.startswith("-") else ""
    return int(sign + text.removeprefix("-").lstrip("0")[:LONGEST_INTEGER].rjust(1, "0"))


EXPRESSIONS: dict[str, Callable[[ExpressionReader, TreeNode], Expression]] = {
    "malformed_number": ExpressionReader.malformed,
    "boolean": ExpressionReader.boolean,
    "placeholder": ExpressionReader.placeholder,
    "parenthesized": ExpressionReader.parenthesized,
    "unary": ExpressionReader.unary,
    "binary": ExpressionReader.binary,
    "call": ExpressionReader.call,
    "index": ExpressionReader.index,
    "tuple": ExpressionReader.tuple,
    "round_tuple": ExpressionReader.tuple,
    "blob": ExpressionReader.blob,
}
