"""What could not be read in a text, from the tree's own signs of it; knows no rule and no wording.

What follows at once from another damage is left out: one wrong token is one damage.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Query, QueryCursor

from netsharp_lsp.cntk.brainscript.reading.grammar import LANGUAGE, parse_tree
from netsharp_lsp.cntk.vocabulary import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

Span = tuple[int, int]

PARTNERS = {"(": ")", "[": "]", "{": "}", "[|": "|]"}
CLOSERS = frozenset(PARTNERS.values())
#: Nodes that stand for something left out, by what is missing.
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
#: The nodes that stand for a damage.
DAMAGED = (*MISSING, "stray", "built", "ERROR")
#: A query of tree-sitter counts levels in 16 bits and never ends in a deeper tree; a text of fewer
#: bytes has none so deep.
SHALLOW = 32_000
#: What a stray token is, where it has a cause of its own.
STRAYS = {";": "semicolon", ",": "comma"}
BLANKS = re.compile(rb"(?:\s|#[^\r\n]*|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
#: What writers put for something that they leave out.
PLACEHOLDER = b"..."
#: What may stand between two signs of one damage.
BETWEEN = re.compile(rb"(?:[\s({\[]|#[^\r\n]*|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)


class Damage(NamedTuple):
    """One damage: what kind, where, the bracket it is about, and the text there.

    ``span`` of something that is missing is empty; it stands where it should be.
    """

    kind: str
    span: Span
    text: str
    partner: Span | None = None


@lru_cache(maxsize=1)
def _query() -> Query:
    kinds = " ".join(f"({kind})" for kind in DAMAGED)
    return Query(LANGUAGE, f"[{kinds}] @damage (MISSING) @damage")


def damages(data: bytes) -> list[Damage]:
    """Everything that could not be read in a text, in its order."""
    root = parse_tree(data).root_node
    found = _damaged(root) if len(data) < SHALLOW else list(_walked(root))
    if all(node.type == "built" for node in found) and _is_alone(root):
        return []
    around = _surroundings(root)
    nodes = sorted(found, key=around.reading_order)
    return _Survey(data, nodes, around, _is_alone(root)).run()


def _damaged(root: Node) -> list[Node]:
    return QueryCursor(_query()).captures(root).get("damage", [])


def _walked(root: Node) -> Iterator[Node]:
    """The same without a query."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in DAMAGED or node.is_missing:
            yield node
        waiting += node.children


def _is_alone(root: Node) -> bool:
    """Whether a text is the value of a builder and nothing else."""
    return root.named_child_count == 1 or all(
        child.type in ("built", "comment", "block_comment") for child in root.named_children
    )


class _Surroundings(NamedTuple):
    """What stands around every node, by its id: a node that is asked itself looks for the answer
    from the root on, which in deep nesting takes as long as all of this.
    """

    depths: dict[int, int]
    parents: dict[int, Node]
    numbers: dict[int, int]

    def reading_order(self, node: Node) -> tuple[int, int, int, int]:
        """The order of the text, the inner of two at one place first; a query has no order."""
        return node.start_byte, node.end_byte, -self.depths[node.id], self.numbers[node.id]


def _surroundings(root: Node) -> _Surroundings:
    around = _Surroundings({root.id: 0}, {}, {})
    waiting = [root]
    while waiting:
        node = waiting.pop()
        around.numbers[node.id] = len(around.numbers)
        children = node.children
        for child in children:
            around.depths[child.id] = around.depths[node.id] + 1
            around.parents[child.id] = node
        waiting += reversed(children)
    return around


