"""Semantic tokens of a range of bytes: what each word, number and operator is.

It costs the range asked for and the items that reach into it, however long the text is.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from netsharp_engine.activations import NAMES
from netsharp_lsp.ide.answers import TOKEN_KINDS, TOKEN_MODIFIERS
from netsharp_lsp.netsharp.ide.standing import occurrences, parameters_of
from netsharp_lsp.netsharp.reading.expressions import operands
from netsharp_lsp.netsharp.reading.syntax import (
    Auto,
    Blob,
    BundleItem,
    Call,
    ConstantItem,
    LayerItem,
    Name,
    ShareItem,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.ide.answers import Range, Token
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import (
        Attribute,
        Declaration,
        Expression,
        Node,
        Specification,
    )

    #: What a word is: its kind and its modifiers, as numbers.
    Sense = tuple[int, int]

#: What has a meaning: comments, words, numbers, operators.
PIECE = re.compile(
    rb"(?P<comment>(?://|\#)[^\r\n]*|/\*(?s:.*?)(?:\*/|\Z)|<!--(?s:.*?)-->)"
    rb"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    rb"|(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?[A-Za-z0-9_]*)"
    rb"|(?P<macro>\.\.\.)"
    rb"|(?P<operator>=>|->|[=!<>]=|&&|\|\||[-+*/%^<>=!])"
)
LINE_END = re.compile(rb"\r\n|\n|\r")
#: How far back a token may begin before the range that it stands in.
REACH = 256
HEXADECIMAL = re.compile(rb"[0-9a-fA-F]{8}\Z")

KEYWORDS = frozenset(b"const input hidden output share from auto true false".split())
KIND_WORDS = frozenset(b"all where convolve max mean pool response norm".split())


def _sense(kind: str, *modifiers: str) -> Sense:
    return TOKEN_KINDS.index(kind), sum(1 << TOKEN_MODIFIERS.index(name) for name in modifiers)


KEYWORD = _sense("keyword")
KIND = _sense("enumMember")
COMMENT = _sense("comment")
NUMBER = _sense("number")
BUILT_IN = _sense("function", "defaultLibrary")
UNKNOWN_FUNCTION = _sense("function")
LAYER = _sense("class")
LAYER_DECLARED = _sense("class", "declaration")
LAYER_UNUSED = _sense("class", "declaration", "unused")
CONSTANT = _sense("variable", "readonly")
CONSTANT_DECLARED = _sense("variable", "declaration", "readonly")
CONSTANT_UNUSED = _sense("variable", "declaration", "readonly", "unused")
ATTRIBUTE = _sense("property")
PARAMETER = _sense("parameter")
PARAMETER_DECLARED = _sense("parameter", "declaration")
MACRO = _sense("macro")
PLAIN = {"number": NUMBER, "macro": MACRO, "operator": _sense("operator")}


def tokens_in(network: Network, start: int, end: int) -> list[Token]:
    """The tokens that begin in a range, in order and apart; none goes over a line end."""
    data = network.specification.data
    words = _Words(network, start, end)
    at = _token_start(data, start)
    found: list[Token] = []
    comment = network.specification.comments.around(at)
    if comment is not None:
        line = data.rfind(b"\n", 0, at) + 1
        found += _by_line(data, max(comment.start, line), comment.end)
        at = comment.end
    line_end = LINE_END.search(data, end)
    for match in PIECE.finditer(data, at, line_end.start() if line_end else len(data)):
        if match.lastgroup == "comment":
            found += _by_line(data, *match.span())
        else:
            sense = words.sense(match)
            if sense is not None:
                found.append((*match.span(), *sense))
    return [token for token in found if start <= token[0] < end]


def _token_start(data: bytes, offset: int) -> int:
    """Where the token that reaches over an offset may begin: at a line's start or after a blank."""
    floor = max(0, offset - REACH)
    line = max(data.rfind(b"\n", floor, offset), data.rfind(b"\r", floor, offset)) + 1
    if line or not floor:
        return line
    return max(data.rfind(mark, floor, offset) for mark in (b" ", b",", b"[")) + 1 or offset


def _by_line(data: bytes, start: int, end: int) -> Iterator[Token]:
    """A comment, one token for each line that it has anything on."""
    for match in LINE_END.finditer(data, start, end):
        if match.start() > start:
            yield (start, match.start(), *COMMENT)
        start = match.end()
    if end > start:
        yield (start, end, *COMMENT)


