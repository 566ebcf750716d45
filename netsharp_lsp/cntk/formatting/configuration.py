"""Conversion of the tree of a configuration, of NDL or MEL to tokens; knows no layout.

A record with a fault in it is one token, printed unchanged, and so is what CNTK takes verbatim:
bare text, strings, lists in one line, brackets with a separator of their own.
"""

from __future__ import annotations

from netsharp_lsp.cntk.formatting.brainscript import brainscript_tokens
from netsharp_lsp.cntk.formatting.tokens import (
    ASSIGN,
    BLOCK,
    BLOCK_CLOSE,
    CLOSE,
    COMMA,
    COMMENT,
    CUSTOM_SEPARATORS,
    HELD_OPEN,
    HELD_TIGHT_OPEN,
    LOOSE,
    NAMED,
    OPEN,
    SEMICOLON,
    SUFFIX,
    TIGHT_OPEN,
    WORD,
    Token,
)
from netsharp_lsp.cntk.reading.grammar import parse_tree
from netsharp_lsp.cntk.vocabulary import VARIABLE
from netsharp_lsp.memory import released_children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

#: Brackets that nest deeper stay as they are: each level indents all within.
DEEPEST = 60
#: Words, by the kind of node: what is one token whatever it holds.
_VERBATIM = frozenset(("text", "string", "key", "function_name", "argument_name", "joined"))
_RECORDS = frozenset(("assignment", "builder", "macro", "call", "flag"))
#: Records that make a bracket one around statements and not around elements.
_STATEMENTS = frozenset(("assignment", "builder", "macro", "call", "\n", "comment"))
_ENDS = {"[": "]", "{": "}", "(": ")"}


def configuration_tokens(text: bytes, *, breakable: bool) -> tuple[list[Token], list[int]]:
    """Return the tokens and comments of a text in order, and the offsets of its faults.

    `breakable`: the arguments of a call may be on several lines.
    """
    walk = _Walk(text, breakable)
    walk.statements(released_children(parse_tree(text).root_node.children), outermost=True)
    return walk.tokens, walk.broken


