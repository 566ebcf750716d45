"""A text of one of CNTK's languages in an editor: its syntax with absolute offsets, and the parts
of it in BrainScript. Knows no meaning: that depends on its runs.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import QueryCursor

from netsharp_lsp.cntk.brainscript.reading.grammar import parse_tree as parse_brainscript
from netsharp_lsp.cntk.brainscript.reading.parser import comments_query
from netsharp_lsp.cntk.brainscript.reading.parser import read as read_brainscript
from netsharp_lsp.cntk.brainscript.reading.syntax import Member
from netsharp_lsp.cntk.ide.places.stretches import TextPieces
from netsharp_lsp.cntk.reading.grammar import parse_tree
from netsharp_lsp.cntk.reading.reader import read, read_between
from netsharp_lsp.cntk.reading.syntax import (
    Assignment,
    Block,
    BuilderText,
    ConfigurationCall,
    Flag,
    Joined,
    List,
    Macro,
    Named,
    Node,
    Stray,
)
from netsharp_lsp.text.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from tree_sitter import Tree

    from netsharp_lsp.cntk.brainscript.reading.syntax import Script
    from netsharp_lsp.cntk.ide.places.stretches import Stretch
    from netsharp_lsp.cntk.reading.syntax import Document, Record
    from netsharp_lsp.ide.answers import Range


class Island:
    """BrainScript from `start` to `end` of a text; places in it count from `start`."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.data = data[start:end]
        self.start = start
        self.end = end

    @cached_property
    def tree(self) -> Tree:
        """Return the part, parsed."""
        return parse_brainscript(self.data)

    @cached_property
    def comments(self) -> list[Range]:
        """Return the spans of comments in the text around it."""
        return self.comments_between(self.start, self.end)

    def comments_between(self, start: int, end: int) -> list[Range]:
        """Return the comments that overlap a part of the text around it."""
        cursor = QueryCursor(comments_query())
        cursor.set_byte_range(max(0, start - self.start), max(0, end - self.start))
        found = cursor.captures(self.tree.root_node).get("comment", ())
        return [(self.start + node.start_byte, self.start + node.end_byte) for node in found]

    @cached_property
    def script(self) -> Script:
        """Return the part as a script."""
        return read_brainscript(self.data, self.tree)


