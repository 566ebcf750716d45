"""One-token edits of a text of the CNTK languages and what they leave of its declarations.

It knows the grammars' trees only; no checker and no formatter.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tests.cntk.trees import COMMENTS, nodes, placed

DECLARATIONS = ("member", "include", "assignment", "builder", "macro", "call")
BLOCKS = ("record", "block", "brainscript")
#: Tokens whose loss or excess may take more than their own declaration with it.
EXEMPT = {*b"( ) [ ] { } [| |] new if then else array /*".split()}
VOCABULARY = {
    "brainscript": b"""( ) [ ] { } [| |] = == => , ; : . .. + - * / .* ** % && || < > ! << >> new if
        then else array true false include with x1 3 2.5 'a'""".split(),
    "cntk": b'( ) [ ] { } = , ; : * x1 3 "a" action SGD Plus $x$'.split(),
}


class Declaration(NamedTuple):
    """A member, a record or a macro: its kind, extent and text."""

    kind: str
    start: int
    end: int
    text: bytes


class Edit(NamedTuple):
    """Replace ``start:end`` by ``text``; ``token`` was deleted, doubled or inserted."""

    how: str
    start: int
    end: int
    text: bytes
    token: bytes

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.text + source[self.end :]

    @property
    def exempt(self) -> bool:
        """Whether the law is a weaker one; without its key a builder is not one."""
        builder = self.token.lower().endswith(b"networkbuilder")
        return builder or self.token in EXEMPT or self.token[:1] in (b'"', b"'")


def declarations(language: str, source: bytes) -> list[Declaration]:
    """Every declaration of a text, nested ones and those of builders included.

    A call is one where it is a statement.  What is around a declaration begins before it.
    """
    found = []
    for node, at in placed(language, source):
        if node.type not in DECLARATIONS or not node.is_named:
            continue
        if node.type == "call" and (language == "brainscript" or at or not is_statement(node)):
            continue
        start, end = at + node.start_byte, at + node.end_byte
        found.append(Declaration(node.type, start, end, source[start:end].rstrip()))
    return found


def is_statement(call: object) -> bool:
    parent = call.parent  # type: ignore[attr-defined]
    return parent is not None and parent.type in ("source_file", "block")


def blocks(language: str, source: bytes) -> list[tuple[int, int]]:
    return [
        (at + node.start_byte, at + node.end_byte)
        for node, at in placed(language, source)
        if node.type in BLOCKS
    ]


def tokens(language: str, source: bytes) -> list[tuple[str, int, int]]:
    """What a person sees as tokens, with the language that each is of."""
    found = []
    for node, at in placed(language, source):
        whole = node.type == "brainscript" or node.child_count
        if whole or node.type in COMMENTS or node.type == "\n" or node.end_byte == node.start_byte:
            continue
        inner = "brainscript" if at or language == "brainscript" else "cntk"
        found.append((inner, at + node.start_byte, at + node.end_byte))
    return found


def edits(language: str, source: bytes, chance: random.Random, count: int) -> list[Edit]:
    """``count`` deletions, doublings and insertions of one token; blanks keep tokens apart."""
    places = tokens(language, source)
    found = []
    for _ in range(count if places else 0):
        inner, start, end = chance.choice(places)
        how = chance.choice(("deleted", "doubled", "inserted"))
        token = source[start:end]
        if how == "deleted":
            found.append(Edit(how, start, end, b" ", token))
            continue
        if how == "inserted":
            token = chance.choice(VOCABULARY[inner])
        found.append(Edit(how, end, end, b" " + token + b" ", token))
    return found


def lost(language: str, before: Iterable[Declaration], edited: bytes, edit: Edit) -> list[bytes]:
    """The declarations that ``edit`` does not touch and that are no longer whole.

    One is touched when the edit lies inside it or at its ends.
    """
    after = Counter((one.kind, one.text) for one in declarations(language, edited))
    others = [one for one in before if edit.end < one.start or one.end < edit.start]
    missing = Counter((one.kind, one.text) for one in others) - after
    return [one.text for one in others if (one.kind, one.text) in missing]


def outside(
    declared: Iterable[Declaration], around: Iterable[tuple[int, int]], edit: Edit
) -> list[Declaration]:
    """The declarations that are not in the innermost block around ``edit``."""
    holding = [(end - start, start, end) for start, end in around if start <= edit.start <= end]
    if not holding:
        return list(declared)
    _, start, end = min(holding)
    return [one for one in declared if not (start <= one.start and one.end <= end)]


def leaves_and_gaps(source: bytes, language: str) -> bytes:
    """The text put together again from the leaves of its tree and what lies between them."""
    root = next(iter(placed(language, source)))[0]
    pieces, done = [], 0
    for leaf in nodes(root):
        if not leaf.child_count:
            pieces += [source[done : leaf.start_byte], source[leaf.start_byte : leaf.end_byte]]
            done = leaf.end_byte
    return b"".join([*pieces, source[done:]])
