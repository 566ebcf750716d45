"""From a declaration's tree to its tokens: their roles in the layout, and their spelling.

Knows the grammar's node types; a declaration with a fault in it has no tokens here.
"""

from __future__ import annotations

import re

from netsharp_lsp.netsharp.reading.grammar import LANGUAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from tree_sitter import Node

    # Role, spelling, first byte and end in the text.
    Token: TypeAlias = tuple[int, bytes, int, int]

# Roles. Those up to LINE_COMMENT are within a logical line, the others end one.
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
    "binary call index boolean stray_semicolon"
)
#: How many children nodes have that miss nothing; the grammar also accepts half-typed ones.
_WHOLE = {
    **dict.fromkeys(("constant", "attribute", "index"), (4,)),
    **dict.fromkeys(("binary", "parenthesized"), (3,)),
    **dict.fromkeys(("unary", "pool", "norm"), (2,)),
    **dict.fromkeys(("constant_declaration", "layer_declaration", "bundle"), range(2, 1 << 62)),
    "where": (8,),
    "share_item": (1, 3),
}
#: Every named kind of node that a declaration without a fault is made of.
KNOWN_KINDS = frozenset((*_WORDS, *_HOLDERS.split(), "tuple"))
#: What a token is under a parent that gives it another meaning.
_MARKS_WITHIN = {
    "unary": {"-": SIGN, "+": SIGN},
    "index": {"[": TIGHT_OPEN},
    "call": {"(": TIGHT_OPEN},
    "blob": {"(": TIGHT_OPEN},
    "share_declaration": {"{": SHARE_OPEN, "}": SHARE_CLOSE},
    "stray_semicolon": {";": STRAY},
}
_WORDS_WITHIN = {"share_declaration": {"separator": COMMA}, "layer": {"identifier": _NAME}}
#: The one right spelling of tokens for which the grammar also accepts a wrong one.
_RIGHT = {ASSIGN: b"=", COMMA: b",", END: b";"}

#: What a declaration ends with that misses nothing.
_LAST = (END, BLOCK_CLOSE, SHARE_CLOSE)

#: A tuple of numbers, names and lower-case booleans is one token: weights are long.
_SCALAR = (
    rb"(?:[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    rb"|true\b|false\b|(?!(?i:true|false)\b)[A-Za-z_][A-Za-z0-9_]*)"
)
# Values that were read are not kept: they took more memory than the whole text.
_PLAIN_TUPLE = re.compile(rb"\[\s*%b(?:\s*,\s*%b)*+\s*\]\Z" % (_SCALAR, _SCALAR))
_BLANKS = b" \t\r\n\v\f"


def _table(parent: str) -> tuple[list[int], list[bytes | None]]:
    """Return roles and spellings by kind of node, under parents of one kind."""
    marks = {**_MARKS, **_MARKS_WITHIN.get(parent, {})}
    words = {**dict.fromkeys(_HOLDERS.split(), _DESCEND), "tuple": _VALUE, **_WORDS}
    words.update(_WORDS_WITHIN.get(parent, {}))
    roles: list[int] = []
    spellings: list[bytes | None] = []
    for kind in range(LANGUAGE.node_kind_count):
        name = LANGUAGE.node_kind_for_id(kind) or ""
        named = LANGUAGE.node_kind_is_named(kind)
        roles.append((words if named else marks).get(name, _FAULT))
        spellings.append(None if named else name.encode("utf-8"))
    return roles, spellings


def _tables() -> dict[int, tuple[list[int], list[bytes | None]]]:
    usual = _table("")
    special = {name: _table(name) for name in {*_MARKS_WITHIN, *_WORDS_WITHIN}}
    names = {kind: LANGUAGE.node_kind_for_id(kind) for kind in range(LANGUAGE.node_kind_count)}
    return {kind: special.get(name or "", usual) for kind, name in names.items()}


_TABLES = _tables()


_SHAPES = {
    kind: _WHOLE.get(LANGUAGE.node_kind_for_id(kind) or "", ())
    for kind in range(LANGUAGE.node_kind_count)
}


def _kind(name: str) -> int:
    kind = LANGUAGE.id_for_node_kind(name, True)
    if kind is None:
        raise LookupError(f"the grammar has no node '{name}'")
    return kind


FILE_KIND = _kind("source_file")
STRAY_KIND = _kind("stray")
LINE_COMMENT_KIND = _kind("comment")
BLOCK_COMMENT_KIND = _kind("block_comment")
BYTES_KIND = _kind("float_bytes")


def declaration_tokens(node: Node, text: bytes) -> list[Token] | None:
    """Return the tokens and comments of a top-level node in order, or None where it is broken.

    Keywords and known activations are in lower case, everything else as it is written.
    """
    if node.kind_id == STRAY_KIND:
        return _stray_tokens(node, text)
    if node.has_error or _TABLES[FILE_KIND][0][node.kind_id] != _DESCEND:
        return None
    tokens: list[Token] = []
    above = []
    children: Iterator[Node] = iter((node,))
    roles, spellings = _TABLES[FILE_KIND]
    # No recursion: expressions may be nested to any depth.
    while True:
        for child in children:
            kind = child.kind_id
            role, spelling = roles[kind], spellings[kind]
            start, end = child.start_byte, child.end_byte
            if spelling is not None:
                # One that is missing has no length.
                if role < 0 or end - start != len(spelling):
                    return None
                tokens.append((role, spelling, start, end))
                continue
            if role == _VALUE:
                role = TUPLE if _PLAIN_TUPLE.match(text, start, end) else _DESCEND
            if role == _DESCEND:
                above.append((children, roles, spellings))
                inner = child.children
                if _SHAPES[kind] and not _is_whole(inner, _SHAPES[kind]):
                    return None
                children = iter(inner)
                roles, spellings = _TABLES[kind]
                break
            # A blank between two groups of eight digits would make two words of one.
            if kind == BYTES_KIND and tokens[-1][0] == WORD and tokens[-1][3] == start:
                return None
            word = text[start:end]
            if role:
                spelling = _spell(role, word, tokens)
                if spelling is None:
                    return None
                tokens.append((role if role != _NAME else WORD, spelling, start, end))
            else:
                tokens.append((WORD, word, start, end))
        else:
            if not above:
                return tokens if tokens[-1][0] in _LAST else None
            children, roles, spellings = above.pop()


def _spell(role: int, word: bytes, before: list[Token]) -> bytes | None:
    """Return the formatted spelling of a token with one of its own, None where it is wrong."""
    if role == TUPLE:
        return word.translate(None, _BLANKS).replace(b",", b", ")
    if role == _NAME:
        return _layer_word(word, before)
    if role == _FAULT or (role in _RIGHT and word != _RIGHT[role]):
        return None
    return word


def _stray_tokens(node: Node, text: bytes) -> list[Token] | None:
    """Return the token of a superfluous `;`; any other stray node is broken."""
    start, end = node.start_byte, node.end_byte
    return [(STRAY, b";", start, end)] if text[start:end] == b";" else None


def _is_whole(children: list[Node], counts: Sequence[int]) -> bool:
    """Return whether a node has as many children, without comments, as a complete one."""
    if len(children) in counts:
        return True
    comments = (LINE_COMMENT_KIND, BLOCK_COMMENT_KIND)
    return sum(child.kind_id not in comments for child in children) in counts


def _layer_word(word: bytes, before: list[Token]) -> bytes:
    """Return the spelling of a layer's name or, after its size, its activation."""
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
