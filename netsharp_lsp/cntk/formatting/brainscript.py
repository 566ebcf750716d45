"""Conversion of the tree of a BrainScript text to tokens; knows the grammar's nodes and no layout.

A member with a fault in it is one token, printed unchanged.
"""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.reading.grammar import LANGUAGE, parse_tree
from netsharp_lsp.cntk.formatting.tokens import (
    ASSIGN,
    BLOCK,
    BLOCK_CLOSE,
    BLOCK_COMMENT,
    BRANCH,
    CLOSE,
    COMMA,
    COMMENT,
    HELD_TIGHT_OPEN,
    NAMED,
    OPEN,
    OPERATOR,
    PADDED_CLOSE,
    PADDED_OPEN,
    SEMICOLON,
    SIGN,
    TIGHT,
    WORD,
    Token,
)
from netsharp_lsp.memory import released_children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from tree_sitter import Node

    # The children that are still to come, their actions, the first token of their statement
    # (-1 where they belong to one further out), the node.
    _Frame: TypeAlias = tuple[Iterator[Node], list[int], int, Node]

# The action of the traversal for a node that is not a token.
_DESCEND = -1
_FAULT = -2
_STATEMENT = -3
_OPERATION = -4

#: Brackets that nest deeper stay as they are: each level indents all within.
DEEPEST = 200

_MARKS = {
    **dict.fromkeys(("if", "new", "array", "include"), WORD),
    **dict.fromkeys(("then", "else"), BRANCH),
    **dict.fromkeys(("=", "=>"), ASSIGN),
    **dict.fromkeys(["..", "."], TIGHT),
    **dict.fromkeys((")", "]"), CLOSE),
    ",": COMMA,
    ";": SEMICOLON,
    "(": OPEN,
    "[": HELD_TIGHT_OPEN,
    "[|": PADDED_OPEN,
    "|]": PADDED_CLOSE,
    ":": TIGHT,
}
_OPERATORS = (
    *("*", "/", ".*", "**", "%", "+", "-", "with", "==", "!=", "<", "<="),
    *(">", ">=", "&&", "||", "<<", ">>", ":"),
)
_WORDS = {
    **dict.fromkeys(("identifier", "number", "string", "boolean", "variable"), WORD),
    "comment": COMMENT,
    "block_comment": BLOCK_COMMENT,
    **dict.fromkeys(("member", "include", "built"), _STATEMENT),
    "binary": _OPERATION,
}
_HOLDERS = (
    *("index_range", "parameters", "parameter", "parenthesized", "record", "array_literal"),
    *("array_constructor", "new", "if", "lambda", "unary", "call", "arguments"),
    *("named_argument", "index", "select"),
)
_TIGHT_OPERATION = "tight operation"
#: What a mark is under a parent that gives it another meaning.
_WITHIN = {
    "record": {"{": BLOCK, "[": BLOCK, "}": BLOCK_CLOSE, "]": BLOCK_CLOSE},
    "parameters": {"{": OPEN, "}": CLOSE},
    "arguments": {"{": OPEN, "}": CLOSE},
    "parameter": {"=": NAMED},
    "named_argument": {"=": NAMED},
    "unary": {"+": SIGN, "-": SIGN, "!": SIGN},
    "binary": dict.fromkeys(_OPERATORS, OPERATOR),
    _TIGHT_OPERATION: dict.fromkeys(_OPERATORS, TIGHT),
}
#: Operands that belong together with a `:` between them.
_SIMPLE = frozenset(("identifier", "number", "string", "boolean", "variable"))
#: Where a sum is written without blanks.
_COUNTING = frozenset(("index", "index_range", "array_constructor"))


def _table(parent: str) -> list[int]:
    marks = {**_MARKS, **_WITHIN.get(parent, {})}
    words = {**dict.fromkeys(_HOLDERS, _DESCEND), **_WORDS}
    actions = []
    for kind in range(LANGUAGE.node_kind_count):
        name = LANGUAGE.node_kind_for_id(kind) or ""
        named = LANGUAGE.node_kind_is_named(kind)
        actions.append((words if named else marks).get(name, _FAULT))
    return actions


