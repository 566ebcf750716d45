"""Reading a stretch of a text by itself, and how far what was read holds for the whole text.

Top-level declarations stand one after another, and the scanner keeps no state and looks ahead
`AHEAD` characters at most: behind two declarations without a fault the parser is where it would
be in any text.  But faults near each other must be read together (`LINGER`).
"""

from __future__ import annotations

from itertools import pairwise

from netsharp_lsp.netsharp.reading.grammar import parse_tree
from netsharp_lsp.netsharp.reading.parser import read_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.netsharp.reading.comments import Span
    from netsharp_lsp.netsharp.reading.syntax import Declaration

#: How many characters the scanner reads ahead at most (`READ_LIMIT` of its source).
AHEAD = 1024
#: How many bytes a character has at most.
WIDEST = 4
#: Where a fault can be read in two ways that cost nearly the same, tree-sitter follows both for up
#: to 1800 nodes (its MAX_COST_DIFFERENCE), and another fault in between may turn its choice.
LINGER = 2000
#: What begins a comment only if the text goes on as it should, however far behind.
MARKUP, MARKUP_END = b"<!--", b"--"


class Window:
    """What stands in a stretch of a text; offsets are those of the whole text."""

    __slots__ = ("comments", "declarations", "end", "offsets", "start", "whole")

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.start = start
        self.end = end
        #: Whether the stretch goes on to the end of the text.
        self.whole = end == len(data)
        stretch = data if self.whole and not start else data[start:end]
        self.declarations, offsets, comments = read_pieces(stretch, parse_tree(stretch))
        self.offsets = [start + offset for offset in offsets]
        self.comments: list[Span] = [(start + a, start + b, kind) for a, b, kind in comments]

    def offset(self, position: int) -> int:
        """Where a declaration starts; behind the last one, the end of all that was read."""
        return self.offsets[position] if position < len(self.offsets) else self.end + 1

    def settled(self, data: bytes) -> Iterator[tuple[int, int]]:
        """The positions of declarations which, with the next, stand in the whole text as here.

        With each comes how many nodes lie between it and the last fault of the window.
        """
        since = LINGER
        for position, (one, other) in enumerate(pairwise(self.declarations)):
            end = self.offsets[position + 1] + other.end
            if not self.whole and end + reach(data, end, self.end) > self.end:
                return
            sound = not (one.doubtful or other.doubtful)
            if sound and (self.whole or position + 2 < len(self.declarations)):
                yield position, since
            since = 0 if one.faults else since + one.bulk


def nodes_to_fault(declarations: Iterable[Declaration]) -> int:
    """How many nodes the declarations have up to the first fault; `LINGER` stands for enough."""
    nodes = 0
    for declaration in declarations:
        if declaration.faults:
            return nodes
        nodes += declaration.bulk
        if nodes >= LINGER:
            break
    else:
        return LINGER
    return nodes


def reach(data: bytes, start: int, end: int) -> int:
    """How many bytes the scanner may read behind an offset, at most, in ``start:end``."""
    return AHEAD if data[start : min(end, start + AHEAD)].isascii() else AHEAD * WIDEST


def reach_back(data: bytes, end: int) -> int:
    """How many bytes before an offset the scanner may have read on to it."""
    return AHEAD if data[max(0, end - AHEAD) : end].isascii() else AHEAD * WIDEST


def safe_end(data: bytes, start: int, end: int) -> int:
    """The end of a stretch, moved on to where it is known whether markup in it is a comment."""
    opening = data.rfind(MARKUP, start, end)
    closing = data.find(MARKUP_END, opening + len(MARKUP)) if opening >= 0 else -1
    end = max(end, closing + AHEAD * WIDEST) if closing >= 0 else end
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return min(end, len(data))
