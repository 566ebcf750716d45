"""Trees of the CNTK languages: the blocks of BrainScript in a configuration are read as such.

It knows the grammars alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Language, Node, Parser

from netsharp_grammar import _brainscript, _cntk

LANGUAGES = {
    "brainscript": Language(_brainscript.language()),
    "cntk": Language(_cntk.language()),
}
PARSERS = {name: Parser(language) for name, language in LANGUAGES.items()}
FAULTS = ("ERROR", "stray", "unexpected", "unclosed_string", "unclosed_comment", "wrong_closer")
COMMENTS = ("comment", "block_comment", "unclosed_comment")


def parse(language: str, source: bytes) -> Node:
    return PARSERS[language].parse(source).root_node


def nodes(root: Node) -> Iterator[Node]:
    """A node and everything below it, in order."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(node.children))


def roots(language: str, source: bytes) -> Iterator[tuple[str, Node, int]]:
    """The tree of a text, then those of its builders: language, root, where it begins."""
    root = parse(language, source)
    yield language, root, 0
    for node in nodes(root):
        if node.type == "brainscript":
            start = node.start_byte
            yield "brainscript", parse("brainscript", source[start : node.end_byte]), start


def placed(language: str, source: bytes) -> Iterator[tuple[Node, int]]:
    """Every node with what its place is counted from, those of builders included."""
    for _, root, start in roots(language, source):
        for node in nodes(root):
            yield node, start


def is_fault(node: Node) -> bool:
    return node.is_missing or node.type in FAULTS or node.type.startswith("missing_")


def faults(language: str, source: bytes) -> list[str]:
    """What is faulty, as `kind:offset`, injected blocks included."""
    return [
        f"{node.type}:{start + node.start_byte}"
        for node, start in placed(language, source)
        if is_fault(node)
    ]


def shape(language: str, source: bytes) -> str:
    """The tree without the text of its leaves; a mark or keyword is its own kind."""
    return " ".join(
        f"{node.type}/{node.child_count}"
        for node, _ in placed(language, source)
        if node.type not in ("\n", *COMMENTS)
    )