#: A part that fits nothing has a number of its own, far beyond these.
_KINDS = LANGUAGE.node_kind_count
_USUAL = _table("")
_TIGHT_TABLE = _table(_TIGHT_OPERATION)
_SPECIAL = {name: _table(name) for name in _WITHIN}
_TABLES = [
    _SPECIAL.get(LANGUAGE.node_kind_for_id(kind) or "", _USUAL)
    for kind in range(LANGUAGE.node_kind_count)
]


def brainscript_tokens(text: bytes, base: int = 0) -> tuple[list[Token], list[int]]:
    """Return the tokens and comments of a text in order, and the offsets of its faults.

    `base` is the offset of the text in the one that offsets refer to.
    """
    walk = _Walk(text, base)
    walk.run(parse_tree(text).root_node)
    return walk.tokens, walk.broken


class _Walk:
    """One traversal of a tree, without recursion: expressions may nest to any depth."""

    __slots__ = ("_base", "_frames", "_text", "broken", "tokens")

    def __init__(self, text: bytes, base: int) -> None:
        self._text = text
        self._base = base
        self._frames: list[_Frame] = []
        self.tokens: list[Token] = []
        self.broken: list[int] = []

    def run(self, root: Node) -> None:
        """Visit every child of the root."""
        frames, tokens, text, base = self._frames, self.tokens, self._text, self._base
        frames.append((released_children(root.children), _USUAL, 0, root))
        while frames:
            children, actions, mark, _ = frames[-1]
            for child in children:
                kind = child.kind_id
                action = actions[kind] if kind < _KINDS else _FAULT
                start, end = child.start_byte, child.end_byte
                if action >= 0 and start < end:
                    tokens.append(Token(action, text[start:end], base + start, base + end, True))
                    continue
                if action == _FAULT or action >= 0 or not self._enter(child, action):
                    self._add_unformatted(child)
                break
            else:
                frames.pop()
                if mark >= 0 and frames and mark < len(tokens):
                    tokens[mark].starts = True

    def _enter(self, node: Node, action: int) -> bool:
        """Continue with the children of a node; return False where one of them is missing."""
        is_operation = action == _OPERATION
        actions = self._table_within(node) if is_operation else _TABLES[node.kind_id]
        mark = len(self.tokens) if action == _STATEMENT else -1
        if len(self._frames) > DEEPEST and node.type == "record":
            return False
        self._frames.append((released_children(node.children), actions, mark, node))
        return True

    def _add_unformatted(self, node: Node) -> None:
        """Add the statement around a fault unchanged; outside all statements, only the fault."""
        frames, tokens = self._frames, self.tokens
        while frames[-1][2] < 0:
            frames.pop()
        if len(frames) > 1:
            _, _, mark, node = frames.pop()
            del tokens[mark:]
        start, end = node.start_byte, node.end_byte
        spelling = self._text[start:end].rstrip()
        self.broken.append(self._base + start)
        if spelling:
            start += self._base
            token = Token(WORD, spelling, start, start + len(spelling), True)
            token.starts = True
            tokens.append(token)

    def _table_within(self, node: Node) -> list[int]:
        """Return the actions for the children of an operation, which has those of the one around
        it.
        """
        above, actions = self._frames[-1][3], self._frames[-1][1]
        if above.type == "binary":
            return actions
        return _TIGHT_TABLE if _is_tight(node, above) else _TABLES[node.kind_id]


def _is_tight(node: Node, above: Node) -> bool:
    """Return whether `:` is between simple operands only, or a sum is a count."""
    marks: set[str] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type != "binary":
            if not _is_simple(one):
                return False
            continue
        operator = one.child_by_field_name("operator")
        marks.add(operator.type if operator is not None else "")
        waiting += one.children_by_field_name("left") + one.children_by_field_name("right")
    return marks == {":"} or (above.type in _COUNTING and marks <= {"+", "-"})


def _is_simple(node: Node | None) -> bool:
    """Return whether an operand is short in itself: a name, a number, `-1`, `x.dim`."""
    while node is not None and node.type in ("unary", "select"):
        field = "operand" if node.type == "unary" else "object"
        node = node.child_by_field_name(field)
    return node is not None and node.type in _SIMPLE
