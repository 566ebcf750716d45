"""Parts of an edited text, parsed alone for requests at each keystroke, and its pieces: runs of
top-level declarations that keep what was derived from them while edits do not touch them.

Knows the trees of texts and no meaning. A part is used only where the parser gives its declarations
as they are in the whole text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache, cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tree_sitter import Query, QueryCursor

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.text.edits import common_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from tree_sitter import Language, Tree

    Parse = Callable[[bytes], Tree]
    #: The span of a declaration, and its type in the tree.
    Mark = tuple[int, int, str]

Kept = TypeVar("Kept")

#: Declarations on each side of a stretch that are parsed with it: the outermost must be as they
#: were, and those next to it have a say in what it is.
BESIDE = 4
#: Longer stretches are not worth it: the text is parsed as a whole.
LONGEST = 40_000
#: A piece ends with the first line after this number of bytes.
PIECE = 2_000
#: Text that can be typed and deleted without opening, closing or hiding anything after it.
_QUIET = re.compile(rb"[\w \t.,;:=+<>&|^%!\n-]*\Z")
#: Marks that the parser supplies or misses, so that what is read may rest on text far away.
_FAR = re.compile(r"missing_(?!operand)|unclosed_|wrong_")
_COMMENTS = frozenset(("comment", "block_comment", "\n"))


class Stretch(NamedTuple):
    """Bytes of a text from `start` on, parsed."""

    data: bytes
    start: int
    tree: Tree


class TextPiece:
    """Some declarations and the text after each: `size` bytes that begin with a line.

    `marks` count from its start, as does all that is `kept` for it, by key.
    """

    __slots__ = ("kept", "marks", "size")

    def __init__(self, size: int, marks: tuple[Mark, ...]) -> None:
        self.size = size
        self.marks = marks
        self.kept: dict[str, Any] = {}


class TextPieces:
    """A version of a text in which no declaration depends on text far from it, piece by piece."""

    def __init__(self, data: bytes, parse: Parse, pieces: Sequence[TextPiece]) -> None:
        self.data = data
        self.pieces = pieces
        self._parse = parse

    @classmethod
    def of(
        cls, data: bytes, tree: Tree, parse: Parse, before: TextPieces | None
    ) -> TextPieces | None:
        """Return the pieces of a text that was parsed as a whole; None where marks are missing in
        it.

        What an earlier version keeps is reused where nothing near has changed.
        """
        if not is_sound(tree):
            return None
        marks = _declarations(tree)
        if before is None:
            return cls(data, parse, [*_cut(data, 0, len(data), marks)])
        head, tail = common_ends(before.data, data)
        first, last = before.window(head, len(before.data) - tail, 2 * BESIDE)
        starts, grown = before.starts, len(data) - len(before.data)
        low, high = starts[first], starts[last + 1] + grown
        above = bisect_left(marks, low, key=_start)
        below = bisect_left(marks, high, key=_start)
        same_above = marks[:above] == [*before.marks(0, first, 0)]
        count = len(before.pieces)
        same_below = marks[below:] == [*before.marks(last + 1, count, grown)]
        if not (same_above and same_below) or low > high:
            return cls(data, parse, [*_cut(data, 0, len(data), marks)])
        between = _cut(data, low, high, marks[above:below])
        pieces = [*before.pieces[:first], *between, *before.pieces[last + 1 :]]
        return cls(data, parse, pieces)

    @cached_property
    def starts(self) -> list[int]:
        """Return the start of each piece, and the end of the last."""
        return [*accumulate((piece.size for piece in self.pieces), initial=0)]

    def marks(self, first: int, stop: int, moved: int) -> Iterator[Mark]:
        """Yield the declarations of some pieces, shifted by some bytes."""
        for number in range(first, stop):
            base = self.starts[number] + moved
            for start, end, kind in self.pieces[number].marks:
                yield start + base, end + base, kind

    def edited(self, data: bytes) -> TextPieces | None:
        """Return the pieces of a later version; None where they cannot be determined without the
        whole text.
        """
        old = self.data
        if data == old:
            return self
        head, tail = common_ends(old, data)
        low, high, grown = head, len(old) - tail, len(data) - len(old)
        if not (_QUIET.match(data[head : len(data) - tail]) and _QUIET.match(old[low:high])):
            return None
        first, last = self.window(low, high, 2 * BESIDE)
        marks = [*self.marks(first, last + 1, 0)]
        above, below = _beside(marks, low, high)
        begin = marks[above][0] if above is not None else 0
        stop = marks[below][1] if below is not None else len(old)
        found = self._parsed(data, begin, stop + grown)
        if found is None:
            return None
        again = [_moved(mark, begin) for mark in _declarations(found.tree)]
        if not again:
            return None
        if above is not None and again[0] != marks[above]:
            return None
        if below is not None and again[-1] != _moved(marks[below], grown):
            return None
        left = marks[:above] if above is not None else []
        right = marks[below + 1 :] if below is not None else []
        between = [*left, *again, *(_moved(mark, grown) for mark in right)]
        where = self.starts[first], self.starts[last + 1] + grown
        pieces = [*self.pieces[:first], *_cut(data, *where, between), *self.pieces[last + 1 :]]
        return TextPieces(data, self._parse, pieces)

    def stretch(self, start: int, end: int) -> Stretch | None:
        """Return the part to parse for some bytes, in which they have the same meaning as in the
        whole text.
        """
        first, last = self.window(start, end, BESIDE)
        marks = [*self.marks(first, last + 1, 0)]
        above, below = _beside(marks, start, end)
        begin = marks[above][0] if above is not None else 0
        stop = marks[below][1] if below is not None else len(self.data)
        found = self._parsed(self.data, begin, stop)
        if found is None:
            return None
        wanted = marks[above or 0 : len(marks) if below is None else below + 1]
        again = [_moved(mark, begin) for mark in _declarations(found.tree)]
        return found if again == wanted else None

    def kept(
        self,
        key: str,
        work: Callable[[Stretch, int, int], Kept],
        holds: Callable[[Kept], bool] = lambda known: True,
    ) -> list[tuple[int, Kept]] | None:
        """Return the value of `work` for each piece, with the start of the piece: the kept one, or
        for a piece that changed or whose value no longer `holds`, `work` of a part around the piece
        and the piece's ends in that.

        None where a piece cannot be parsed alone.
        """
        starts, found = self.starts, []
        for number, piece in enumerate(self.pieces):
            if key not in piece.kept or not holds(piece.kept[key]):
                raise_if_cancelled()
                low, high = starts[number], starts[number + 1]
                stretch = self.stretch(low, max(low, high - 1))
                if stretch is None:
                    return None
                ends = low - stretch.start, high - stretch.start
                piece.kept[key] = work(stretch, *ends)
            found.append((starts[number], piece.kept[key]))
        return found

    def window(self, low: int, high: int, beside: int) -> tuple[int, int]:
        """Return the first and last of the pieces that contain a part and `beside` declarations on
        each side of it, as far as there are any.
        """
        starts, pieces = self.starts, self.pieces
        first = min(max(0, bisect_right(starts, low) - 1), len(pieces) - 1)
        left = beside - sum(starts[first] + end < low for _, end, _ in pieces[first].marks)
        while left > 0 and first > 0:
            first -= 1
            left -= len(pieces[first].marks)
        last = max(first, min(bisect_left(starts, high, 1) - 1, len(pieces) - 1))
        left = beside - sum(starts[last] + start > high for start, _, _ in pieces[last].marks)
        while left > 0 and last < len(pieces) - 1:
            last += 1
            left -= len(pieces[last].marks)
        return first, last

    def _parsed(self, data: bytes, begin: int, stop: int) -> Stretch | None:
        """Return a parsed part of a text; None where it is too long, or marks are missing in it."""
        if stop - begin > LONGEST:
            return None
        found = data[begin:stop]
        tree = self._parse(found)
        return Stretch(found, begin, tree) if is_sound(tree) else None


def is_sound(tree: Tree) -> bool:
    """Return whether the meaning of a declaration depends on no text far after it."""
    root = tree.root_node
    return not (root.has_error or QueryCursor(_far(tree.language)).captures(root))


def _beside(marks: Sequence[Mark], low: int, high: int) -> tuple[int | None, int | None]:
    """Return the declarations `BESIDE` before and after a part; None where there are fewer."""
    above = bisect_left(marks, low, key=_end) - BESIDE
    below = bisect_right(marks, high, key=_start) + BESIDE - 1
    return above if above >= 0 else None, below if below < len(marks) else None


def _cut(data: bytes, start: int, end: int, marks: Iterable[Mark]) -> Iterator[TextPiece]:
    """Yield the pieces of a part of a text that contains these declarations."""
    held: list[Mark] = []
    begin = start
    for first, last, kind in marks:
        if held and first - begin >= PIECE:
            line = data.rfind(b"\n", begin, first) + 1
            if line > held[-1][1] + begin and not data[line:first].strip(b" \t"):
                yield TextPiece(line - begin, tuple(held))
                begin, held = line, []
        held.append((first - begin, last - begin, kind))
    yield TextPiece(end - begin, tuple(held))


def _start(mark: Mark) -> int:
    return mark[0]


def _end(mark: Mark) -> int:
    return mark[1]


def _moved(mark: Mark, by: int) -> Mark:
    return mark[0] + by, mark[1] + by, mark[2]


def _declarations(tree: Tree) -> list[Mark]:
    """Return the nodes at the top of a tree: span and type of each."""
    nodes = (node for node in tree.root_node.children if node.type not in _COMMENTS)
    return [(node.start_byte, node.end_byte, node.type) for node in nodes]


@cache
def _far(language: Language) -> Query:
    """Return the query that finds marks that the parser inserted."""
    kinds = {language.node_kind_for_id(number) for number in range(language.node_kind_count)}
    named = sorted(kind for kind in kinds if kind is not None and _FAR.match(kind))
    return Query(language, f"[{' '.join(f'({kind})' for kind in named)}] @far")
