"""The only use of the tree-sitter parser of BrainScript; knows nothing of its nodes."""

from __future__ import annotations

from tree_sitter import Language, Parser

from netsharp_grammar._brainscript import language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Tree

LANGUAGE = Language(language())


def parse_tree(data: bytes) -> Tree:
    """Parse UTF-8 bytes without a byte-order mark."""
    return Parser(LANGUAGE).parse(data)