class _Survey:
    """The damaged nodes of a text, and which of them were told."""

    def __init__(self, data: bytes, nodes: list[Node], around: _Surroundings, alone: bool) -> None:
        self.data = data
        self.around = around
        self.nodes = nodes
        self.alone = alone
        self.found: list[Damage] = []
        #: Stray closing brackets that are the wrong partner of an opening one.
        self.taken: set[int] = set()
        #: Up to where what is met belongs to the last damage.
        self.until = -1
        #: Where the line of the last thing left out ends.
        self.line_end = -1
        #: Where blanks and comments end, by where they begin: many marks may be missing there.
        self.blank_ends: dict[int, int] = {}
        self.strays: dict[int, list[Node]] = {}

    def run(self) -> list[Damage]:
        """Judge every node."""
        for node in self.nodes:
            if node.type == "stray":
                self.strays.setdefault(node.start_byte, []).append(node)
        unclosed = [node for node in self.nodes if MISSING.get(node.type) == "unclosed"]
        wrong = {id(node): self._wrong_partner(node) for node in unclosed}
        for node in self.nodes:
            if node.type == "built" and (self.alone or node.id not in self.around.parents):
                continue
            if id(node) in wrong:
                self._unclosed(node, wrong[id(node)])
            elif node.start_byte not in self.taken:
                self._one(node)
        return self.found

    def _is_left_out(self, node: Node) -> bool:
        """Whether it is `...`, for something left out, or stands behind one on its line."""
        if self._behind_placeholder(node.start_byte):
            return True
        start = node.start_byte
        if node.type in MISSING:
            start = self._behind_blanks(start)
        if not self.data.startswith(PLACEHOLDER, start):
            return False
        end = start + len(PLACEHOLDER)
        if not self.found or self.found[-1].span != (start, end):
            self.found.append(Damage("placeholder", (start, end), "..."))
            line_end = self.data.find(b"\n", end)
            self.line_end = line_end if line_end >= 0 else len(self.data)
        self.until = end
        return True

    def _behind_placeholder(self, offset: int) -> bool:
        """Whether the last damage is something left out on the same line."""
        behind = bool(self.found) and self.found[-1].kind == "placeholder"
        return behind and offset <= self.line_end

    def _behind_blanks(self, start: int) -> int:
        """Where blanks and comments from an offset on end."""
        if start not in self.blank_ends:
            blank = BLANKS.match(self.data, start)
            self.blank_ends[start] = blank.end() if blank is not None else start
        return self.blank_ends[start]

    def _one(self, node: Node) -> None:
        if self._is_left_out(node):
            return
        follows = node.start_byte <= self.until or self._only_blank(self.until, node.start_byte)
        kind, span, text = self._judged(node)
        if follows and self.found and kind not in ("string", "comment"):
            if (self.found[-1].kind, kind) == ("operand", "unexpected"):
                self.found[-1] = Damage(kind, span, text)
            self._swallow(node)
            return
        self.found.append(Damage(kind, span, text))
        self.until = max(span[1], node.start_byte)

    def _swallow(self, node: Node) -> None:
        """What follows at once from the last damage; `f (x) { ... }` is a missing `=`."""
        last = self.found[-1]
        if node.type == "built" and last.kind == "junk" and last.text.isidentifier():
            self.found[-1] = last._replace(kind="definition-equals")
        self.until = max(self.until, node.end_byte if node.type == "stray" else node.start_byte)
        if node.type == "built":
            self.until = node.end_byte

    def _judged(self, node: Node) -> tuple[str, Span, str]:
        span = (node.start_byte, node.end_byte)
        text = self.data[span[0] : span[1]].decode("utf-8", "replace")
        if node.type in MISSING:
            return MISSING[node.type], span, text
        if node.type == "built":
            return "junk", (span[0], min(span[1], span[0] + 1)), text[:1]
        first = text.split(None, 1)[0] if text.split() else text
        if first in KEYWORDS:
            return "keyword", span, text
        if text in CLOSERS:
            return "surplus", span, text
        child = node.named_children[0].type if node.named_children else ""
        if child == "unexpected":
            return "unexpected", span, text
        if text.isidentifier() and self._number_before(span[0]):
            return "number", span, text
        return STRAYS.get(text, "junk"), span, text

    def _number_before(self, start: int) -> bool:
        """Whether a word stands directly behind a digit: `13abc`."""
        return start > 0 and self.data[start - 1 : start].isdigit()

    def _unclosed(self, node: Node, stray: Span | None) -> None:
        opening = self._opening(node)
        if opening is None or self._behind_placeholder(opening[0]):
            return
        text = self.data[opening[0] : opening[1]].decode()
        if stray is not None:
            self.found.append(Damage("mismatched", stray, text, opening))
            self.until = stray[1]
        elif not self.found or self.found[-1].kind != "unclosed" or self.until < node.start_byte:
            self.found.append(Damage("unclosed", opening, text, opening))
            self.until = node.start_byte

    def _opening(self, node: Node) -> Span | None:
        parent = self.around.parents.get(node.id)
        for child in parent.children if parent is not None else ():
            if child.type in PARTNERS:
                return child.start_byte, child.end_byte
        return None

    def _wrong_partner(self, node: Node) -> Span | None:
        """The stray closing bracket that stands where another one is missing."""
        around = self.around.parents.get(node.id)
        beside = around.children if around is not None else []
        candidates = [one for one in beside if one.type == "stray"]
        candidates += self.strays.get(self._behind_blanks(node.start_byte), ())
        for one in candidates:
            text = self.data[one.start_byte : one.end_byte].decode("utf-8", "replace")
            if text in CLOSERS and one.start_byte not in self.taken:
                self.taken.add(one.start_byte)
                return one.start_byte, one.end_byte
        return None

    def _only_blank(self, start: int, end: int) -> bool:
        if start < 0 or end < start:
            return False
        found = BETWEEN.match(self.data, start, end)
        return found is not None and found.end() == end
