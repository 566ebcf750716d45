"""The one door to the tree-sitter parser of configurations, NDL and MEL."""

from __future__ import annotations

from tree_sitter import Language, Parser

from netsharp_grammar._cntk import language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Tree

LANGUAGE = Language(language())


def parse_tree(data: bytes, old: Tree | None = None) -> Tree:
    """Parse UTF-8 bytes without a byte-order mark; `old` is the edited tree of the text before."""
    parser = Parser(LANGUAGE)
    return parser.parse(data) if old is None else parser.parse(data, old)
