"""Semantic tokens of a range of bytes: the kind of each word, number and mark.

A word's kind follows from its position in the tree; a bare value is classified by its words alone.
"""

from __future__ import annotations

import re
from functools import cache

from tree_sitter import Query, QueryCursor

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.brainscript.reading.grammar import LANGUAGE
from netsharp_lsp.cntk.ide.places.sections import Networks
from netsharp_lsp.cntk.vocabulary import KEYWORDS, PLAIN_TRUTHS, VARIABLE
from netsharp_lsp.ide.answers import TOKEN_KINDS, TOKEN_MODIFIERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Tree, TreeCursor

    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.ide.places.text import EditedText, Island
    from netsharp_lsp.ide.answers import Token

#: What leaves of the trees are, by their type.
_LEAVES = {
    "comment": "comment",
    "block_comment": "comment",
    "unclosed_comment": "comment",
    "string": "string",
    "unclosed_string": "string",
    "boolean": "enumMember",
    "number": "number",
    "variable": "macro",
    "key": "property",
    "argument_name": "parameter",
    "text": "value",
    "builder_text": "",
}
#: What a name is, by the type of what holds it and its field there; "" is any other field.
_NAMES = {
    ("member", "name"): "declaration",
    ("macro", "name"): "function declaration",
    ("call", "function"): "function",
    ("parameter", "name"): "parameter declaration",
    ("lambda", "parameter"): "parameter declaration",
    ("index_range", "name"): "parameter declaration",
    ("named_argument", "name"): "parameter",
    ("select", "name"): "property",
    ("new", "class"): "class",
    ("builder", "name"): "keyword",
}
_WORD = re.compile(r"[a-z]+\Z")
_OPERATOR = re.compile(r"(?:=>|[-+*/%<>=!&|.:]|\.\*|\*\*|[=!<>]=|&&|\|\||<<|>>|\.\.)\Z")
#: Marks that editors colour by themselves.
_QUIET = frozenset((".", ":", ",", ";"))
_VALUE = re.compile(
    b"(?P<macro>" + VARIABLE.pattern + b")"
    rb"|(?P<number>(?<![\w.])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))"
    rb"|(?P<enumMember>(?<![\w.])(?:true|false|True|False|TRUE|FALSE)(?![\w.]))"
    rb"|(?P<operator>[*:])"
    rb"|(?P<variable>[A-Za-z_][\w.]*)"
    rb"|(?P<string>[^\s:*$\w]+)"
)
#: Children before a range that are looked at.
BEFORE = 4
_LINE_END = re.compile(rb"\r\n|\n|\r")
#: Words that belong to BrainScript itself.
_KEYWORDS = frozenset(KEYWORDS).difference(PLAIN_TRUTHS)
_KINDS = {kind: number for number, kind in enumerate(TOKEN_KINDS)}
_MODIFIERS = {name: 1 << bit for bit, name in enumerate(TOKEN_MODIFIERS)}


def tokens_in(edited: Edited, start: int, end: int) -> list[Token]:
    """Return the tokens that begin in a range, in order and disjoint; none spans a line end."""
    found: list[Token] = []
    at = 0
    text, base = edited.text.around(start, end)
    start, end = start - base, end - base
    for first, last, kind, modifiers in sorted(_tokens(edited, text, start, end)):
        if start <= first < end and first >= at:
            for low, high in _lines(text.data, first, last):
                found.append((base + low, base + high, kind, modifiers))
            at = last
    return found


def _tokens(edited: Edited, text: EditedText, start: int, end: int) -> Iterator[Token]:
    """Yield the tokens of nodes that overlap a range of the text, or of a part of it."""
    document = text.document_between(start, end)
    if document is None or text.tree is None:
        islands = text.islands
    else:
        islands = text.islands_of(document)
        networks = Networks(edited, text.data, document)
        yield from _of_document(networks, text.tree, (text.data, start, end))
    for island in islands:
        if island.start < end and start < island.start + len(island.data):
            yield from _of_brainscript(island, start - island.start, end - island.start)


def _of_document(networks: Networks, tree: Tree, where: tuple[bytes, int, int]) -> Iterator[Token]:
    """Yield the tokens of a range of a configuration, NDL or MEL."""
    data, first, last = where
    named = False
    for holder, field, kind, start, end in _leaves(tree, first, last):
        meaning = networks.meaning(kind, start, end) or _meaning(holder, field, kind)
        if meaning == "value":
            yield from _values(data, (start, end), networks, named)
        elif meaning:
            yield from _with_variables(data, (start, end), 0, _numbers(meaning))
        named = kind == "argument_name" or (named and kind == "=")


def _of_brainscript(island: Island, first: int, last: int) -> Iterator[Token]:
    """Yield the tokens of a part in BrainScript."""
    data = island.data
    functions = _functions(island, first, last)
    around: list[tuple[int, frozenset[str]]] = []
    for holder, field, kind, start, end in _leaves(island.tree, first, last):
        while functions and functions[-1][0] <= start:
            _, stop, names = functions.pop()
            around.append((stop, names))
        around = [one for one in around if one[0] > start]
        meaning = _meaning(holder, field, kind)
        if meaning == "variable" and around:
            word = data[start:end].decode("utf-8", "replace")
            meaning = "parameter" if any(word in names for _, names in around) else meaning
        if meaning:
            yield from _with_variables(data, (start, end), island.start, _numbers(meaning))