class _Words:
    """What the words in a range are, by where they begin."""

    def __init__(self, network: Network, start: int, end: int) -> None:
        self.network = network
        self.data = network.specification.data
        self.start, self.end = start, end
        self.senses: dict[int, Sense] = {}
        self.blobs: list[Range] = []
        self.parameters: tuple[str, ...] = ()
        for declaration in _declarations(network.specification, start, end):
            self.base = network.specification.starts[declaration]
            self._note(declaration)

    def sense(self, match: re.Match[bytes]) -> Sense | None:
        """What a word, number or operator is; None for a word that means nothing."""
        plain = PLAIN.get(match.lastgroup or "")
        if plain is not None:
            return plain
        found = self.senses.get(match.start())
        if found is not None:
            return found
        word = match[0].lower()
        if word in KEYWORDS:
            return KEYWORD
        if word in KIND_WORDS:
            return KIND
        in_blob = any(start <= match.start() < end for start, end in self.blobs)
        if in_blob:
            return NUMBER if HEXADECIMAL.match(word) else MACRO
        return None

    # Reading the syntax.

    def _say(self, name: Name | None, sense: Sense) -> None:
        if name is not None and name.end > name.start:
            self.senses[self.base + name.start] = sense

    def _near(self, nodes: Sequence[Node]) -> Iterator[Node]:
        """The nodes that reach into the range."""
        start, end = self.start - self.base, self.end - self.base
        at = bisect_right(nodes, start, key=lambda node: node.start)
        for node in nodes[max(at - 1, 0) :]:
            if node.start >= end:
                break
            yield node

    def _note(self, declaration: Declaration) -> None:
        if declaration.kind == "unknown" and declaration.keyword is not None:
            self._say(declaration.keyword, KEYWORD)
        for item in self._near(declaration.items):
            if isinstance(item, ConstantItem):
                self._constant(item)
            elif isinstance(item, LayerItem):
                self._layer(item)
            elif isinstance(item, BundleItem):
                self._bundle(item)
            elif isinstance(item, ShareItem):
                self._say(item.source if isinstance(item.source, Name) else None, LAYER)
                self._say(item.name, LAYER)

    def _constant(self, item: ConstantItem) -> None:
        used = self._is_used(item)
        self._say(item.name, CONSTANT_DECLARED if used else CONSTANT_UNUSED)
        self._expression(item.value)

    def _layer(self, item: LayerItem) -> None:
        read = self._is_read(item)
        self._say(item.name, LAYER_DECLARED if read else LAYER_UNUSED)
        if not isinstance(item.size, Auto):
            self._expression(item.size)
        self._function(item.activation)
        self._attributes(item.attributes)
        for bundle in self._near(item.bundles):
            if isinstance(bundle, BundleItem):
                self._bundle(bundle)

    def _bundle(self, item: BundleItem) -> None:
        self._say(item.source, LAYER)
        self._function(item.misplaced)
        predicate = item.predicate
        if predicate is not None:
            self._say(predicate.source, PARAMETER_DECLARED)
            self._say(predicate.destination, PARAMETER_DECLARED)
            self.parameters = parameters_of(predicate)
            self._expression(predicate.condition)
            self.parameters = ()
        self._attributes(item.attributes)

    def _attributes(self, attributes: Sequence[Attribute]) -> None:
        for attribute in attributes:
            self._say(attribute.name, ATTRIBUTE)
            self._expression(attribute.value)

    def _function(self, name: Name | None) -> None:
        known = name is not None and name.text.lower() in NAMES
        self._say(name, BUILT_IN if known else UNKNOWN_FUNCTION)

    def _expression(self, expression: Expression | None) -> None:
        if expression is None:
            return
        for node in operands((expression,)):
            if isinstance(node, Name):
                self._say(node, PARAMETER if node.text in self.parameters else CONSTANT)
            elif isinstance(node, Call):
                self._say(node.function, BUILT_IN)
            elif isinstance(node, Blob):
                self.blobs.append((self.base + node.start, self.base + node.end))

    # Who uses what; a text in doubt may hold uses that nobody could read.

    def _is_used(self, item: ConstantItem) -> bool:
        constant = self.network.constants.get(item.name.text)
        if constant is None or constant.item is not item or self.network.doubts.broken:
            return True
        return self._is_named(item, "constant")

    def _is_read(self, item: LayerItem) -> bool:
        layer = self.network.layers.get(item.name.text)
        if layer is None or layer.item is not item or self.network.doubts.broken:
            return True
        return layer.kind == "output" or self._is_named(item, "layer")

    def _is_named(self, item: ConstantItem | LayerItem, role: str) -> bool:
        """Whether something uses a name: what stands behind its declaration is asked first."""
        specification = self.network.specification
        for start in (self.base + item.end, 0):
            for found in occurrences(specification, item.name.text, start):
                holder = found.path[-2]
                sharing = isinstance(holder, ShareItem)
                if found.role == role and not sharing and found.leaf is not item.name:
                    return True
        return False


def _declarations(specification: Specification, start: int, end: int) -> Iterator[Declaration]:
    starts = specification.starts
    at = bisect_right(specification.declarations, start, key=starts.__getitem__)
    for declaration in specification.declarations[max(at - 1, 0) :]:
        if starts[declaration] >= end:
            break
        yield declaration
