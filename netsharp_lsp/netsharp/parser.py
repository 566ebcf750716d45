"""From bytes to syntax: runs the tree-sitter parser and reads its tree; never fails.

It knows the grammar's node types and nothing of what names and numbers mean.
"""

from __future__ import annotations

import re
import struct

from tree_sitter import Language, Parser

from netsharp_grammar._netsharp import language
from netsharp_lsp.netsharp.syntax import (
    DEEPEST,
    Attribute,
    Auto,
    Binary,
    Blob,
    Boolean,
    Broken,
    BundleItem,
    Call,
    Comment,
    ConstantItem,
    Declaration,
    Deep,
    Fault,
    Index,
    Item,
    Keyword,
    LayerItem,
    Name,
    Number,
    Numbers,
    Placeholder,
    Predicate,
    ShareItem,
    Specification,
    Tuple,
    Unary,
    WordItem,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node as TreeNode
    from tree_sitter import Tree

    from netsharp_lsp.netsharp.syntax import Expression

LANGUAGE = Language(language())

COMMENTS = {
    "comment": "line",
    "block_comment": "block",
    "unclosed_comment": "unclosed",
    "hash_comment": "hash",
    "html_comment": "html",
}

#: What stands at top level; anything else there is text that found no place.
DECLARATIONS = frozenset(
    (
        "constant_declaration",
        "layer_declaration",
        "share_declaration",
        "unknown_declaration",
        "orphan",
        "stray",
    )
)

#: Keyword tokens below the level of a declaration's own keyword.
INNER_KEYWORDS = frozenset(
    "from auto all where convolve max mean pool response norm true false".split()  # noqa: SIM905
)

MISSING = {
    "missing_semicolon": ";",
    "missing_brace": "}",
    "missing_open": "{",
    "missing_bracket": "]",
    "missing_parenthesis": ")",
    "missing_operand": "",
}
#: What `missing_open` stands for where it is no brace.
MISSING_OPEN = {"tuple": "[", "where": "("}

OPENERS = {"}": "{", "]": "[", ")": "("}

#: From this many children a tuple of plain numbers is read in one go.
LONG_TUPLE = 200
PLAIN_NUMBERS = re.compile(rb"\[[-+0-9.eE,\s]*\]\Z")


def parse_tree(data: bytes, old: Tree | None = None) -> Tree:
    """Parse UTF-8 bytes; `old` is the edited tree of the text before."""
    parser = Parser(LANGUAGE)
    return parser.parse(data) if old is None else parser.parse(data, old)


def parse(data: bytes) -> Specification:
    """Read a specification from UTF-8 bytes without a byte-order mark."""
    return read(data, parse_tree(data))


def read(data: bytes, tree: Tree) -> Specification:
    """Read the syntax out of the tree of ``data``."""
    declarations = []
    starts: dict[Declaration, int] = {}
    comments: list[Comment] = []
    for nodes in top_level(tree):
        node = nodes[0]
        if node.type in COMMENTS:
            comments.append(Comment(node.start_byte, node.end_byte, COMMENTS[node.type]))
            continue
        reader = _Reader(data, node, comments)
        placed = is_placed(node) and not node.is_missing
        declaration = reader.declaration(node) if placed else reader.debris(nodes)
        declarations.append(declaration)
        starts[declaration] = reader.base
    return Specification(data, tuple(declarations), starts, tuple(comments))


def top_level(tree: Tree) -> Iterator[list[TreeNode]]:
    """The nodes at top level, one by one; tokens that found no place in a node come together."""
    lost: list[TreeNode] = []
    for node in tree.root_node.children:
        if is_placed(node):
            if lost:
                yield lost
            lost = []
            yield [node]
        else:
            lost.append(node)
    if lost:
        yield lost


def is_placed(node: TreeNode) -> bool:
    """Whether a node at top level is a declaration, a comment, or a `;` or `}` too many."""
    if node.type == "stray":
        return bool(node.child_count) and node.children[0].type in (";", "}")
    return node.type in DECLARATIONS or node.type in COMMENTS


def first_byte(node: TreeNode) -> int:
    """Where the text of a node starts: a token without text may stand before the blanks."""
    for child in node.children:
        if child.end_byte > child.start_byte:
            return first_byte(child)
    return node.start_byte


class _Reader:
    """Reads one top-level node; collects its keywords, faults and comments on the way."""

    def __init__(self, data: bytes, node: TreeNode, comments: list[Comment]) -> None:
        self.data = data
        self.base = first_byte(node)
        self.comments = comments
        self.keywords: list[Keyword] = []
        self.semicolons: list[tuple[int, int]] = []
        self.faults: list[Fault] = []
        self.depth = 0
        self.told_deep = False

    # Pieces.

    def span(self, node: TreeNode) -> tuple[int, int]:
        return node.start_byte - self.base, node.end_byte - self.base

    def text(self, node: TreeNode) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def name(self, node: TreeNode) -> Name:
        return Name(*self.span(node), self.text(node))

    def named(self, node: TreeNode, parts: list[TreeNode]) -> Name:
        """The name that a node starts with; an empty one where it is missing."""
        if parts and parts[0].type in ("identifier", "digit_name"):
            return self.name(parts[0])
        start, _ = self.span(node)
        return Name(start, start, "")

    def keyword(self, node: TreeNode) -> Keyword:
        keyword = Keyword(*self.span(node), self.text(node))
        self.keywords.append(keyword)
        return keyword

    def parts(self, node: TreeNode) -> list[TreeNode]:
        """The children that carry meaning; comments and faults are noted and left out."""
        children = node.children
        opener: tuple[int, int] | None = None
        found = []
        lost: list[TreeNode] = []
        for child in children:
            kind = child.type
            if kind in ("ERROR", "stray"):
                lost.append(child)
                continue
            if lost and kind not in COMMENTS:
                self.unexpected(*lost)
                lost = []
            if kind in COMMENTS:
                self.comments.append(Comment(child.start_byte, child.end_byte, COMMENTS[kind]))
            elif child.is_missing:
                self.missing(child, kind, opener)
            elif kind in MISSING:
                mark = MISSING[kind]
                if mark == "{":
                    mark = MISSING_OPEN.get(node.type, mark)
                if mark:
                    self.missing(child, mark, opener)
                else:
                    before = child.prev_sibling or child
                    self.incomplete(*self.span(before), "operand")
                found.append(child)
            else:
                if kind in ("{", "[", "("):
                    opener = self.span(child)
                elif kind in INNER_KEYWORDS and not child.is_named:
                    self.keyword(child)
                found.append(child)
        if lost:
            self.unexpected(*lost)
        return found

    def incomplete(self, start: int, end: int, what: str) -> None:
        """Note that something was begun and not finished, unless what is there is unreadable."""
        known = any(
            what == "declaration" or (fault.start <= end + 1 and start <= fault.end)
            for fault in self.unreadable()
        )
        if not known:
            self.faults.append(Fault(start, end, "incomplete", what))

    def unreadable(self) -> Iterator[Fault]:
        return (fault for fault in self.faults if fault.kind == "unexpected")

    def missing(self, node: TreeNode, mark: str, opener: tuple[int, int] | None) -> None:
        start = node.start_byte - self.base
        self.faults.append(
            Fault(start, start, "missing", mark, opener if mark in OPENERS else None)
        )

    def unexpected(self, *nodes: TreeNode) -> None:
        tokens: list[tuple[str, int, int]] = []
        stack = [*reversed(nodes)]
        while stack:
            current = stack.pop()
            if current.type in COMMENTS:
                self.comments.append(
                    Comment(current.start_byte, current.end_byte, COMMENTS[current.type])
                )
            elif current.child_count:
                stack.extend(reversed(current.children))
            elif current.end_byte > current.start_byte:
                tokens.append((current.type, *self.span(current)))
        start, end = first_byte(nodes[0]), nodes[-1].end_byte
        text = self.data[start:end].decode("utf-8", "replace")
        span = (start - self.base, end - self.base)
        self.faults.append(Fault(*span, "unexpected", text, None, tuple(tokens)))

    # Declarations.

    def debris(self, nodes: list[TreeNode]) -> Declaration:
        self.unexpected(*nodes)
        return self.close(nodes[-1], "error", None, (), None)

    def declaration(self, node: TreeNode) -> Declaration:
        kind = node.type
        parts = self.parts(node)
        if kind == "stray":
            self.semicolons.append(self.span(node))
            return self.close(node, "stray", None, (), None)
        keyword: Name | None = None
        shape = "orphan"
        if kind != "orphan":
            first = parts[0]
            if kind == "unknown_declaration":
                keyword, shape = self.name(first), "unknown"
            else:
                keyword = self.keyword(first)
                shape = keyword.text.lower()
            parts = parts[1:]
        items, group = self.items(parts)
        if keyword is not None and not items and group is None:
            self.incomplete(keyword.start, keyword.end, "declaration")
        return self.close(node, shape, keyword, items, group)

    def items(self, parts: list[TreeNode]) -> tuple[tuple[Item, ...], tuple[int, int] | None]:
        items: list[Item] = []
        opened: int | None = None
        group: tuple[int, int] | None = None
        for part in parts:
            kind = part.type
            if kind in ITEMS:
                items.append(ITEMS[kind](self, part))
            elif kind == "stray_semicolon":
                self.semicolons.append(self.span(part))
            elif kind == "identifier":
                word = self.name(part)
                items.append(WordItem(word.start, word.end, word))
            elif kind == "{":
                opened = part.start_byte - self.base
            elif kind in ("}", "missing_brace") and opened is not None:
                group = (opened, part.end_byte - self.base)
        self.separators(parts)
        return tuple(items), group

    def separators(self, parts: list[TreeNode]) -> None:
        """Note the commas of a share that separate nothing, and what stands in their place."""
        for position, part in enumerate(parts):
            behind = parts[position + 1] if position + 1 < len(parts) else None
            if part.type != "separator":
                continue
            text = self.text(part)
            if text == ";":
                self.faults.append(Fault(*self.span(part), "separator", text))
            elif behind is None or behind.type != "share_item":
                self.faults.append(Fault(*self.span(part), "idle", text))

    def close(
        self,
        node: TreeNode,
        kind: str,
        keyword: Name | None,
        items: tuple[Item, ...],
        group: tuple[int, int] | None,
    ) -> Declaration:
        return Declaration(
            node.end_byte - self.base,
            kind,
            keyword,
            items,
            group,
            tuple(self.keywords),
            tuple(self.semicolons),
            tuple(self.faults),
        )

    def constant(self, node: TreeNode) -> ConstantItem:
        parts = self.parts(node)
        values = [part for part in parts[1:] if part.is_named and part.type not in MISSING]
        value = self.expression(values[0]) if values else None
        name = self.named(node, parts)
        if value is None:
            self.incomplete(name.start, name.end, "constant")
        return ConstantItem(*self.span(node), name, value)

    def layer(self, node: TreeNode) -> LayerItem:
        parts = self.parts(node)
        size: Auto | Expression | None = None
        activation: Name | None = None
        bundles: list[BundleItem] = []
        attributes: list[Attribute] = []
        body: tuple[int, int] | None = None
        for part in parts[1:]:
            kind = part.type
            if kind == "auto":
                self.parts(part)
                size = Auto(*self.span(part))
            elif kind in ("tuple", "round_tuple", "parenthesized"):
                size = self.size(part)
            elif kind == "identifier":
                activation = self.name(part)
            elif kind == "bundle":
                bundles.append(self.bundle(part))
            elif kind == "body":
                body = self.span(part)
                self.body(part, bundles, attributes)
        return LayerItem(
            *self.span(node),
            self.named(node, parts),
            size,
            activation,
            tuple(bundles),
            tuple(attributes),
            body,
        )

    def size(self, node: TreeNode) -> Expression:
        value = self.expression(node)
        if node.type == "parenthesized":
            return Tuple(*self.span(node), (value,), "(")
        return value

    def body(self, node: TreeNode, bundles: list[BundleItem], attributes: list[Attribute]) -> None:
        for part in self.parts(node):
            if part.type == "bundle":
                bundles.append(self.bundle(part))
            elif part.type == "attribute":
                attributes.append(self.attribute(part))
            elif part.type == "stray_semicolon":
                self.semicolons.append(self.span(part))

    def bundle(self, node: TreeNode) -> BundleItem:
        keyword: Keyword | None = None
        source: Name | None = None
        kind: str | None = None
        kind_text = ""
        kind_span: tuple[int, int] | None = None
        predicate: Predicate | None = None
        attributes: list[Attribute] = []
        block: tuple[int, int] | None = None
        misplaced: Name | None = None
        for part in self.parts(node):
            form = part.type
            if form == "from":
                keyword = self.keywords[-1]
            elif form in ("identifier", "digit_name"):
                if source is None:
                    source = self.name(part)
                else:
                    misplaced = self.name(part)
            elif form == "where":
                kind = "where"
                predicate = self.predicate(part)
                kind_span = (predicate.start, predicate.start + len("where"))
                kind_text = "where"
            elif form in BUNDLE_KINDS:
                kind_text, kind_span = self.text(part), self.span(part)
                words = " ".join(self.text(word).lower() for word in self.parts(part))
                kind = words if words in BUNDLE_WORDS else None
            elif form == "attributes":
                block = self.span(part)
                attributes = self.attributes(part)
        start, end = self.span(node)
        keyword = keyword or Keyword(start, start, "from")
        if source is None:
            source = Name(keyword.end, keyword.end, "")
            self.incomplete(keyword.start, keyword.end, "source")
        return BundleItem(
            start,
            end,
            keyword,
            source,
            kind,
            kind_text,
            kind_span or (source.end, source.end),
            predicate,
            tuple(attributes),
            block,
            misplaced,
        )

    def predicate(self, node: TreeNode) -> Predicate:
        parts = self.parts(node)
        start, end = self.span(node)
        found = node.child_by_field_name("condition")
        condition = Broken(end, end) if found is None else self.expression(found)
        head = [part for part in parts if found is None or part.start_byte < found.start_byte]
        names = [self.name(part) for part in head if part.type == "identifier"]
        commas = [part for part in head if part.type == ","]
        if len(names) < 2 or found is None:
            self.incomplete(start, end, "filter")
        elif not commas:
            self.faults.append(Fault(names[0].end, names[0].end, "missing", ","))
        elif not any(part.type in ("=>", "->") for part in head):
            self.faults.append(Fault(condition.start, condition.start, "missing", "=>"))
        for comma in commas[1:]:
            self.faults.append(Fault(*self.span(comma), "idle", ","))
        while len(names) < 2:
            names.append(Name(start, start, ""))
        return Predicate(start, end, names[0], names[1], condition)

    def attributes(self, node: TreeNode) -> list[Attribute]:
        found = []
        for part in self.parts(node):
            if part.type == "attribute":
                found.append(self.attribute(part))
            elif part.type == "stray_semicolon":
                self.semicolons.append(self.span(part))
        return found

    def attribute(self, node: TreeNode) -> Attribute:
        parts = self.parts(node)
        name = self.named(node, parts)
        start, end = self.span(node)
        separator, separator_span = "", (name.end, name.end)
        terminator, terminator_span = "", (end, end)
        value: Expression | None = None
        for part in parts[1:]:
            if part.type == "separator":
                separator, separator_span = self.text(part), self.span(part)
            elif part.type == "terminator":
                terminator, terminator_span = self.text(part), self.span(part)
            elif part.type not in MISSING:
                value = self.expression(part)
        if value is None:
            self.incomplete(name.start, name.end, "attribute")
        return Attribute(
            start, end, name, separator, separator_span, value, terminator, terminator_span
        )

    def share_item(self, node: TreeNode) -> ShareItem:
        parts = [part for part in self.parts(node) if part.is_named]
        source: Name | Number | None = None
        if len(parts) > 1:
            first = parts[0]
            source = self.number(first) if first.type == "number" else self.name(first)
        return ShareItem(*self.span(node), source, self.named(node, parts[-1:]))

    # Expressions.

    def expression(self, node: TreeNode) -> Expression:
        kind = node.type
        if kind == "number":
            return self.number(node)
        if kind in ("identifier", "digit_name"):
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
        """Leave an expression unread, but for its comments and faults.

        Where one branch is too deep, others beside it are as a rule, so only the first tells.
        """
        pending = [node]
        while pending:
            pending.extend(self.parts(pending.pop()))
        kind = Broken if self.told_deep else Deep
        self.told_deep = True
        return kind(*self.span(node))

    def number(self, node: TreeNode) -> Number:
        text = self.text(node)
        return Number(*self.span(node), text, number_value(text))

    def malformed(self, node: TreeNode) -> Number:
        return Number(*self.span(node), self.text(node), None)

    def boolean(self, node: TreeNode) -> Boolean:
        self.parts(node)
        return Boolean(*self.span(node), self.text(node).lower() == "true")

    def placeholder(self, node: TreeNode) -> Placeholder:
        return Placeholder(*self.span(node))

    def parenthesized(self, node: TreeNode) -> Expression:
        inner = [part for part in self.parts(node) if part.is_named and part.type not in MISSING]
        return self.expression(inner[0]) if inner else Broken(*self.span(node))

    def unary(self, node: TreeNode) -> Expression:
        parts = self.parts(node)
        if len(parts) < 2:
            return Broken(*self.span(node))
        return Unary(*self.span(node), parts[0].type, self.expression(parts[1]))

    def binary(self, node: TreeNode) -> Expression:
        parts = self.parts(node)
        if len(parts) < 3:
            return Broken(*self.span(node))
        left, operator, right = parts[:3]
        return Binary(
            *self.span(node), operator.type, self.expression(left), self.expression(right)
        )

    def call(self, node: TreeNode) -> Expression:
        parts = [part for part in self.parts(node) if part.is_named and part.type not in MISSING]
        arguments = tuple(self.expression(part) for part in parts[1:])
        return Call(*self.span(node), self.name(parts[0]), arguments)

    def index(self, node: TreeNode) -> Expression:
        parts = [part for part in self.parts(node) if part.is_named and part.type not in MISSING]
        if len(parts) < 2:
            return Broken(*self.span(node))
        return Index(*self.span(node), self.expression(parts[0]), self.expression(parts[1]))

    def tuple(self, node: TreeNode) -> Expression:
        if node.child_count > LONG_TUPLE:
            numbers = self.plain_numbers(node)
            if numbers is not None:
                return numbers
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

    def plain_numbers(self, node: TreeNode) -> Numbers | None:
        data = self.data[node.start_byte : node.end_byte]
        if not PLAIN_NUMBERS.match(data):
            return None
        values = []
        for word in data[1:-1].decode().split(","):
            value = number_value(word.strip().lstrip("+"))
            if value is None:
                return None
            values.append(value)
        return Numbers(*self.span(node), tuple(values))

    def blob(self, node: TreeNode) -> Blob:
        words = (self.text(part) for part in self.parts(node) if part.type == "float_bytes")
        values = tuple(struct.unpack("<f", bytes.fromhex(word))[0] for word in words)
        return Blob(*self.span(node), values)


def number_value(text: str) -> int | float | None:
    """The value of a literal, None if it is not one."""
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return None


ITEMS: dict[str, Callable[[_Reader, TreeNode], Item]] = {
    "constant": _Reader.constant,
    "layer": _Reader.layer,
    "share_item": _Reader.share_item,
    "bundle": _Reader.bundle,
}

EXPRESSIONS: dict[str, Callable[[_Reader, TreeNode], Expression]] = {
    "malformed_number": _Reader.malformed,
    "boolean": _Reader.boolean,
    "placeholder": _Reader.placeholder,
    "parenthesized": _Reader.parenthesized,
    "unary": _Reader.unary,
    "binary": _Reader.binary,
    "call": _Reader.call,
    "index": _Reader.index,
    "tuple": _Reader.tuple,
    "round_tuple": _Reader.tuple,
    "blob": _Reader.blob,
}

BUNDLE_KINDS = frozenset(("all", "convolve", "pool", "norm", "unknown_kind"))
BUNDLE_WORDS = frozenset(("all", "convolve", "max pool", "mean pool", "response norm"))
