"""A specification inside a host text: its place, name and context."""

from __future__ import annotations

from netsharp_lsp.context import Context
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.embedded.passage import Passage
    from netsharp_lsp.text.edits import Edit


class Region:
    """One specification inside a host text; offsets of the host are outer, of its text inner.

    `name`: its variable, chunk label or cell tag; None where it has none. `language`: the id of its
    language. `context`: what the call around it specifies. `editable`: whether all of it can be
    rewritten; else `reason` says why not, as the end of a sentence ("it is put together by
    paste0"), and only what is within one of its literals can be changed.
    """

    __slots__ = ("_lines", "context", "language", "name", "passage", "reason")

    def __init__(
        self,
        passage: Passage,
        name: str | None = None,
        context: Context | None = None,
        reason: str = "",
    ) -> None:
        self.passage = passage
        self.name = name
        self.language = "netsharp"
        self.context = context if context is not None else Context()
        self.reason = reason
        self._lines: LineIndex | None = None

    @property
    def editable(self) -> bool:
        """Return whether all of it can be rewritten."""
        return not self.reason

    @property
    def text(self) -> bytes:
        """Return the specification, escapes decoded, lines ended by LF."""
        return self.passage.text

    @property
    def lines(self) -> LineIndex:
        """Return the lines of the text."""
        if self._lines is None:
            self._lines = LineIndex(self.text)
        return self._lines

    @property
    def start(self) -> int:
        """Return where the content begins in the host."""
        offset = self.passage.start
        for passage in self._chain()[1:]:
            offset = passage.outer(offset)
        return offset

    @property
    def end(self) -> int:
        """Return where the content ends in the host."""
        offset = self.passage.end
        for passage in self._chain()[1:]:
            offset = passage.outer_end(offset)
        return offset

    def outer(self, inner: int) -> int:
        """Return where a byte of the text begins in the host; after the last one, where it ends.

        Another string of a host may begin there, which is outside.
        """
        if inner >= len(self.text):
            return self.end
        offset = inner
        for passage in self._chain():
            offset = passage.outer(offset)
        return offset

    def outer_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the host of a span of the text."""
        if start >= end:
            offset = self.outer(start)
            return offset, offset
        left, right = start, end
        for passage in self._chain():
            left, right = passage.outer(left), passage.outer_end(right)
        return left, right

    def inner(self, outer: int) -> int | None:
        """Return the offset in the text of an offset in the host, None outside the content."""
        if not self.start <= outer <= self.end:
            return None
        offset: int | None = outer
        for passage in reversed(self._chain()):
            offset = passage.inner(offset) if offset is not None else None
        return offset

    def outer_edits(self, edits: Sequence[Edit]) -> list[Edit] | None:
        """Return edits of the host that make these edits of the text, None where impossible."""
        made: list[Edit] | None = list(edits)
        for passage in self._chain():
            made = passage.edits(made) if made is not None else None
        return made

    def _chain(self) -> list[Passage]:
        """Return the passages from the text outwards to the host."""
        chain = [self.passage]
        while (parent := chain[-1].parent) is not None:
            chain.append(parent)
        return chain