def _functions(island: Island, first: int, last: int) -> list[tuple[int, int, frozenset[str]]]:
    """Return the spans of functions that overlap a range, and their parameters; the last comes
    first.
    """
    cursor = QueryCursor(_query())
    cursor.set_byte_range(max(0, first), max(1, last))
    found = []
    for node in cursor.captures(island.tree.root_node).get("function", ()):
        names = frozenset(
            island.data[name.start_byte : name.end_byte].decode("utf-8", "replace")
            for name in _parameters(node)
        )
        if names:
            found.append((node.start_byte, node.end_byte, names))
    return sorted(found, key=lambda one: one[:2], reverse=True)


def _parameters(function: Node) -> Iterator[Node]:
    """Yield the names of the parameters of a function."""
    held = function.child_by_field_name("parameters")
    for holder, field in ((function, "parameter"), *((one, "name") for one in _declared(held))):
        name = holder.child_by_field_name(field)
        if name is not None:
            yield name


def _declared(parameters: Node | None) -> list[Node]:
    children = [] if parameters is None else parameters.named_children
    return [one for one in children if one.type == "parameter"]


@cache
def _query() -> Query:
    return Query(LANGUAGE, "[(member (parameters)) (lambda)] @function")


def _values(data: bytes, span: tuple[int, int], networks: Networks, named: bool) -> Iterator[Token]:
    """Yield the tokens of a bare value; `named`: of an argument that is passed by name."""
    for match in _VALUE.finditer(data, *span):
        meaning = match.lastgroup or ""
        if meaning == "variable":
            meaning = networks.name(match.group(), match.start(), named)
        yield match.start(), match.end(), *_numbers(meaning)


def _numbers(meaning: str) -> tuple[int, int]:
    """Return a kind of token and its modifier as numbers."""
    word, _, modifier = meaning.partition(" ")
    return _KINDS[word], _MODIFIERS[modifier] if modifier else 0


def _meaning(holder: str, field: str, kind: str) -> str:
    """Return the kind of token of a leaf, followed by its modifier; empty for none."""
    if kind == "identifier" and (holder, field) == ("function_member", "name"):
        return "function declaration"
    name = _NAMES.get((holder, field))
    if name is not None and (kind in ("identifier", "key", "function_name")):
        return f"variable {name}" if name == "declaration" else name
    if kind == "identifier":
        return "variable"
    if kind in _LEAVES:
        return _LEAVES[kind]
    if _WORD.match(kind):
        return "keyword" if kind in _KEYWORDS else ""
    return "operator" if _OPERATOR.match(kind) and kind not in _QUIET else ""


def _leaves(tree: Tree, first: int, last: int) -> Iterator[tuple[str, str, str, int, int]]:
    """Yield the leaves in order: the type of the parent, the field in it, its type and span.

    A node before the range is yielded as a whole, without a type; one far outside of it not at all.
    """
    cursor = tree.walk()
    holders = [""]
    while True:
        raise_if_cancelled()
        node = cursor.node
        assert node is not None
        inner = node.child_count and node.type not in _LEAVES
        if inner and (node.end_byte <= first or node.start_byte >= last):
            yield holders[-1], "", "", node.start_byte, node.end_byte
        elif inner:
            function = node.type == "member" and node.child_by_field_name("parameters")
            holders.append("function_member" if function else node.type)
            _enter(cursor, node, first)
            continue
        elif node.end_byte > node.start_byte:
            field = cursor.field_name or ""
            yield holders[-1], field, node.type, node.start_byte, node.end_byte
        while node.start_byte >= last or not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            holders.pop()
            node = cursor.node
            assert node is not None


def _enter(cursor: TreeCursor, node: Node, first: int) -> None:
    """Go to the first child that may matter to a range: one shortly before it, since a name
    determines the kind of the value after its equals sign.
    """
    if node.start_byte >= first or cursor.goto_first_child_for_byte(first) is None:
        cursor.goto_first_child()
        return
    for _ in range(BEFORE):
        if not cursor.goto_previous_sibling():
            return


def _with_variables(
    data: bytes, span: tuple[int, int], base: int, meaning: tuple[int, int]
) -> Iterator[Token]:
    """Yield a token, split where it contains variables of a configuration."""
    at, end = span
    for match in VARIABLE.finditer(data, at, end):
        if match.start() > at:
            yield base + at, base + match.start(), *meaning
        yield base + match.start(), base + match.end(), _KINDS["macro"], 0
        at = match.end()
    if end > at:
        yield base + at, base + end, *meaning


def _lines(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a span that are on one line each."""
    at = start
    for match in _LINE_END.finditer(data, start, end):
        if match.start() > at:
            yield at, match.start()
        at = match.end()
    if end > at:
        yield at, end
