"""From bytes to syntax: runs the tree-sitter parser and reads its tree; never fails.

It knows the grammar's node types and nothing of what names and numbers mean.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.reading.comments import Comments
from netsharp_lsp.netsharp.reading.expression_reader import ExpressionReader
from netsharp_lsp.netsharp.reading.grammar import parse_tree, passing
from netsharp_lsp.netsharp.reading.mistakes import is_misnamed
from netsharp_lsp.netsharp.reading.specification import Specification
from netsharp_lsp.netsharp.reading.syntax import (
    Attribute,
    Auto,
    Broken,
    BundleItem,
    ConstantItem,
    Declaration,
    Fault,
    Item,
    Keyword,
    LayerItem,
    Name,
    Number,
    Predicate,
    ShareItem,
    Tuple,
    WordItem,
)
from netsharp_lsp.netsharp.reading.tree_reader import COMMENTS, MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node as TreeNode
    from tree_sitter import Tree

    from netsharp_lsp.netsharp.reading.comments import Span
    from netsharp_lsp.netsharp.reading.syntax import Expression

    #: The earlier declaration of a node without an error; None for another.
    Known = Callable[[TreeNode], Declaration | None]
    #: A bundle's kind (None for words that are none), as it is written, and where.
    Connection = tuple[str | None, str, tuple[int, int]]

#: The nodes of the top level; anything else there is unplaced text.
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

BUNDLE_KINDS = frozenset(("all", "convolve", "pool", "norm", "unknown_kind"))
BUNDLE_WORDS = frozenset(("all", "convolve", "max pool", "mean pool", "response norm"))


def parse(data: bytes) -> Specification:
    """Read a specification from UTF-8 bytes without a byte-order mark."""
    return read(data, parse_tree(data))


def read(data: bytes, tree: Tree) -> Specification:
    """Read the syntax out of the tree of ``data``."""
    comments: list[Span] = []
    declarations: list[Declaration] = []
    offsets: list[int] = []
    for declaration, offset in declarations_of(data, tree, comments):
        declarations.append(declaration)
        offsets.append(offset)
    return Specification(data, tuple(declarations), offsets, Comments(comments))


def declarations_of(
    data: bytes, tree: Tree, comments: list[Span], known: Known | None = None
) -> Iterator[tuple[Declaration, int]]:
    """Yield the declarations of a tree, each read on request, and where they start.

    The comments on the way are put into a list, those of one declaration in no order. Nodes that
    are `known` are taken instead of reading them; their comments are left to the caller.
    """
    lost: _DeclarationReader | None = None
    last: TreeNode | None = None
    for node in passing(tree.root_node):
        if not is_placed(node):
            # Tokens that belong to no node are one text.
            lost = lost or _DeclarationReader(data, node, comments)
            lost.add_unplaced(node)
            last = node
            continue
        if lost is not None and last is not None:
            yield lost.debris(last), lost.base
            lost = None
        if node.type in COMMENTS:
            comments.append((node.start_byte, node.end_byte, COMMENTS[node.type]))
            continue
        before = None if known is None else known(node)
        if before is not None:
            yield before, node.start_byte
            continue
        reader = _DeclarationReader(data, node, comments)
        if node.is_missing:
            reader.add_unplaced(node)
        yield reader.debris(node) if node.is_missing else reader.declaration(node), reader.base
    if lost is not None and last is not None:
        yield lost.debris(last), lost.base


def is_placed(node: TreeNode) -> bool:
    """Return whether a top-level node is a declaration, a comment, or a superfluous `;` or `}`."""
    if node.type == "stray":
        mark = node.child(0)
        return mark is not None and mark.type in (";", "}")
    return node.type in DECLARATIONS or node.type in COMMENTS


class _DeclarationReader(ExpressionReader):
    """Reads the declaration of a top-level node."""

    def debris(self, last: TreeNode) -> Declaration:
        self.unexpected()
        return self.close(last, "error", None, (), None, torn=True)

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
        """Note the commas of a share that separate nothing, and other marks in their place."""
        for position, part in enumerate(parts):
            following = parts[position + 1] if position + 1 < len(parts) else None
            if part.type != "separator":
                continue
            text = self.text(part)
            if text == ";":
                self.faults.append(Fault(*self.span(part), "separator", text))
            elif following is None or following.type != "share_item":
                self.faults.append(Fault(*self.span(part), "idle", text))

    def close(
        self,
        node: TreeNode,
        kind: str,
        keyword: Name | None,
        items: tuple[Item, ...],
        group: tuple[int, int] | None,
        *,
        torn: bool = False,
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
            any(is_misnamed(item) for item in items),
            self.odd_digits,
            node.descendant_count,
            torn or node.has_error,
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
        start, end = self.span(node)
        keyword = Keyword(start, start, "from")
        names: list[Name] = []
        connection: Connection | None = None
        predicate: Predicate | None = None
        attributes: list[Attribute] = []
        block: tuple[int, int] | None = None
        for part in self.parts(node):
            form = part.type
            if form == "from":
                keyword = self.keywords[-1]
            elif form in ("identifier", "digit_name"):
                names.append(self.name(part))
            elif form == "where":
                predicate = self.predicate(part)
                span = (predicate.start, predicate.start + len("where"))
                connection = ("where", "where", span)
            elif form in BUNDLE_KINDS:
                connection = self.connection(part)
            elif form == "attributes":
                block = self.span(part)
                attributes = self.attributes(part)
        if not names:
            names.append(Name(keyword.end, keyword.end, ""))
            self.incomplete(keyword.start, keyword.end, "source")
        source, misplaced = names[0], names[-1] if len(names) > 1 else None
        return BundleItem(
            start,
            end,
            keyword,
            source,
            *(connection or (None, "", (source.end, source.end))),
            predicate,
            tuple(attributes),
            block,
            misplaced,
        )

    def connection(self, node: TreeNode) -> Connection:
        """Return the kind of a bundle, None for unknown words; the words, and where they are."""
        words = " ".join(self.text(word).lower() for word in self.parts(node))
        kind = words if words in BUNDLE_WORDS else None
        return kind, self.text(node), self.span(node)

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


ITEMS: dict[str, Callable[[_DeclarationReader, TreeNode], Item]] = {
    "constant": _DeclarationReader.constant,
    "layer": _DeclarationReader.layer,
    "share_item": _DeclarationReader.share_item,
    "bundle": _DeclarationReader.bundle,
}
