"""The contents of a host text: specifications, and texts in languages that are hosts themselves.

Plain values that readers of hosts return to `finding`, which reads the inner texts in turn.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netsharp_lsp.embedded.passage import Passage
    from netsharp_lsp.embedded.regions import Region
    from netsharp_lsp.text.lines import LineIndex


class HostLayer:
    """One text in a host language: a whole file, or the `passage` of another text with it."""

    __slots__ = ("passage", "text")

    def __init__(self, text: bytes, passage: Passage | None = None) -> None:
        self.text = text
        self.passage = passage

    def outermost(self, offset: int) -> int:
        """Return where a byte of the text begins in the file."""
        level = self.passage
        while level is not None:
            offset = level.outer(offset)
            level = level.parent
        return offset

    def has_unknown(self, start: int, end: int) -> bool:
        """Return whether a part between two bytes is known only when a host around it runs."""
        level = self.passage
        while level is not None:
            if level.has_unknown(start, end):
                return True
            start, end = level.outer(start), level.outer_end(end)
            level = level.parent
        return False

    def line_counter(self, lines: LineIndex) -> Callable[[int], int]:
        """Return a function from an offset to its line, from 1; `lines` are those of the file."""
        return lambda offset: lines.line_at(self.outermost(offset)) + 1


class CodeGroup:
    """Texts in one language that share their variables: the chunks of a document, or one alone.

    `query` is the query of a database for the rows that the code is given, where that is known.
    """

    __slots__ = ("language", "layers", "query")

    def __init__(
        self, language: str, layers: Sequence[HostLayer], query: bytes | None = None
    ) -> None:
        self.language = language
        self.layers = layers
        self.query = query


class Holding:
    """The contents of the texts of a program: specifications, and programs in other host languages.

    `unknown` are passages that are passed as specifications and composed at run time.
    """

    __slots__ = ("programs", "regions", "unknown")

    def __init__(self, regions: Sequence[Region] = (), programs: Sequence[CodeGroup] = ()) -> None:
        self.regions = list(regions)
        self.programs = list(programs)
        self.unknown: list[Passage] = []


def programs_of(chunks: Sequence[tuple[str, Passage]]) -> list[CodeGroup]:
    """Return one program for each language of chunks, each with the language that it is in."""
    return [
        CodeGroup(language, [HostLayer(one.text, one) for own, one in chunks if own == language])
        for language in sorted({language for language, _ in chunks})
    ]