class EditedText:
    """One version of a text in a `language` ("cntk", "brainscript", "ndl" or "mel"); `before` are
    the pieces of an earlier one.
    """

    def __init__(self, language: str, data: bytes, before: TextPieces | None = None) -> None:
        self.language = language
        self.data = data
        self._before = before
        self._documents: dict[int, Document] = {}
        self._islands: dict[tuple[int, int], Island] = {}

    @classmethod
    def of_stretch(cls, language: str, stretch: Stretch) -> EditedText:
        """Return a part of a text as a text of its own."""
        text = cls(language, stretch.data)
        if language == "brainscript":
            vars(text._island(0, len(stretch.data)))["tree"] = stretch.tree
        else:
            vars(text)["tree"] = stretch.tree
        return text

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the text."""
        return LineIndex(self.data)

    @cached_property
    def document(self) -> Document | None:
        """Return the records of a configuration, NDL or MEL; None for a file of BrainScript."""
        return None if self.tree is None else read(self.data, self.tree)

    @cached_property
    def tree(self) -> Tree | None:
        """Return the syntax tree of the records; None for a file of BrainScript."""
        return None if self.language == "brainscript" else parse_tree(self.data)

    @cached_property
    def _followed(self) -> TextPieces | None:
        """Return the pieces of the text as far as those of an earlier version determine them."""
        return None if self._before is None else self._before.edited(self.data)

    @cached_property
    def pieces(self) -> TextPieces | None:
        """Return the text in pieces; None where marks are missing in it."""
        if self._followed is not None:
            return self._followed
        if self.language == "brainscript":
            whole, parse = self._island(0, len(self.data)).tree, parse_brainscript
        else:
            whole, parse = self.tree or parse_tree(self.data), parse_tree
        return TextPieces.of(self.data, whole, parse, self._before)

    @property
    def known_pieces(self) -> TextPieces | None:
        """Return the pieces of the text, or of an earlier version where this one has none or was
        never parsed as a whole.
        """
        if self._followed is not None or not self._is_parsed:
            return self._followed or self._before
        return self.pieces or self._before

    @property
    def _is_parsed(self) -> bool:
        """Return whether the whole text was parsed."""
        if self.language != "brainscript":
            return "tree" in vars(self)
        island = self._islands.get((0, len(self.data)))
        return island is not None and "tree" in vars(island)

    def around(self, start: int, end: int) -> tuple[EditedText, int]:
        """Return a text in which some bytes have the same meaning as in this one, and its start: a
        part of it where that is known to be enough.
        """
        found = None if self._followed is None else self._followed.stretch(start, end)
        if found is None:
            return self, 0
        return EditedText.of_stretch(self.language, found), found.start

    def document_between(self, start: int, end: int) -> Document | None:
        """Return the records that overlap a part, and some beside them."""
        return None if self.tree is None else read_between(self.data, self.tree, start, end)

    def document_at(self, offset: int) -> Document | None:
        """Return the records that contain an offset, and some beside them."""
        if offset not in self._documents:
            found = self.document_between(offset, offset)
            if found is None:
                return None
            self._documents[offset] = found
        return self._documents[offset]

    @cached_property
    def islands(self) -> list[Island]:
        """Return the parts in BrainScript, in order: the whole of its file, the values of
        builders.
        """
        return self.islands_of(self.document)

    def islands_of(self, document: Document | None) -> list[Island]:
        """Return the values of builders among records of the text; the whole text where it has
        none.
        """
        if document is None:
            return [self._island(0, len(self.data))]
        return [
            self._island(node.start, node.end)
            for node in nodes_in(document.records)
            if isinstance(node, BuilderText)
        ]

    def _island(self, start: int, end: int) -> Island:
        if (start, end) not in self._islands:
            self._islands[start, end] = Island(self.data, start, end)
        return self._islands[start, end]

    @cached_property
    def comments(self) -> list[Range]:
        """Return every comment, in order."""
        found = [] if self.document is None else [(c.start, c.end) for c in self.document.comments]
        for island in self.islands:
            found += island.comments
        return sorted(set(found))

    def comment_at(self, offset: int) -> Range | None:
        """Return the comment that contains an offset."""
        at = bisect_right(self.comments, (offset, len(self.data))) - 1
        if at < 0 or offset >= self.comments[at][1]:
            return None
        return self.comments[at]

    def comment_before(self, offset: int) -> Range | None:
        """Return the comment that contains the byte before an offset; only text near it is
        parsed.
        """
        text, base = self.around(offset, offset)
        if text is not self:
            found = text.comment_before(offset - base)
            return None if found is None else (found[0] + base, found[1] + base)
        document = self.document_at(offset)
        around = [] if document is None else [(c.start, c.end) for c in document.comments]
        for island in self.islands_of(document):
            if island.start < offset <= island.end:
                around += island.comments_between(offset - 1, offset)
        return next((one for one in around if one[0] < offset <= one[1]), None)

    def island_at(self, offset: int) -> Island | None:
        """Return the part in BrainScript that contains an offset."""
        islands = self.islands_of(self.document_at(offset))
        at = bisect_right([island.start for island in islands], offset) - 1
        if at < 0 or offset > islands[at].end:
            return None
        return islands[at]


def word_at(data: bytes, offset: int) -> tuple[str, int, int] | None:
    """Return the word that contains an offset or ends at it, with its span."""
    start = end = offset
    while start > 0 and _in_word(data[start - 1 : start]):
        start -= 1
    while end < len(data) and _in_word(data[end : end + 1]):
        end += 1
    return (data[start:end].decode("utf-8", "replace"), start, end) if end > start else None


def _in_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_"


def nodes_in(records: tuple[Record, ...]) -> Iterator[Node]:
    """Yield every node below records, each before those inside it, in the order of the text."""
    waiting: list[Node | None] = list(reversed(records))
    while waiting:
        node = waiting.pop()
        if node is not None:
            yield node
            waiting += reversed(parts_of(node))


class GluedMacro(NamedTuple):
    """A macro whose body begins on a line of its own: its text alone is parsed as two records."""

    call: ConfigurationCall
    body: Block


def glued_macros(records: Sequence[Record]) -> Iterator[GluedMacro]:
    """Yield the macros of NDL among records whose bodies follow a line end."""
    for one, following in pairwise(records):
        if (
            isinstance(one, ConfigurationCall)
            and isinstance(following, Flag)
            and isinstance(following.value, Block)
        ):
            yield GluedMacro(one, following.value)


def parts_of(node: Node) -> tuple[Node | None, ...]:
    """Return the direct children of a node, in order."""
    if isinstance(node, Assignment | Named):
        return node.name, node.value
    if isinstance(node, Macro):
        return node.name, node.parameters, node.body
    if isinstance(node, Block):
        return node.records
    if isinstance(node, List):
        return node.elements
    if isinstance(node, ConfigurationCall):
        return node.function, node.arguments
    if isinstance(node, Joined):
        return node.parts
    if isinstance(node, Flag) and not isinstance(node, Stray):
        return (node.value,)
    return ()


def nodes_at(records: Iterable[Node], offset: int) -> Iterator[Node]:
    """Yield the nodes that contain an offset or end at it, from the outermost inwards."""
    waiting: list[Node | None] = [*reversed([*records])]
    while waiting:
        node = waiting.pop()
        if node is not None and node.start <= offset <= node.end:
            yield node
            waiting += reversed([*parts_of(node)])


def expressions_at(script: Script, offset: int) -> Iterator[Any]:
    """Yield the same for the members that contain an offset or end at it, and those in them."""

    def holds(one: Any) -> bool:
        return not isinstance(one, Member) or one.place.start <= offset <= one.place.end

    return expressions_in(script, holds)


def expressions_in(part: Any, enters: Callable[[Any], bool] = lambda one: True) -> Iterator[Any]:
    """Yield every part of a script that has a place, each before those inside it, in order; those
    that are not entered are omitted with their contents.
    """
    waiting: list[Any] = [part]
    while waiting:
        one = waiting.pop()
        if not enters(one):
            continue
        if hasattr(one, "place"):
            yield one
            waiting += reversed([value for value in one if isinstance(value, tuple)])
        elif isinstance(one, tuple) and not hasattr(one, "source"):
            waiting += reversed(one)
