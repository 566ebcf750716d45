"""String literals of Python: their texts, and how a text is written in one of the same kind."""

from __future__ import annotations

import re
from functools import lru_cache

from netsharp_lsp.embedded.passage import Passage, Pieces, Unreserved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


_OPENING = re.compile(rb"([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_PREFIXES = ("", "r", "u", "f", "fr", "rf")
_CHARACTER = rb"(?:[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]*)"
_ESCAPE = re.compile(
    rb"\\(?:(?P<ended>\r\n|\r|\n)|(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{2})"
    rb"|u(?P<short>[0-9A-Fa-f]{4})|U(?P<long>[0-9A-Fa-f]{8})|N\{(?P<name>[^}]*)\}"
    rb"|(?P<wrong>[xuUN])|(?P<other>" + _CHARACTER + rb"))"
)
_SIMPLE = {
    b"\\": b"\\",
    b"'": b"'",
    b'"': b'"',
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
}
_WRITTEN = {"\\": "\\\\", "\r": "\\r", "\0": "\\x00", "\f": "\\f"}


class PythonForm(Unreserved):
    """One kind of literal: its quotes, whether raw, whether an f-string, how its lines end."""

    __slots__ = ("_run", "formatted", "line_end", "quotes", "raw")

    own_lines = False

    def __init__(self, quotes: bytes, raw: bool, formatted: bool, line_end: bytes) -> None:
        self.quotes = quotes
        self.raw = raw
        self.formatted = formatted
        self.line_end = line_end
        braces = rb"{}" if formatted else b""
        self._run = re.compile(rb"[^\\\r\n" + braces + quotes[:1] + rb"]+")

    @property
    def one_line(self) -> bool:
        """Return whether no line may end inside the literal."""
        return not self.triple

    @property
    def triple(self) -> bool:
        """Return whether lines may end inside the literal."""
        return len(self.quotes) == 3

    def encode(self, text: str) -> str | None:
        """Return a text as it is written in this literal."""
        if self.formatted:
            text = text.replace("{", "{{").replace("}", "}}")
        if self.raw:
            return text.replace("\n", self.line_end.decode()) if self.triple else text
        quote = self.quotes[:1].decode()
        line_end = self.line_end.decode() if self.triple else "\\n"
        written = translated(text, _WRITTEN | {"\n": line_end})
        if not self.triple:
            return written.replace(quote, f"\\{quote}")
        # One alone inside three ends nothing.
        return re.sub(f"{quote}(?={quote}|\\Z)|(?<={quote}){quote}", f"\\\\{quote}", written)

    def decode(self, written: bytes) -> bytes | None:
        """Return the text of a content, None where the literal would end in it."""
        pieces = self.read(written, 0, len(written))
        return b"".join(pieces.parts) if pieces is not None else None

    def read(self, source: bytes, at: int, end: int) -> Pieces | None:
        """Return the pieces of a content; None where it is not valid, or its text is not."""
        pieces = Pieces()
        quote = self.quotes[:1]
        while at < end:
            run = self._run.match(source, at, end)
            if run is not None:
                pieces.copy(at, run.group())
                at = run.end()
                continue
            first = source[at : at + 1]
            if first == b"\\":
                step = self._escape(source, at, end, pieces)
            elif first == quote:
                step = self._quote(source, at, end, pieces)
            elif first in b"\r\n":
                step = self._line_end(source, at, end, pieces)
            else:
                step = _brace(source, at, end, pieces)
            if step is None:
                return None
            at += step
        return pieces

    def _escape(self, source: bytes, at: int, end: int, pieces: Pieces) -> int | None:
        escape = _ESCAPE.match(source, at, end)
        if escape is None:
            return None
        if self.raw:
            # The character after it cannot end the literal, and a line end may follow it.
            if escape.group("ended"):
                pieces.put(at, b"\\\n")
                return escape.end() - at
            is_brace = self.formatted and source[at + 1 : at + 2] in (b"{", b"}")
            length = 1 if is_brace else _first_length(source, at + 1) + 1
            pieces.put(at, source[at : at + length])
            return length
        unescaped = _unescaped(escape)
        if unescaped is None:
            return None
        pieces.put(at, unescaped)
        return escape.end() - at

    def _quote(self, source: bytes, at: int, end: int, pieces: Pieces) -> int | None:
        """Read one or two quotes inside three, but not as the last characters."""
        run = at
        while run < end and source[run : run + 1] == self.quotes[:1]:
            run += 1
        if not self.triple or run - at > 2 or run == end:
            return None
        pieces.put(at, source[at:run])
        return run - at

    def _line_end(self, source: bytes, at: int, end: int, pieces: Pieces) -> int | None:
        if not self.triple:
            return None
        length = 2 if source[at : min(at + 2, end)] == b"\r\n" else 1
        pieces.put(at, b"\n")
        return length


def read_literal(
    source: bytes, start: int, end: int, parent: Passage | None = None
) -> Passage | None:
    """Return the text of a literal from `start` to `end`; None for bytes, holes, invalid text."""
    opening = _OPENING.match(source, start)
    if opening is None:
        return None
    prefix, quotes = opening.group(1).decode().lower(), opening.group(2)
    inside = opening.end(), end - len(quotes)
    if prefix not in _PREFIXES or inside[1] < inside[0] or source[inside[1] : end] != quotes:
        return None
    form = PythonForm(quotes, "r" in prefix, "f" in prefix, line_end_of(source, *inside))
    pieces = form.read(source, *inside)
    return Passage(source, inside[1], pieces, form, parent) if pieces is not None else None


def translated(text: str, table: Mapping[str, str]) -> str:
    """Return a text with some of its characters replaced by others."""
    return "".join(table.get(character, character) for character in text)


def line_end_of(source: bytes, start: int, end: int) -> bytes:
    """Return the line end of a content, or else of the source."""
    for line_end in (b"\r\n", b"\n", b"\r"):
        if source.find(line_end, start, end) >= 0:
            return line_end
    return _line_end_of_all(source)


@lru_cache(maxsize=4)
def _line_end_of_all(source: bytes) -> bytes:
    return next((mark for mark in (b"\r\n", b"\n", b"\r") if mark in source), b"\n")


def _brace(source: bytes, at: int, end: int, pieces: Pieces) -> int | None:
    """Read a doubled brace of an f-string; a single one begins a hole."""
    if source[at : min(at + 2, end)] not in (b"{{", b"}}"):
        return None
    pieces.put(at, source[at : at + 1])
    return 2


def _unescaped(escape: re.Match[bytes]) -> bytes | None:
    """Return the text of an escape; None where it is an error in Python, or not valid text."""
    if escape.group("ended"):
        return b""
    if escape.group("wrong"):
        return None
    for group, base in (("octal", 8), ("hex", 16), ("short", 16), ("long", 16)):
        digits = escape.group(group)
        if digits:
            return character(int(digits, base))
    name = escape.group("name")
    if name is not None:
        return _named(name.decode("utf-8", "replace"))
    other: bytes = escape.group("other")
    return _SIMPLE.get(other, b"\\" + other)


def character(number: int) -> bytes | None:
    """Return a code point as UTF-8, None for surrogates and numbers beyond Unicode."""
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return None
    return chr(number).encode()


def _named(name: str) -> bytes | None:
    import unicodedata

    try:
        return unicodedata.lookup(name).encode()
    except KeyError:
        return None


def _first_length(source: bytes, at: int) -> int:
    """Return the length of the character at an offset."""
    found = re.compile(_CHARACTER).match(source, at)
    return len(found.group()) if found is not None else 1
