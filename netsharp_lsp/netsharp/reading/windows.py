"""Parsing a stretch of a text by itself, and which of its declarations hold for the whole text.

Top-level declarations follow each other, and the scanner keeps no state and looks ahead `AHEAD`
characters at most: after two declarations in which no text was lost (a mark that is supplied loses
none) the parser is where it would be in any text. But torn ones near each other must be parsed
together (`LINGER`).
"""

from __future__ import annotations

from functools import partial

from netsharp_lsp.netsharp.reading.grammar import parse_tree
from netsharp_lsp.netsharp.reading.parser import declarations_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tree_sitter import Node as TreeNode

    from netsharp_lsp.netsharp.reading.comments import Span
    from netsharp_lsp.netsharp.reading.syntax import Declaration

    #: The earlier declaration at an offset, of some bytes and nodes, and the comments in it; None
    #: where it may have to be read again.
    Again = Callable[[int, int, int], tuple[Declaration, list[Span]] | None]

#: How many characters the scanner reads ahead at most (`READ_LIMIT` of its source).
AHEAD = 1024
#: How many bytes a character has at most.
WIDEST = 4
#: Where torn text can be read in two ways that cost nearly the same, tree-sitter follows both for
#: up to 1800 nodes (its MAX_COST_DIFFERENCE), and another tear in between may turn its choice.
LINGER = 2000
#: What begins a comment only if the text continues as it should, however far away.
MARKUP, MARKUP_END = b"<!--", b"--"


class Window:
    """The declarations of a stretch of a text; offsets are those of the whole text.

    They are read out of its tree on request, except for those that `again` returns.
    """

    __slots__ = ("_comments", "_rest", "declarations", "end", "offsets", "start", "whole")

    def __init__(self, data: bytes, start: int, end: int, again: Again | None = None) -> None:
        self.start = start
        self.end = end
        #: Whether the stretch extends to the end of the text.
        self.whole = end == len(data)
        stretch = data if self.whole and not start else data[start:end]
        self.declarations: list[Declaration] = []
        self.offsets: list[int] = []
        self._comments: list[Span] = []
        # A method of its own would keep the window alive.
        known = None if again is None else partial(_known, again, start, self._comments)
        self._rest = declarations_of(stretch, parse_tree(stretch), self._comments, known)

    def has(self, position: int) -> bool:
        """Return whether there is a declaration at a position."""
        while len(self.declarations) <= position:
            found = next(self._rest, None)
            if found is None:
                return False
            self.declarations.append(found[0])
            self.offsets.append(self.start + found[1])
        return True

    def count(self) -> int:
        """Return the number of declarations."""
        while self.has(len(self.declarations)):
            pass
        return len(self.declarations)

    def offset(self, position: int) -> int:
        """Return where a declaration starts; past the last one, the end of the stretch."""
        return self.offsets[position] if self.has(position) else self.end + 1

    def comments(self, position: int) -> list[Span]:
        """Return the comments before a declaration."""
        start, stop = self.start, self.offset(position)
        spans = ((start + a, start + b, kind) for a, b, kind in self._comments)
        return [span for span in spans if span[0] < stop]

    def final_positions(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield the positions of declarations which, with the next, are the same in the whole text.

        With each comes the number of nodes between it and the last tear of the window.
        """
        position, since = 0, LINGER
        while self.has(position + 1):
            one, other = self.declarations[position : position + 2]
            end = self.offsets[position + 1] + other.end
            if not self.whole and end + reach(data, end, self.end) > self.end:
                return
            in_step = not (one.astray or other.astray)
            if in_step and (self.whole or self.has(position + 2)):
                yield position, since
            since = 0 if one.torn else since + one.bulk
            position += 1


def _known(again: Again, start: int, comments: list[Span], node: TreeNode) -> Declaration | None:
    """Return the earlier declaration of a node of a stretch; its comments are noted with it."""
    if node.has_error:
        return None
    at = start + node.start_byte
    found = again(at, node.end_byte - node.start_byte, node.descendant_count)
    if found is None:
        return None
    comments += [(first + at - start, last + at - start, kind) for first, last, kind in found[1]]
    return found[0]


def nodes_to_tear(declarations: Iterable[Declaration]) -> int:
    """Return the number of nodes up to the first torn declaration, at most `LINGER`."""
    nodes = 0
    for declaration in declarations:
        if declaration.torn:
            return nodes
        nodes += declaration.bulk
        if nodes >= LINGER:
            break
    else:
        return LINGER
    return nodes


def reach(data: bytes, start: int, end: int) -> int:
    """Return the most bytes that the scanner may read after an offset in ``start:end``."""
    return AHEAD if data[start : min(end, start + AHEAD)].isascii() else AHEAD * WIDEST


def reach_back(data: bytes, end: int) -> int:
    """Return the most bytes before an offset from which the scanner may have read up to it."""
    return AHEAD if data[max(0, end - AHEAD) : end].isascii() else AHEAD * WIDEST


def safe_end(data: bytes, start: int, end: int) -> int:
    """Return the end of a stretch, moved to where it is known whether its markup is a comment."""
    opening = data.rfind(MARKUP, start, end)
    closing = data.find(MARKUP_END, opening + len(MARKUP)) if opening >= 0 else -1
    end = max(end, closing + AHEAD * WIDEST) if closing >= 0 else end
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return min(end, len(data))
