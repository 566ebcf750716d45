"""A text of one of CNTK's languages as an editor sees it: its syntax with absolute offsets, and the
stretches of BrainScript in it.  Knows no meaning: what a text does is a matter of its runs.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.reading.reader import read
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
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from netsharp_lsp.cntk.brainscript.reading.syntax import Script
    from netsharp_lsp.cntk.reading.syntax import Document, Record
    from netsharp_lsp.ide.answers import Range


class Island:
    """BrainScript from `start` to `end` of a text; places in its `script` count from `start`."""

    __slots__ = ("_script", "data", "end", "start")

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.data = data[start:end]
        self.start = start
        self.end = end
        self._script: Script | None = None

    @property
    def script(self) -> Script:
        """The stretch, parsed at the first use."""
        if self._script is None:
            self._script = parse(self.data)
        return self._script


class EditedText:
    """One version of a text in a `language` ("cntk", "brainscript", "ndl" or "mel")."""

    def __init__(self, language: str, data: bytes) -> None:
        self.language = language
        self.data = data

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the text."""
        return LineIndex(self.data)

    @cached_property
    def document(self) -> Document | None:
        """The records of a configuration, NDL or MEL; None for a file of BrainScript."""
        return None if self.language == "brainscript" else read(self.data)

    @cached_property
    def islands(self) -> list[Island]:
        """The stretches of BrainScript, in order: the whole of its file, the values of builders."""
        if self.document is None:
            return [Island(self.data, 0, len(self.data))]
        return [
            Island(self.data, node.start, node.end)
            for node in nodes_in(self.document.records)
            if isinstance(node, BuilderText)
        ]

    @cached_property
    def comments(self) -> list[Range]:
        """Every comment, in order."""
        found = [] if self.document is None else [(c.start, c.end) for c in self.document.comments]
        for island in self.islands:
            for comment in island.script.comments:
                place = comment.place
                found.append((island.start + place.start, island.start + place.end))
        return sorted(set(found))

    def comment_at(self, offset: int) -> Range | None:
        """The comment that an offset stands in."""
        at = bisect_right(self.comments, (offset, len(self.data))) - 1
        if at < 0 or offset >= self.comments[at][1]:
            return None
        return self.comments[at]

    def island_at(self, offset: int) -> Island | None:
        """The stretch of BrainScript that an offset stands in."""
        at = bisect_right([island.start for island in self.islands], offset) - 1
        if at < 0 or offset > self.islands[at].end:
            return None
        return self.islands[at]


def word_at(data: bytes, offset: int) -> tuple[str, int, int] | None:
    """The word that an offset stands in or at the end of, with its span."""
    start = end = offset
    while start > 0 and _in_word(data[start - 1 : start]):
        start -= 1
    while end < len(data) and _in_word(data[end : end + 1]):
        end += 1
    return (data[start:end].decode("utf-8", "replace"), start, end) if end > start else None


def _in_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_"


def nodes_in(records: tuple[Record, ...]) -> Iterator[Node]:
    """Every node below records, each before those inside it, in the order of the text."""
    waiting: list[Node | None] = list(reversed(records))
    while waiting:
        node = waiting.pop()
        if node is not None:
            yield node
            waiting += reversed(parts_of(node))


class GluedMacro(NamedTuple):
    """A macro whose body begins on a line of its own: the text alone reads it as two records."""

    call: ConfigurationCall
    body: Block


def glued_macros(records: Sequence[Record]) -> Iterator[GluedMacro]:
    """The macros of NDL among records whose bodies stand behind a line end."""
    for one, behind in pairwise(records):
        if (
            isinstance(one, ConfigurationCall)
            and isinstance(behind, Flag)
            and isinstance(behind.value, Block)
        ):
            yield GluedMacro(one, behind.value)


def parts_of(node: Node) -> tuple[Node | None, ...]:
    """The nodes right inside one, in order."""
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
    """The nodes that hold an offset, their ends included, from the outermost inwards."""
    waiting: list[Node | None] = [*reversed([*records])]
    while waiting:
        node = waiting.pop()
        if node is not None and node.start <= offset <= node.end:
            yield node
            waiting += reversed([*parts_of(node)])


def expressions_in(part: Any) -> Iterator[Any]:
    """Every part of a script that has a place, each before those inside it, in order."""
    waiting: list[Any] = [part]
    while waiting:
        one = waiting.pop()
        if hasattr(one, "place"):
            yield one
            waiting += reversed([value for value in one if isinstance(value, tuple)])
        elif isinstance(one, tuple) and not hasattr(one, "source"):
            waiting += reversed(one)
