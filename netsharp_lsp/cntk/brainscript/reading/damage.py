"""The syntax errors of a text, from the error nodes of its tree; knows no rule and no wording.

An error that directly follows from another one is omitted: one wrong token is one error.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.brainscript.reading.grammar import LANGUAGE, parse_tree
from netsharp_lsp.cntk.vocabulary import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node, Tree

Span = tuple[int, int]

PARTNERS = {"(": ")", "[": "]", "{": "}", "[|": "|]"}
CLOSERS = frozenset(PARTNERS.values())
#: Nodes of missing tokens, by what is missing.
MISSING = {
    "missing_operand": "operand",
    "missing_name": "name",
    "missing_equals": "equals",
    "missing_then": "then",
    "missing_else": "else",
    "missing_range": "range",
    "missing_comma": "argument-comma",
    "missing_path": "include",
    "unclosed_string": "string",
    "unclosed_comment": "comment",
    "missing_parenthesis": "unclosed",
    "missing_bracket": "unclosed",
    "missing_brace": "unclosed",
    "missing_bar": "unclosed",
}
#: The nodes of errors.
DAMAGED = (*MISSING, "stray", "built", "ERROR")
#: The kind of a stray token that has a cause of its own.
STRAYS = {";": "semicolon", ",": "comma"}
BLANKS = re.compile(rb"(?:\s|#[^\r\n]*|//[^\r\n]*|/\*.*?\*/)*+", re.DOTALL)
#: The placeholder of omitted text.
PLACEHOLDER = b"..."
#: The text between two error nodes of one error.
BETWEEN = re.compile(rb"(?:[\s({\[]|#[^\r\n]*|//[^\r\n]*|/\*.*?\*/)*+", re.DOTALL)


class Damage(NamedTuple):
    """One syntax error: its kind, its span, the bracket it is about, and the text there.

    ``span`` of a missing token is empty, at the place where the token should be.
    """

    kind: str
    span: Span
    text: str
    partner: Span | None = None


class _Sign:
    """An error node of the tree, copied so that the tree can be freed.

    ``order`` sorts signs as in the text, the inner of two at one place first. ``opening`` is the
    opening of an unclosed bracket, ``beside`` are the stray closing brackets there.
    """

    __slots__ = ("beside", "end", "is_unexpected", "kind", "opening", "order", "start")

    def __init__(self, node: Node, depth: int, number: int) -> None:
        self.kind = node.type
        self.start = node.start_byte
        self.end = node.end_byte
        self.order = (self.start, self.end, -depth, number)
        within = node.named_child(0) if node.named_child_count else None
        self.is_unexpected = within is not None and within.type == "unexpected"
        self.opening: Span | None = None
        self.beside: Sequence[Span] = ()


#: The ids of `DAMAGED`; an ERROR node has one beyond the grammar's.
_KINDS = frozenset(
    kind
    for kind in (*range(LANGUAGE.node_kind_count), 0xFFFF)
    if LANGUAGE.node_kind_for_id(kind) in DAMAGED
)
_ENDS = frozenset(one.encode() for one in CLOSERS)
_BUILT = ("built", "comment", "block_comment")


def damages(data: bytes) -> list[Damage]:
    """Return all syntax errors of a text, in its order."""
    tree = parse_tree(data)
    alone = _is_alone(tree)
    signs = _signs(tree, data)
    if alone and all(sign.kind == "built" for sign in signs):
        return []
    signs.sort(key=attrgetter("order"))
    return _Survey(data, signs, alone).run()


def _signs(tree: Tree, data: bytes) -> list[_Sign]:
    """Return all error nodes, visited by a cursor, because a node keeps its children once they are
    read.
    """
    found: list[_Sign] = []
    #: Unclosed brackets, by the depth of their signs, below the current node.
    unclosed: dict[int, list[_Sign]] = {}
    may_miss = tree.root_node.has_error
    cursor = tree.walk()
    depth = number = 0
    while True:
        node = cursor.node
        if node is not None and (node.kind_id in _KINDS or (may_miss and node.is_missing)):
            found.append(_Sign(node, depth, number))
            if MISSING.get(node.type) == "unclosed":
                unclosed.setdefault(depth, []).append(found[-1])
        number += 1
        if cursor.goto_first_child():
            depth += 1
            continue
        raise_if_cancelled()
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found
            if depth in unclosed:
                _match_brackets(unclosed.pop(depth), cursor.node, data)
            depth -= 1


def _match_brackets(signs: list[_Sign], around: Node | None, data: bytes) -> None:
    """Set the openings of unclosed brackets, and the stray closing brackets next to them."""
    children = around.children if around is not None else []
    kinds = [one.type for one in children]
    spans = [(one.start_byte, one.end_byte) for one in children]
    openings = (span for kind, span in zip(kinds, spans, strict=True) if kind in PARTNERS)
    opening = next(openings, None)
    strays = (span for kind, span in zip(kinds, spans, strict=True) if kind == "stray")
    beside = [span for span in strays if _closes(data, *span)]
    for sign in signs:
        sign.opening, sign.beside = opening, beside


def _closes(data: bytes, start: int, end: int) -> bool:
    return end - start < 3 and data[start:end] in _ENDS


def _is_alone(tree: Tree) -> bool:
    """Return whether a text is only the value of a builder."""
    if tree.root_node.named_child_count == 1:
        return True
    cursor = tree.walk()
    there = cursor.goto_first_child()
    while there:
        node = cursor.node
        if node is not None and node.is_named and node.type not in _BUILT:
            return False
        there = cursor.goto_next_sibling()
    return True


class _Survey:
    """The error nodes of a text, and which of them were reported."""

    def __init__(self, data: bytes, signs: list[_Sign], alone: bool) -> None:
        self.data = data
        self.signs = signs
        self.alone = alone
        self.found: list[Damage] = []
        #: Stray closing brackets that are the wrong partner of an opening one.
        self.taken: set[int] = set()
        #: The offset up to which signs belong to the last damage.
        self.until = -1
        #: The end of the line of the last placeholder.
        self.line_end = -1
        #: The ends of blanks and comments, by their starts: many tokens may be missing there.
        self.blank_ends: dict[int, int] = {}
        #: Stray closing brackets, by their offset.
        self.strays: dict[int, list[Span]] = {}

    def run(self) -> list[Damage]:
        """Evaluate all signs."""
        unclosed = [sign for sign in self.signs if MISSING.get(sign.kind) == "unclosed"]
        if unclosed:
            for sign in self.signs:
                if sign.kind == "stray" and _closes(self.data, sign.start, sign.end):
                    self.strays.setdefault(sign.start, []).append((sign.start, sign.end))
        wrong = {id(sign): self._wrong_partner(sign) for sign in unclosed}
        for sign in self.signs:
            if sign.kind == "built" and self.alone:
                continue
            if id(sign) in wrong:
                self._unclosed(sign, wrong[id(sign)])
            elif sign.start not in self.taken:
                self._one(sign)
        return self.found

    def _is_left_out(self, sign: _Sign) -> bool:
        """Return whether it is the placeholder `...`, or is after one on its line."""
        if self._after_placeholder(sign.start):
            return True
        start = sign.start
        if sign.kind in MISSING:
            start = self._after_blanks(start)
        if not self.data.startswith(PLACEHOLDER, start):
            return False
        end = start + len(PLACEHOLDER)
        if not self.found or self.found[-1].span != (start, end):
            self.found.append(Damage("placeholder", (start, end), "..."))
            line_end = self.data.find(b"\n", end)
            self.line_end = line_end if line_end >= 0 else len(self.data)
        self.until = end
        return True

    def _after_placeholder(self, offset: int) -> bool:
        """Return whether the last damage is a placeholder on the same line."""
        after = bool(self.found) and self.found[-1].kind == "placeholder"
        return after and offset <= self.line_end

    def _after_blanks(self, start: int) -> int:
        """Return the end of blanks and comments from an offset on."""
        if start not in self.blank_ends:
            blank = BLANKS.match(self.data, start)
            self.blank_ends[start] = blank.end() if blank is not None else start
        return self.blank_ends[start]

    def _one(self, sign: _Sign) -> None:
        if self._is_left_out(sign):
            return
        follows = sign.start <= self.until or self._only_blank(self.until, sign.start)
        kind, span, text = self._classified(sign)
        if follows and self.found and kind not in ("string", "comment"):
            if (self.found[-1].kind, kind) == ("operand", "unexpected"):
                self.found[-1] = Damage(kind, span, text)
            self._skip(sign)
            return
        self.found.append(Damage(kind, span, text))
        self.until = max(span[1], sign.start)

    def _skip(self, sign: _Sign) -> None:
        """Skip a sign that directly follows from the last damage; `f (x) { ... }` is a
        missing `=`.
        """
        last = self.found[-1]
        if sign.kind == "built" and last.kind == "junk" and last.text.isidentifier():
            self.found[-1] = last._replace(kind="definition-equals")
        self.until = max(self.until, sign.end if sign.kind == "stray" else sign.start)
        if sign.kind == "built":
            self.until = sign.end

    def _classified(self, sign: _Sign) -> tuple[str, Span, str]:
        span = (sign.start, sign.end)
        text = self.data[span[0] : span[1]].decode("utf-8", "replace")
        if sign.kind in MISSING:
            return MISSING[sign.kind], span, text
        if sign.kind == "built":
            return "junk", (span[0], min(span[1], span[0] + 1)), text[:1]
        first = text.split(None, 1)[0] if text.split() else text
        if first in KEYWORDS:
            return "keyword", span, text
        if text in CLOSERS:
            return "surplus", span, text
        if sign.is_unexpected:
            return "unexpected", span, text
        if text.isidentifier() and self._number_before(span[0]):
            return "number", span, text
        return STRAYS.get(text, "junk"), span, text

    def _number_before(self, start: int) -> bool:
        """Return whether a word is directly after a digit: `13abc`."""
        return start > 0 and self.data[start - 1 : start].isdigit()

    def _unclosed(self, sign: _Sign, stray: Span | None) -> None:
        opening = sign.opening
        if opening is None or self._after_placeholder(opening[0]):
            return
        text = self.data[opening[0] : opening[1]].decode()
        if stray is not None:
            self.found.append(Damage("mismatched", stray, text, opening))
            self.until = stray[1]
        elif not self.found or self.found[-1].kind != "unclosed" or self.until < sign.start:
            self.found.append(Damage("unclosed", opening, text, opening))
            self.until = sign.start

    def _wrong_partner(self, sign: _Sign) -> Span | None:
        """Return the stray closing bracket in the place of a missing one."""
        candidates: list[Span] = [*sign.beside]
        candidates += self.strays.get(self._after_blanks(sign.start), ())
        for span in candidates:
            if span[0] not in self.taken:
                self.taken.add(span[0])
                return span
        return None

    def _only_blank(self, start: int, end: int) -> bool:
        if start < 0 or end < start:
            return False
        found = BETWEEN.match(self.data, start, end)
        return found is not None and found.end() == end
