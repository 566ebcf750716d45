"""Spoils the look of a Net# text without touching what it says.

Works on the leaves of the tree-sitter tree, and only inside and between declarations that the
formatter is free to change.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tree_sitter import Language, Node, Parser

from netsharp_grammar._netsharp import language
from netsharp_lsp.netsharp.formatting.tokens import declaration_tokens

NETSHARP = Language(language())
LINE_COMMENTS = ("comment", "hash_comment")
COMMENTS = (*LINE_COMMENTS, "block_comment", "unclosed_comment", "html_comment")
#: Marks that no neighbour can grow into another token.
LONE_MARKS = (b"[", b"]", b"(", b")", b"{", b"}", b",", b";")
#: Words that are keywords in any case wherever the grammar takes them for one.
LOOSE_KEYWORDS = ("all", "convolve", "pool", "norm", "where", "true", "false")
FAULTS = (
    "ERROR",
    "stray",
    "unknown_declaration",
    "orphan",
    "unknown_kind",
    "round_tuple",
    "malformed_number",
    "digit_name",
    "placeholder",
    "unclosed_comment",
    "hash_comment",
    "html_comment",
)
#: Marks that the grammar also accepts in a wrong spelling, and where it wants none.
RIGHT_MARKS = {mark.decode(): (mark,) for mark in (b",", b";", b"=", b"=>", *LONE_MARKS)} | {
    "separator": (b"=", b","),
    "terminator": (b";",),
    "->": (),
}


def parse(text: bytes) -> Node:
    return Parser(NETSHARP).parse(text).root_node


def leaves(node: Node) -> Iterator[Node]:
    """The tokens and comments below a node, in order; what is missing is not among them."""
    stack = [node]
    while stack:
        current = stack.pop()
        if current.child_count:
            stack.extend(reversed(current.children))
        elif current.end_byte > current.start_byte:
            yield current


def is_faulty(node: Node) -> bool:
    """Whether a declaration holds anything that is not Net#."""
    if node.type == "stray":
        return node.text != b";"
    stack = [node]
    while stack:
        current = stack.pop()
        if current.has_error or current.type in FAULTS or current.type.startswith("missing_"):
            return True
        if current.type in RIGHT_MARKS and current.text not in RIGHT_MARKS[current.type]:
            return True
        stack.extend(current.children)
    return False


def scramble(text: bytes, seed: int) -> bytes:
    """Return the text with other white space, and other capitals in some keywords.

    Where an empty line may be kept or a comment has its line to itself, that stays so.
    """
    chance = random.Random(seed)
    tokens = [leaf for group in _free_leaves(text) for leaf in group]
    pieces: list[bytes] = []
    done = 0
    for before, token in zip([None, *tokens], tokens, strict=False):
        touching = before is not None and before.end_byte == done
        gap = text[done : token.start_byte]
        if before is not None and touching and not gap.strip():
            gap = _other_gap(text, before, token, chance)
        pieces += (gap, _other_case(token, chance))
        done = token.end_byte
    pieces.append(text[done:])
    return b"".join(pieces)


def _free_leaves(text: bytes) -> Iterator[list[Node]]:
    """The leaves of each declaration or comment that is not broken, nor a `;` after such."""
    free = True
    for node in parse(text).children:
        if node.type != "stray" or free:
            comment = node.type in ("comment", "block_comment")
            free = comment or declaration_tokens(node, text) is not None
        if free:
            yield list(leaves(node))


def _other_gap(text: bytes, before: Node, after: Node, chance: random.Random) -> bytes:
    old = text[before.end_byte : after.start_byte]
    blank = chance.choice((b" ", b"  ", b"\t", b"      "))
    if old.count(b"\n") > 1:
        return b"\n" + blank + b"\n" * chance.randint(1, 3) + blank
    if before.type in COMMENTS or after.type in COMMENTS:
        return (b"\n" if b"\n" in old else b"") + blank
    texts = (text[before.start_byte : before.end_byte], text[after.start_byte : after.end_byte])
    choices = [blank, b"\n", blank + b"\n" + blank]
    if not old or any(mark in LONE_MARKS for mark in texts):
        choices += [b"", b""]
    return chance.choice(choices)


def _other_case(token: Node, chance: random.Random) -> bytes:
    word = token.text or b""
    if token.type in LOOSE_KEYWORDS and not token.is_named:
        return chance.choice((word, word.upper(), word.capitalize()))
    return word


def with_comments(text: bytes, seed: int) -> bytes:
    """Return the text with comments of both kinds between any two tokens of sound declarations."""
    chance = random.Random(seed)
    pieces: list[bytes] = []
    done = 0
    for group in _free_leaves(text):
        for leaf in group[:-1]:
            pieces.append(text[done : leaf.end_byte])
            done = leaf.end_byte
            if leaf.type not in LINE_COMMENTS and chance.random() < 0.15:
                name = b"%x" % chance.getrandbits(32)
                kinds = (b" // %b\n", b"\n// %b\n", b" /* %b */ ", b"/* %b\n */", b"\n\n  // %b\n")
                pieces.append(chance.choice(kinds) % name)
    pieces.append(text[done:])
    return b"".join(pieces)
