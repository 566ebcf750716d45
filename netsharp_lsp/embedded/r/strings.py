"""String literals of R: their texts, and how a text is written in one of the same kind."""

from __future__ import annotations

import re

from netsharp_lsp.embedded.passage import Passage, Pieces, Unreserved
from netsharp_lsp.embedded.python.strings import character, line_end_of, translated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.embedded.passage import Form

#: Raw strings: the opening, with dashes that the end repeats.
RAW_OPENING = re.compile(rb"[rR](?P<quote>[\"'])(?P<dashes>-*)(?P<bracket>[(\[{])")
_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
_ESCAPE = re.compile(
    rb"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})"
    rb"|u(?:\{(?P<short>[0-9A-Fa-f]{1,4})\}|(?P<bare_short>[0-9A-Fa-f]{1,4}))"
    rb"|U(?:\{(?P<long>[0-9A-Fa-f]{1,8})\}|(?P<bare_long>[0-9A-Fa-f]{1,8}))"
    rb"|(?P<ended>\r\n|\r|\n)|(?P<other>[abfnrtv\\\"'` ]))"
)
_NUMBERS = (
    ("octal", 8),
    ("hex", 16),
    ("short", 16),
    ("bare_short", 16),
    ("long", 16),
    ("bare_long", 16),
)
_SIMPLE = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
}
_LINE_END = re.compile(rb"\r\n?|\n")


class QuotedForm(Unreserved):
    """A literal between quotes; `line_end` is how its lines end: as such, or as `\\n`."""

    __slots__ = ("_run", "line_end", "quote")

    own_lines = False

    def __init__(self, quote: bytes, line_end: bytes) -> None:
        self.quote = quote
        self.line_end = line_end
        self._run = re.compile(rb"[^\\\r\n" + quote + rb"]+")

    @property
    def one_line(self) -> bool:
        """Return whether lines end in it by escapes alone."""
        return self.line_end == b"\\n"

    def encode(self, text: str) -> str | None:
        """Return a text as it is written in this literal."""
        quote = self.quote.decode()
        table = {"\\": "\\\\", "\r": "\\r", quote: f"\\{quote}", "\n": self.line_end.decode()}
        return translated(text, table) if "\0" not in text else None

    def decode(self, written: bytes) -> bytes | None:
        """Return the text of a content, None where the literal would end in it."""
        pieces = self.read(written, 0, len(written))
        return b"".join(pieces.parts) if pieces is not None else None

    def read(self, source: bytes, at: int, end: int) -> Pieces | None:
        """Return the pieces of a content; None where it is not valid, or its text is not."""
        pieces = Pieces()
        while at < end:
            run = self._run.match(source, at, end)
            if run is not None:
                pieces.copy(at, run.group())
                at = run.end()
                continue
            found = _LINE_END.match(source, at, end) or _ESCAPE.match(source, at, end)
            unescaped = _unescaped(found) if found is not None else None
            if found is None or unescaped is None:
                return None
            pieces.put(at, unescaped)
            at = found.end()
        return pieces


class RawForm(Unreserved):
    """A raw literal, which `closing` ends; every character in it is literal."""

    __slots__ = ("closing", "line_end")

    own_lines = False
    one_line = False

    def __init__(self, closing: bytes, line_end: bytes) -> None:
        self.closing = closing
        self.line_end = line_end

    def encode(self, text: str) -> str | None:
        """Return a text as it is written in this literal."""
        return text.replace("\n", self.line_end.decode()) if "\0" not in text else None

    def decode(self, written: bytes) -> bytes | None:
        """Return the text of a content, None where the literal would end in it."""
        # The end of the literal may also begin in the content.
        if (written + self.closing).index(self.closing) < len(written):
            return None
        return b"".join(self.read(written, 0, len(written)).parts)

    def read(self, source: bytes, at: int, end: int) -> Pieces:
        """Return the pieces of a content."""
        pieces = Pieces()
        for found in _LINE_END.finditer(source, at, end):
            pieces.copy(at, source[at : found.start()])
            pieces.put(found.start(), b"\n")
            at = found.end()
        pieces.copy(at, source[at:end])
        return pieces


def raw_end(source: bytes, opening: re.Match[bytes]) -> tuple[int, bytes] | None:
    """Return the end of the content of a raw literal, and the closing bytes; None without any."""
    closing = _CLOSING[opening.group("bracket")] + opening.group("dashes") + opening.group("quote")
    at = source.find(closing, opening.end())
    return (at, closing) if at >= 0 else None


def read_literal(
    source: bytes, start: int, end: int, parent: Passage | None = None
) -> Passage | None:
    """Return the text of a literal from `start` to `end`; None where it is an error in R."""
    raw = RAW_OPENING.match(source, start)
    form: Form
    if raw is not None:
        ended = raw_end(source, raw)
        if ended is None:
            return None
        form = RawForm(ended[1], line_end_of(source, raw.end(), ended[0]))
        pieces = form.read(source, raw.end(), ended[0])
        return Passage(source, ended[0], pieces, form, parent)
    inside = start + 1, end - 1
    physical = _LINE_END.search(source, *inside) is not None
    line_end = line_end_of(source, *inside) if physical else b"\\n"
    quoted = QuotedForm(source[start : start + 1], line_end)
    read = quoted.read(source, *inside)
    return Passage(source, inside[1], read, quoted, parent) if read is not None else None


def _unescaped(found: re.Match[bytes]) -> bytes | None:
    """Return the text of a line end or an escape; None where it is not valid text."""
    if found.re is _LINE_END or found.group("ended"):
        return b"\n"
    for group, base in _NUMBERS:
        digits = found.group(group)
        if digits:
            number = int(digits, base)
            # A byte above ASCII is a part of a character at most; NUL ends a string.
            is_byte = group in ("octal", "hex") and number > 0x7F
            return character(number) if number and not is_byte else None
    other: bytes = found.group("other")
    return _SIMPLE.get(other, other)
