"""Parses bytes to the syntax of BrainScript; never fails, whatever the bytes."""

from __future__ import annotations

from functools import cache

from tree_sitter import Query, QueryCursor

from netsharp_lsp.cntk.brainscript.reading.expressions import ExpressionReader
from netsharp_lsp.cntk.brainscript.reading.grammar import LANGUAGE, parse_tree
from netsharp_lsp.cntk.brainscript.reading.syntax import Comment, Script
from netsharp_lsp.cntk.networks.faults import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node, Tree

    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression

COMMENTS = frozenset(("comment", "block_comment", "unclosed_comment"))


def parse(data: bytes, source: str = "") -> Script:
    """Parse a text from UTF-8 bytes; ``source`` is the source name of its places."""
    return read(data, parse_tree(data), source)


def read(data: bytes, tree: Tree, source: str = "") -> Script:
    """Return the syntax of the tree of ``data``."""
    reader = ExpressionReader(data, source)
    root = tree.root_node
    return Script(
        Place(source, 0, len(data)),
        reader.entries(root),
        _built(reader, root),
        tuple(_comments(reader, root)),
    )


def _built(reader: ExpressionReader, root: Node) -> Expression | None:
    """Return the value of a builder, if the text is one: only comments may precede it."""
    first = next((child for child in root.named_children if child.type not in COMMENTS), None)
    if first is None or first.type != "built":
        return None
    if any(child.type in ("member", "include") for child in root.named_children):
        return None
    return reader.field(first, "value")


def _comments(reader: ExpressionReader, root: Node) -> list[Comment]:
    """Return all comments in the order of the text."""
    found = QueryCursor(comments_query()).captures(root).get("comment", ())
    comments = [Comment(reader.place(node), reader.text(node)) for node in found]
    return sorted(comments, key=lambda comment: comment.place.start)


@cache
def comments_query() -> Query:
    """Return the query for comments in a tree, captured as `comment`."""
    kinds = " ".join(f"({kind})" for kind in sorted(COMMENTS))
    return Query(LANGUAGE, f"[{kinds}] @comment")
