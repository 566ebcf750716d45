"""From a declaration's tree to its tokens: what each is to the layout, and how it is spelt.

Knows the grammar's node types; a declaration with a fault in it has no tokens here.
"""

from __future__ import annotations

import re

from tree_sitter import Language, Parser

from netsharp_grammar._netsharp import language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from tree_sitter import Node, Tree

    # Role, spelling, first byte and end in the text.
    Token: TypeAlias = tuple[int, bytes, int, int]

_LANGUAGE = Language(language())

# Roles. Those up to LINE_COMMENT stand within a logical line, the others end one.
WORD = 0
TUPLE = 1
OPEN = 2
TIGHT_OPEN = 3
CLOSE = 4
COMMA = 5
SIGN = 6
POWER = 7
OPERATOR = 8
ARROW = 9
ASSIGN = 10
FROM = 11
SHARE_OPEN = 12
SHARE_CLOSE = 13
BLOCK_COMMENT = 14
LINE_COMMENT = 15
END = 16
STRAY = 17
BLOCK_OPEN = 18
BLOCK_CLOSE = 19

# Not roles: what the walk does with a node instead.
_DESCEND = -1
_FAULT = -2
_VALUE = -3
_NAME = -4

_KEYWORDS = (
    "const input hidden output share auto all where convolve max mean pool response norm true false"
)
#: Tokens that the grammar does not name, spelt as here.
_MARKS = {
    **dict.fromkeys(_KEYWORDS.split(), WORD),
    **dict.fromkeys(("[", "("), OPEN),
    **dict.fromkeys(("]", ")"), CLOSE),
    **dict.fromkeys(("||", "&&", "==", "!=", "<", "<=", ">", ">=", "*", "/", "%"), OPERATOR),
    **dict.fromkeys(("+", "-"), OPERATOR),
    "!": SIGN,
    "^": POWER,
    "=>": ARROW,
    "=": ASSIGN,
    ",": COMMA,
    ";": END,
    "from": FROM,
    "{": BLOCK_OPEN,
    "}": BLOCK_CLOSE,
}
#: Nodes that are tokens, spelt as in the text.
_WORDS = {
    **dict.fromkeys(("identifier", "number", "float_bytes", "keyword"), WORD),
    "separator": ASSIGN,
    "terminator": END,
    "comment": LINE_COMMENT,
    "block_comment": BLOCK_COMMENT,
}
#: Nodes that hold tokens. All nodes that are neither these nor words are faults.
_HOLDERS = (
    "constant_declaration layer_declaration share_declaration constant layer body bundle "
    "attributes attribute share_item auto all convolve pool norm where blob parenthesized unary "
    "binary call index boolean stray stray_semicolon"
)
#: What a token is under a parent that gives it another meaning.
_MARKS_WITHIN = {
    "unary": {"-": SIGN, "+": SIGN},
    "index": {"[": TIGHT_OPEN},
    "call": {"(": TIGHT_OPEN},
    "blob": {"(": TIGHT_OPEN},
    "share_declaration": {"{": SHARE_OPEN, "}": SHARE_CLOSE},
    "stray_semicolon": {";": STRAY},
    "stray": {";": STRAY, "}": _FAULT},
}
_WORDS_WITHIN = {"share_declaration": {"separator": COMMA}, "layer": {"identifier": _NAME}}
#: The one right spelling of tokens for which the grammar also accepts a wrong one.
_RIGHT = {ASSIGN: b"=", COMMA: b",", END: b";"}

#: A tuple of numbers and lower-case booleans is one token: weights are long.
_SCALAR = rb"(?:[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|true|false)"
_PLAIN_TUPLE = re.compile(rb"\[\s*%b(?:\s*,\s*%b)*\s*\]\Z" % (_SCALAR, _SCALAR))


def _table(parent: str) -> tuple[list[int], list[bytes | None]]:
    """Roles and spellings by kind of node, under parents of one kind."""
    marks = {**_MARKS, **_MARKS_WITHIN.get(parent, {})}
    words = {**dict.fromkeys(_HOLDERS.split(), _DESCEND), "tuple": _VALUE, **_WORDS}
    words.update(_WORDS_WITHIN.get(parent, {}))
    roles: list[int] = []
    spellings: list[bytes | None] = []
    for kind in range(_LANGUAGE.node_kind_count):
        name = _LANGUAGE.node_kind_for_id(kind) or ""
        named = _LANGUAGE.node_kind_is_named(kind)
        roles.append((words if named else marks).get(name, _FAULT))
        spellings.append(None if named else name.encode("utf-8"))
    return roles, spellings


def _tables() -> dict[int, tuple[list[int], list[bytes | None]]]:
    usual = _table("")
    special = {name: _table(name) for name in {*_MARKS_WITHIN, *_WORDS_WITHIN}}
    names = {kind: _LANGUAGE.node_kind_for_id(kind) for kind in range(_LANGUAGE.node_kind_count)}
    return {kind: special.get(name or "", usual) for kind, name in names.items()}


_TABLES = _tables()


def _kind(name: str) -> int:
    kind = _LANGUAGE.id_for_node_kind(name, True)
    if kind is None:
        raise LookupError(f"the grammar has no node '{name}'")
    return kind


FILE_KIND = _kind("source_file")
STRAY_KIND = _kind("stray")
LINE_COMMENT_KIND = _kind("comment")
BLOCK_COMMENT_KIND = _kind("block_comment")


def parse_tree(text: bytes) -> Tree:
    """Parse UTF-8 bytes without a byte-order mark."""
    return Parser(_LANGUAGE).parse(text)


def declaration_tokens(node: Node, text: bytes) -> list[Token] | None:
    """Return the tokens and comments of a top-level node in order, or None where it is broken.

    Keywords and known activations come in lower case, everything else as it is written.
    """
    if node.has_error or _TABLES[FILE_KIND][0][node.kind_id] != _DESCEND:
        return None
    tokens: list[Token] = []
    above = []
    children = iter(node.children)
    roles, spellings = _TABLES[node.kind_id]
    while True:
        for child in children:
            kind = child.kind_id
            role = roles[kind]
            if role == _DESCEND:
                above.append((children, roles, spellings))
                children = iter(child.children)
                roles, spellings = _TABLES[kind]
                break
            start, end = child.start_byte, child.end_byte
            if role >= 0:
                spelling = spellings[kind]
                if spelling is None:
                    spelling = text[start:end]
                    if role in _RIGHT and spelling != _RIGHT[role]:
                        return None
                elif end - start != len(spelling):
                    return None
                tokens.append((role, spelling, start, end))
            elif role == _NAME:
                tokens.append((WORD, _layer_word(text[start:end], tokens), start, end))
            elif role == _FAULT:
                return None
            elif _PLAIN_TUPLE.match(text, start, end):
                scalars = b"".join(text[start:end].split()).split(b",")
                tokens.append((TUPLE, b", ".join(scalars), start, end))
            else:
                above.append((children, roles, spellings))
                children = iter(child.children)
                roles, spellings = _TABLES[kind]
                break
        else:
            if not above:
                return tokens
            children, roles, spellings = above.pop()


def _layer_word(word: bytes, before: list[Token]) -> bytes:
    """The spelling of a layer's name or, where its size stands before it, its activation."""
    if word.islower():
        return word
    index = len(before) - 1
    while before[index][0] in (BLOCK_COMMENT, LINE_COMMENT):
        index -= 1
    role, spelling, *_ = before[index]
    if role not in (CLOSE, TUPLE) and spelling != b"auto":
        return word
    from netsharp_engine.activations import NAMES

    lower = word.lower()
    return lower if lower.decode("ascii") in NAMES else word
