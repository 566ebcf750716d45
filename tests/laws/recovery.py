"""One-token edits of a Net# text and what they leave of its other declarations.

It knows the grammar's trees only; no checker and no formatter.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Language, Node, Parser, Tree

from netsharp_grammar._netsharp import language

NETSHARP = Language(language())
DECLARATIONS = ("layer", "constant", "share_declaration")
COMMENTS = ("comment", "block_comment", "unclosed_comment", "hash_comment", "html_comment")
KEYWORDS = (
    b"const input hidden output share from all where convolve max mean pool response norm auto "
    b"true false sigmoid linear softmax rlinear square sqrt srlinear abs tanh brlinear "
    b"Weights Biases InputShape KernelShape Stride Padding LowerPad UpperPad Sharing MapCount "
    b"Alpha Beta Offset AvgOverFullKernel"
).split()
MARKS = (b"{ } [ ] ( ) , ; = => == != < <= > >= + - * / % ^ && || ! : . 12 1.5 zz").split()


class Declaration(NamedTuple):
    """A constant, a layer or a share: its node's type, extent and text."""

    kind: str
    start: int
    end: int
    text: bytes
    name: bytes


class Edit(NamedTuple):
    """Replace ``start:end`` by ``text``; ``how`` is deleted, doubled or inserted."""

    how: str
    start: int
    end: int
    text: bytes

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.text + source[self.end :]


def parse(source: bytes) -> Tree:
    return Parser(NETSHARP).parse(source)


def leaves(node: Node) -> Iterator[Node]:
    if not node.child_count:
        yield node
    for child in node.children:
        yield from leaves(child)


def declarations(source: bytes) -> list[Declaration]:
    """Every declaration of the text in order, those inside an ERROR node too."""
    found: list[Declaration] = []
    pending = [parse(source).root_node]
    while pending:
        node = pending.pop()
        if node.type in DECLARATIONS:
            name = node.child_by_field_name("name")
            text = source[node.start_byte : node.end_byte]
            found.append(
                Declaration(
                    node.type,
                    node.start_byte,
                    node.end_byte,
                    text,
                    b"share" if name is None else source[name.start_byte : name.end_byte],
                )
            )
        else:
            pending.extend(reversed(node.children))
    return found


def sound_declarations(source: bytes) -> list[Declaration]:
    """The declarations of a broken text that hold no fault; their extent has the keyword in it."""
    found: list[Declaration] = []
    for node in parse(source).root_node.children:
        if node.type not in ("layer_declaration", "constant_declaration", "share_declaration"):
            continue
        if node.has_error or "(stray" in str(node) or "(missing_" in str(node):
            continue
        inside = declarations(source[node.start_byte : node.end_byte])
        at = node.start_byte
        alone = len(inside) == 1
        found.extend(
            one._replace(
                start=at if alone else at + one.start, end=node.end_byte if alone else at + one.end
            )
            for one in inside
        )
    return found


def tokens(source: bytes) -> list[tuple[int, int]]:
    return [
        (leaf.start_byte, leaf.end_byte)
        for leaf in leaves(parse(source).root_node)
        if leaf.end_byte > leaf.start_byte and leaf.type not in COMMENTS
    ]


def one_token_edits(source: bytes) -> Iterator[Edit]:
    """Every deletion, doubling and insertion of one token; the blanks keep tokens apart."""
    places = tokens(source)
    vocabulary = sorted({source[start:end] for start, end in places} | {*KEYWORDS, *MARKS})
    for start, end in places:
        yield Edit("deleted", start, end, b" ")
        yield Edit("doubled", end, end, b" " + source[start:end] + b" ")
        for word in vocabulary:
            yield Edit("inserted", start, start, b" " + word + b" ")


def sample(source: bytes, count: int, seed: int) -> list[Edit]:
    """All one-token edits, or ``count`` of them drawn with ``seed``."""
    edits = list(one_token_edits(source))
    if len(edits) <= count:
        return edits
    return random.Random(seed).sample(edits, count)


def lost(before: list[Declaration], edited: bytes, edit: Edit) -> list[Declaration]:
    """The declarations that ``edit`` does not touch and that are no longer whole.

    A declaration is touched when the edit lies inside it or at its ends.
    """
    after = Counter((one.kind, one.text) for one in declarations(edited))
    others = [one for one in before if edit.end < one.start or one.end < edit.start]
    missing = Counter((one.kind, one.text) for one in others) - after
    return [one for one in others if (one.kind, one.text) in missing]


def names_lost(before: list[Declaration], edited: bytes, edit: Edit) -> list[Declaration]:
    """The neighbours of an edit between declarations whose names are no longer found."""
    after = Counter((one.kind, one.name) for one in declarations(edited))
    neighbours = [one for one in before if not one.start < edit.end or not edit.start < one.end]
    missing = Counter((one.kind, one.name) for one in neighbours) - after
    return [one for one in neighbours if (one.kind, one.name) in missing]
