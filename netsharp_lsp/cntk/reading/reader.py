"""Conversion of the parser's tree to the values of `syntax`; never fails."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from sys import intern

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.reading.grammar import parse_tree
from netsharp_lsp.cntk.reading.syntax import (
    DEEPEST,
    Assignment,
    Block,
    Builder,
    BuilderText,
    Comment,
    ConfigurationCall,
    Deep,
    Document,
    Flag,
    Gap,
    Joined,
    List,
    Macro,
    Name,
    Named,
    Stray,
    String,
    Text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node as TreeNode
    from tree_sitter import Tree

    from netsharp_lsp.cntk.reading.syntax import Element, Record, Value

CLOSERS = {"[": "]", "{": "}", "(": ")"}
_GAPS = frozenset(("missing_bracket", "missing_brace", "missing_parenthesis", "wrong_closer"))


#: Records beside a stretch that may have a say in what it is: words before a key, a macro's body.
AROUND = 2


def read(text: bytes, tree: Tree | None = None) -> Document:
    """Read UTF-8 text without a byte-order mark; `tree` is its tree, if it is parsed already."""
    root = (tree or parse_tree(text)).root_node
    return _Reader(text).document(root, root.children)


def read_between(text: bytes, tree: Tree, start: int, end: int) -> Document:
    """Read the records of a text that overlap a span, and some beside them."""
    root = tree.root_node
    children = root.children
    first = bisect_right(children, start, key=lambda child: child.end_byte)
    last = max(first, bisect_left(children, end, key=lambda child: child.start_byte))
    low = _beside(children, range(first - 1, -1, -1), first)
    high = _beside(children, range(last, len(children)), last - 1)
    return _Reader(text).document(root, children[low : high + 1])


def _beside(children: Sequence[TreeNode], way: range, nearest: int) -> int:
    """Return the number of the last of `AROUND` records in a direction; comments are not
    counted.
    """
    found, left = nearest, AROUND
    for found in way:
        left -= children[found].type in _RECORDS
        if not left:
            break
    return found


class _Reader:
    __slots__ = ("_comments", "_depth", "_gaps", "_text")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._comments: list[Comment] = []
        self._gaps: list[Gap] = []
        self._depth = 0

    def document(self, root: TreeNode, children: Sequence[TreeNode]) -> Document:
        records = self._records(root, children)
        comments = sorted(self._comments, key=lambda comment: comment.start)
        return Document(records, tuple(comments), tuple(self._gaps))

    def _records(self, node: TreeNode, children: Sequence[TreeNode]) -> tuple[Record, ...]:
        """Return the records among children of a node."""
        found: list[Record] = []
        for child in children:
            raise_if_cancelled()
            read_one = _RECORDS.get(child.type)
            if read_one is not None:
                record = read_one(self, child)
                if found and isinstance(record, Assignment | Macro):
                    record = self._with_words(found, record)
                found.append(record)
            elif child.type == "comment":
                self._comment(child)
            elif child.type in _GAPS:
                self._gap(node, child)
            elif child.type == "ERROR":
                found.append(Stray(child.start_byte, child.end_byte))
                found += self._records(child, child.children)
        return tuple(found)

    def _with_words(self, found: list[Record], record: Assignment | Macro) -> Assignment | Macro:
        """Merge a key of several words: those before the last are a flag in the tree."""
        before = found[-1]
        if not isinstance(before, Flag) or isinstance(before.value, Block | List | String):
            return record
        if self._text[before.end : record.start].strip(b" \t"):
            return record
        found.pop()
        text = self._text[before.start : record.name.end].decode("utf-8", "replace")
        name = Name(before.start, record.name.end, text)
        if isinstance(record, Macro):
            return Macro((before.start, record.end), name, record.parameters, record.body)
        return type(record)(before.start, record.end, name, record.value)

    def _value(self, node: TreeNode | None) -> Value | None:
        if node is None:
            return None
        read_one = _VALUES.get(node.type)
        if read_one is None:
            return Text(node.start_byte, node.end_byte, self._string(node))
        if self._depth >= DEEPEST:
            return Deep(node.start_byte, node.end_byte)
        self._depth += 1
        value = read_one(self, node)
        self._depth -= 1
        return value

    # Records.

    def assignment(self, node: TreeNode) -> Record:
        """Return a key and its value."""
        kind = Builder if node.type == "builder" else Assignment
        value = self._value(node.child_by_field_name("value"))
        self._between(node)
        return kind(node.start_byte, node.end_byte, self._name(node, "name"), value)

    def macro(self, node: TreeNode) -> Record:
        """Return a function of NDL; one that is the body of another nests."""
        if self._depth >= DEEPEST:
            return Stray(node.start_byte, node.end_byte)
        parameters = self.list(node.child_by_field_name("parameters"))
        body_node = node.child_by_field_name("body")
        body: Value | Macro | None
        self._depth += 1
        if body_node is not None and body_node.type == "macro":
            inner = self.macro(body_node)
            body = inner if isinstance(inner, Macro) else None
        else:
            body = self._value(body_node)
        self._depth -= 1
        self._between(node)
        span = (node.start_byte, node.end_byte)
        return Macro(span, self._name(node, "name"), parameters, body)

    def flag(self, node: TreeNode) -> Record:
        """Return a value alone."""
        value = self._value(next(iter(node.named_children), None))
        if value is None:
            return Stray(node.start_byte, node.end_byte)
        return Flag(node.start_byte, node.end_byte, value)

    def stray(self, node: TreeNode) -> Record:
        """Return a record that is invalid."""
        return Stray(node.start_byte, node.end_byte)

    def call(self, node: TreeNode) -> ConfigurationCall:
        """Return a function and its arguments."""
        arguments = self.list(node.child_by_field_name("arguments"))
        self._between(node)
        name = self._name(node, "function")
        return ConfigurationCall(node.start_byte, node.end_byte, name, arguments)

    # Values.

    def string(self, node: TreeNode) -> Value:
        """Return a string, with or without its end."""
        closed = node.type == "string"
        content = self._text[node.start_byte + 1 : node.end_byte - closed]
        text = content.decode("utf-8", "replace")
        return String(node.start_byte, node.end_byte, text, closed)

    def builder_text(self, node: TreeNode) -> Value:
        """Return the network of a builder."""
        return BuilderText(node.start_byte, node.end_byte, self._string(node))

    def block(self, node: TreeNode) -> Value:
        """Return records in brackets or braces."""
        opening = self._text[node.start_byte : node.start_byte + 1].decode("utf-8", "replace")
        return Block(node.start_byte, node.end_byte, opening, self._records(node, node.children))

    def list(self, node: TreeNode | None) -> List:
        """Return elements in parentheses."""
        if node is None:
            return List(0, 0, (), ())
        found: list[Element] = []
        separators = []
        for child in node.children:
            if child.type in _GAPS:
                self._gap(node, child)
            elif child.type == "comment":
                self._comment(child)
            elif child.is_named and child.type != "ERROR":
                element = self._element(child)
                if element is not None:
                    found.append(element)
            elif child.type not in ("(", ")"):
                separators.append((child.start_byte, child.end_byte))
        return List(node.start_byte, node.end_byte, tuple(found), tuple(separators))

    def joined(self, node: TreeNode) -> Value:
        """Return text followed by a bracket."""
        parts = [part for child in node.named_children if (part := self._value(child))]
        return Joined(node.start_byte, node.end_byte, self._string(node), tuple(parts))

    def _element(self, node: TreeNode) -> Element | None:
        if node.type != "named":
            return self._value(node)
        value = self._value(node.child_by_field_name("value"))
        self._between(node)
        return Named(node.start_byte, node.end_byte, self._name(node, "name"), value)

    # Parts.

    def _between(self, node: TreeNode) -> None:
        """Collect comments between the parts of a record."""
        for child in node.children:
            if child.type == "comment":
                self._comment(child)

    def _comment(self, node: TreeNode) -> None:
        self._comments.append(Comment(node.start_byte, node.end_byte))

    def _gap(self, parent: TreeNode, node: TreeNode) -> None:
        opening = chr(self._text[parent.start_byte])
        expected = CLOSERS.get(opening, "")
        self._gaps.append(Gap(node.start_byte, node.end_byte, expected, parent.start_byte))

    def _name(self, node: TreeNode, field: str) -> Name:
        name = node.child_by_field_name(field)
        if name is None:
            return Name(node.start_byte, node.start_byte, "")
        return Name(name.start_byte, name.end_byte, intern(self._string(name)))

    def _string(self, node: TreeNode) -> str:
        return self._text[node.start_byte : node.end_byte].decode("utf-8", "replace")


_RECORDS: dict[str, Callable[[_Reader, TreeNode], Record]] = {
    "assignment": _Reader.assignment,
    "builder": _Reader.assignment,
    "macro": _Reader.macro,
    "call": _Reader.call,
    "flag": _Reader.flag,
    "stray": _Reader.stray,
}
_VALUES: dict[str, Callable[[_Reader, TreeNode], Value]] = {
    "string": _Reader.string,
    "unclosed_string": _Reader.string,
    "brainscript": _Reader.builder_text,
    "block": _Reader.block,
    "list": _Reader.list,
    "call": _Reader.call,
    "joined": _Reader.joined,
}
