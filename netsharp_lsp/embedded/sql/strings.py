"""String literals of T-SQL: their texts, and how a text is written in one of the same kind.

Source: Transact-SQL reference, "Constants" and "Backslash (Line Continuation)".
"""

from __future__ import annotations

import re

from netsharp_lsp.embedded.passage import Passage, Pieces, Unreserved
from netsharp_lsp.embedded.python.strings import line_end_of

_OPENING = re.compile(rb"[nN]?(['\"])")


class SqlForm(Unreserved):
    """A literal between `quote`s, each of which is doubled inside; lines end by `line_end`."""

    __slots__ = ("_step", "line_end", "quote")

    own_lines = False
    one_line = False

    def __init__(self, quote: bytes, line_end: bytes) -> None:
        self.quote = quote
        self.line_end = line_end
        self._step = re.compile(
            rb"(?P<run>(?:[^\\\r\n" + quote + rb"]|\\(?![\r\n]))++)"
            rb"|(?P<quote>" + quote + quote + rb")|(?P<joined>\\\r?\n)"
            rb"|(?P<line>\r\n?|\n)|(?P<back>\\)"
        )

    def encode(self, text: str) -> str | None:
        """Return `text` as it is written in this literal, None for text with a NUL."""
        if "\0" in text:
            return None
        quote, line_end = self.quote.decode(), self.line_end.decode()
        # What would join two lines is written as a backslash, joined lines, and a line end.
        written = text.replace(quote, quote * 2).replace("\\\n", "\\\\\n\n")
        return written.replace("\n", line_end)

    def decode(self, written: bytes) -> bytes | None:
        """Return the text of a content, None where the literal would end in it."""
        pieces = self.read(written, 0, len(written))
        return b"".join(pieces.parts) if pieces is not None else None

    def read(self, source: bytes, at: int, end: int) -> Pieces | None:
        """Return the pieces of a content, None where a quote in it ends the literal."""
        pieces = Pieces()
        while at < end:
            found = self._step.match(source, at, end)
            if found is None:
                return None
            kind = found.lastgroup
            if kind in ("run", "back"):
                pieces.copy(at, found.group())
            else:
                pieces.put(at, {"quote": self.quote, "line": b"\n"}.get(kind or "", b""))
            at = found.end()
        return pieces


def read_literal(
    source: bytes, start: int, end: int, parent: Passage | None = None
) -> Passage | None:
    """Return the text of a closed literal from `start` to `end`; None for other tokens."""
    opening = _OPENING.match(source, start, end)
    if opening is None or end - 1 < opening.end():
        return None
    inside = opening.end(), end - 1
    form = SqlForm(opening.group(1), line_end_of(source, *inside))
    pieces = form.read(source, *inside)
    return Passage(source, inside[1], pieces, form, parent) if pieces is not None else None
