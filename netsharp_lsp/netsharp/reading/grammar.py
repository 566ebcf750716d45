"""The only access to the tree-sitter parser of Net#; checker and formatter both use it."""

from __future__ import annotations

from tree_sitter import Language, Parser

from netsharp_grammar._netsharp import language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Tree

LANGUAGE = Language(language())


def parse_tree(data: bytes) -> Tree:
    """Parse UTF-8 bytes without a byte-order mark."""
    return Parser(LANGUAGE).parse(data)


def passing(node: Node) -> Iterator[Node]:
    """Yield the children of a node without keeping them alive."""
    cursor = node.walk()
    there = cursor.goto_first_child()
    while there:
        child = cursor.node
        if child is not None:
            yield child
        there = cursor.goto_next_sibling()