class _Walk:
    """One traversal of a tree. Methods return False where they found a fault."""

    __slots__ = ("_breakable", "_depth", "_text", "_torn", "broken", "tokens")

    def __init__(self, text: bytes, breakable: bool) -> None:
        self._text = text
        self._breakable = breakable
        self._depth = 0
        #: Whether a token was met that is missing in the text.
        self._torn = False
        self.tokens: list[Token] = []
        self.broken: list[int] = []

    def statements(self, children: Iterable[Node], outermost: bool = False) -> bool:
        """Add records and what is between them."""
        for child in children:
            kind = child.type
            if kind in _RECORDS:
                self._statement(child)
            elif kind in (";", ","):
                self._add(SEMICOLON if kind == ";" else COMMA, child)
            elif kind == "comment":
                self._add(COMMENT, child)
            elif kind != "\n":
                if not outermost:
                    return False
                self._unchanged(child)
        return True

    def _statement(self, node: Node) -> None:
        """Add a record, or all of it unchanged where it has a fault."""
        mark, faults = len(self.tokens), len(self.broken)
        if self._record(node) and not self._torn:
            self.tokens[mark].starts = True
            return
        self._torn = False
        del self.tokens[mark:], self.broken[faults:]
        self._unchanged(node)

    def _unchanged(self, node: Node) -> None:
        start = node.start_byte
        spelling = self._text[start : node.end_byte].rstrip()
        self.broken.append(start)
        if spelling:
            token = Token(WORD, spelling, start, start + len(spelling), False)
            token.starts = True
            self.tokens.append(token)

    def _record(self, node: Node) -> bool:
        """Add the parts of a record in order."""
        for child in released_children(node.children):
            kind = child.type
            if kind == "=":
                self._add(ASSIGN, child)
            elif kind == "comment":
                self._add(COMMENT, child)
            elif kind == "list" and node.type in ("macro", "call"):
                if not self._arguments(child):
                    return False
            elif kind == "macro":
                if not self._record(child):
                    return False
            elif not self._value(child):
                return False
        return True

    def _value(self, node: Node) -> bool:
        kind = node.type
        if kind in _VERBATIM:
            self._add(WORD, node)
            return kind != "joined" or not _has_fault(node)
        if kind == "brainscript":
            return self._network(node)
        if self._depth >= DEEPEST:
            return False
        self._depth += 1
        done = (
            self._block(node)
            if kind == "block"
            else self._list(node)
            if kind == "list"
            else kind == "call" and self._record(node)
        )
        self._depth -= 1
        return done

    def _network(self, node: Node) -> bool:
        """Add the network of a builder, which is BrainScript."""
        text = self._text[node.start_byte : node.end_byte]
        tokens, broken = brainscript_tokens(text, node.start_byte)
        if len(broken) == 1 and len(tokens) == 1:
            self._unchanged(node)
            self.tokens[-1].starts = False
            return True
        if tokens:
            tokens[0].starts = False
        self.tokens += tokens
        self.broken += broken
        return True

    def _block(self, node: Node) -> bool:
        """Add a bracket around records."""
        if self._has_own_separator(node):
            self._add(WORD, node)
            return not _has_fault(node)
        opening, inner, closing = _taken_apart(node)
        around = any(child.type in _STATEMENTS for child in inner)
        self._add(BLOCK if around else OPEN, opening)
        if closing.type != _ENDS[opening.type] or not self.statements(released_children(inner)):
            return False
        self._add(BLOCK_CLOSE if around else CLOSE, closing)
        return True

    def _list(self, node: Node) -> bool:
        """Add a list: one on several lines by its parts, any other unchanged."""
        start, end = node.start_byte, node.end_byte
        if self._has_own_separator(node) or not self._has_line_end(start, end):
            self._add(WORD, node)
            return not _has_fault(node)
        return self._elements(node, HELD_OPEN)

    def _arguments(self, node: Node) -> bool:
        """Add the arguments of a call, or a macro's parameters."""
        if self._has_own_separator(node):
            self._add(SUFFIX, node)
            return not _has_fault(node)
        return self._elements(node, TIGHT_OPEN if self._breakable else HELD_TIGHT_OPEN)

    def _elements(self, node: Node, opener: int) -> bool:
        opening, inner, closing = _taken_apart(node)
        self._add(opener, opening)
        for child in released_children(inner):
            kind = child.type
            if kind in (",", ":", ";", "="):
                is_comma = kind == "," and opener != HELD_OPEN
                self._add(COMMA if is_comma else LOOSE, child)
            elif kind == "comment":
                self._add(COMMENT, child)
            elif kind == "named":
                if not self._named(child):
                    return False
            elif kind != "\n" and not self._value(child):
                return False
        self._add(CLOSE, closing)
        return closing.type == ")"

    def _named(self, node: Node) -> bool:
        for child in node.children:
            if child.type == "=":
                self._add(NAMED, child)
            elif child.type == "comment":
                self._add(COMMENT, child)
            elif not self._value(child):
                return False
        return True

    def _add(self, role: int, node: Node) -> None:
        start, end = node.start_byte, node.end_byte
        self._torn |= start == end
        self.tokens.append(Token(role, self._text[start:end], start, end, False))

    def _has_own_separator(self, node: Node) -> bool:
        after, text = node.start_byte + 1, self._text
        if after >= len(text) or text[after] not in CUSTOM_SEPARATORS:
            return False
        # A variable is gone before anything is split.
        return VARIABLE.match(text, after) is None

    def _has_line_end(self, start: int, end: int) -> bool:
        return self._text.find(b"\n", start, end) >= 0 or self._text.find(b"\r", start, end) >= 0


def _taken_apart(node: Node) -> tuple[Node, list[Node], Node]:
    """Return the ends of a bracket and its contents, which are removed from the bracket's node."""
    children = node.children
    opening, *inner, closing = children
    children.clear()
    return opening, inner, closing


_FAULTS = frozenset(
    ("missing_bracket", "missing_brace", "missing_parenthesis", "wrong_closer", "unclosed_string")
)


def _has_fault(node: Node) -> bool:
    """Return whether a bracket within is not closed correctly."""
    if node.has_error:
        return True
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type in _FAULTS:
            return True
        waiting += one.children
    return False
