"""Semantic tokens of a range of bytes: the kind of each word, number and operator.

The cost of a range is that of the items that overlap it, however long the text is. The tokens of
whole declarations are kept from one version of a text to the next, since editors request all tokens
at each edit.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from weakref import WeakKeyDictionary

from netsharp_lsp.netsharp.ide.places.senses import COMMENT, UNUSED, Senses
from netsharp_lsp.netsharp.reading.syntax import ConstantItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.ide.answers import Token
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Declaration, LayerItem

#: What has a meaning: comments, words, numbers, operators.
PIECE = re.compile(
    rb"(?P<comment>(?://|\#)[^\r\n\0]*|/\*[^\0]*?(?:\*/|(?=\0)|\Z)|<!--[^\0]*?-->)"
    rb"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    rb"|(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?[A-Za-z0-9_]*)"
    rb"|(?P<macro>\.\.\.)"
    rb"|(?P<operator>=>|->|[=!<>]=|&&|\|\||[-+*/%^<>=!])"
)
LINE_END = re.compile(rb"\r\n|\n|\r")
#: How far back a token may begin before the range that it is in.
REACH = 256
#: Numbers of a token where tokens are kept.
SIZE = 4


class Kept:
    """The tokens of a declaration, relative to it, and where names are declared among them.

    They are valid as long as the text is the same, and what is beside it on its lines, since a
    piece may extend over an end: syntax alone does not tell comments apart.
    """

    __slots__ = ("around", "declared", "numbers")

    def __init__(self, around: tuple[int, bytes], tokens: list[Token], senses: Senses) -> None:
        self.around = around
        self.numbers = array("I", (number for token in tokens for number in token))
        items = ((at, senses.declared.get(token[0])) for at, token in enumerate(tokens))
        self.declared = [(at, item) for at, item in items if item is not None]

    def tokens(self, base: int, network: Network) -> list[Token]:
        """Return the tokens where the declaration starts at ``base``; unused names are marked."""
        columns = (self.numbers[column::SIZE] for column in range(SIZE))
        found = [
            (base + start, base + end, kind, modifiers)
            for start, end, kind, modifiers in zip(*columns, strict=True)
        ]
        for at, item in self.declared:
            if _is_unused(network, item):
                found[at] = (*found[at][:3], found[at][3] | UNUSED)
        return found


#: What was found of each network's declarations; a network goes through all versions of a text.
_KEPT: WeakKeyDictionary[Network, dict[Declaration, Kept]] = WeakKeyDictionary()


def tokens_in(network: Network, start: int, end: int) -> list[Token]:
    """Return the tokens that begin in a range, in order and apart, none over a line end."""
    specification = network.specification
    kept = _KEPT.setdefault(network, {})
    found: list[Token] = []
    at = start
    for declaration in _declarations(specification, start, end):
        base = specification.starts[declaration]
        stop = base + declaration.end
        found += _between(specification, at, base)
        if base >= start and stop <= end:
            found += _whole(network, declaration, kept)
        elif stop > start:
            found += _part(network, declaration, max(base, start), min(stop, end))
        at = max(at, min(stop, end))
    found += _between(specification, at, end)
    if len(kept) > 2 * len(specification.declarations):
        _KEPT[network] = {one: kept[one] for one in specification.declarations if one in kept}
    return found


def _declarations(specification: Specification, start: int, end: int) -> Iterator[Declaration]:
    """Yield the declarations that overlap a range."""
    starts = specification.starts
    at = bisect_right(specification.declarations, start, key=starts.__getitem__)
    for declaration in specification.declarations[max(at - 1, 0) :]:
        if starts[declaration] >= end:
            break
        yield declaration


def _between(specification: Specification, start: int, end: int) -> Iterator[Token]:
    """Yield the tokens between declarations, which are comments alone."""
    if start < end and not specification.data[start:end].isspace():
        for kind, piece_start, piece_end in _pieces(specification, start, end):
            if kind == "comment":
                yield (piece_start, piece_end, *COMMENT)


def _whole(
    network: Network, declaration: Declaration, kept: dict[Declaration, Kept]
) -> list[Token]:
    """Return the tokens of a declaration, computed once."""
    specification = network.specification
    base = specification.starts[declaration]
    around = _around(specification.data, base, base + declaration.end)
    known = kept.get(declaration)
    if known is None or known.around != around:
        senses = Senses.of(declaration, 0, declaration.end)
        tokens = _relative(specification, declaration, senses)
        known = kept[declaration] = Kept(around, tokens, senses)
    return known.tokens(base, network)


def _around(data: bytes, start: int, end: int) -> tuple[int, bytes]:
    """Return a stretch with what may be of one piece with it, and how far that begins before it."""
    first = _piece_start(data, start)
    line_end = LINE_END.search(data, end, end + REACH)
    last = end + REACH if line_end is None else line_end.start()
    return start - first, data[first:last]


def _part(network: Network, declaration: Declaration, start: int, end: int) -> list[Token]:
    """Return the tokens of a part of a declaration."""
    base = network.specification.starts[declaration]
    senses = Senses.of(declaration, start - base, end - base)
    return Kept((0, b""), _relative(network.specification, declaration, senses), senses).tokens(
        base, network
    )


def _relative(
    specification: Specification, declaration: Declaration, senses: Senses
) -> list[Token]:
    """Return the tokens of a piece of a declaration, relative to it."""
    data, base = specification.data, specification.starts[declaration]
    found: list[Token] = []
    for kind, start, end in _pieces(specification, base + senses.start, base + senses.end):
        word = data[start:end] if kind == "word" else b""
        sense = COMMENT if kind == "comment" else senses.at(kind, word, start - base)
        if sense is not None:
            found.append((start - base, end - base, *sense))
    return found


def _is_unused(network: Network, item: ConstantItem | LayerItem) -> bool:
    """Return whether a declaration is unused; unparsed text may contain uses."""
    if network.doubts.broken:
        return False
    if isinstance(item, ConstantItem):
        constant = network.constants.get(item.name.text)
        return constant is not None and constant.item is item and not network.is_used(constant)
    layer = network.layers.get(item.name.text)
    if layer is None or layer.item is not item or layer.kind == "output":
        return False
    return not network.is_read(layer)


# From bytes to pieces.


def _pieces(specification: Specification, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield the pieces that begin in a range, each with its kind; comments line by line."""
    data = specification.data
    at = _piece_start(data, start)
    comment = specification.comments.around(at)
    if comment is not None:
        line = data.rfind(b"\n", 0, at) + 1
        yield from _lines(data, max(comment.start, line), comment.end, (start, end))
        at = comment.end
    for match in PIECE.finditer(data, at):
        if match.start() >= end:
            break
        if match.lastgroup == "comment":
            yield from _lines(data, *match.span(), (start, end))
        elif match.start() >= start:
            yield (match.lastgroup or "", *match.span())


def _piece_start(data: bytes, offset: int) -> int:
    """Return where a piece over an offset may begin: at a line's start or after a blank."""
    floor = max(0, offset - REACH)
    line = max(data.rfind(b"\n", floor, offset), data.rfind(b"\r", floor, offset)) + 1
    if line or not floor:
        return line
    return max(data.rfind(mark, floor, offset) for mark in (b" ", b",", b"[")) + 1 or offset


def _lines(
    data: bytes, start: int, end: int, within: tuple[int, int]
) -> Iterator[tuple[str, int, int]]:
    """Yield the parts of a comment on each of its lines that begin in a range, without blanks."""
    ends = [(match.start(), match.end()) for match in LINE_END.finditer(data, start, end)]
    for line_end, after in (*ends, (end, end)):
        if line_end > start and within[0] <= start < within[1]:
            yield "comment", start, line_end
        start = after
