"""JSON with positions: the span of each value of a text, and strings as passages of that text.

Reads texts that `json` accepts; knows nothing of notebooks.
"""

from __future__ import annotations

import json
import re

from netsharp_lsp.embedded.passage import Passage, Pieces, Unreserved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]|[^\s{}\[\],:"]+')
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)"
)
#: The characters of the escapes of one letter.
_ESCAPES = {
    b"\\" + written: unescaped
    for written, unescaped in zip(
        (b'"', b"\\", b"/", b"b", b"f", b"n", b"r", b"t"),
        (b'"', b"\\", b"/", b"\b", b"\f", b"\n", b"\r", b"\t"),
        strict=True,
    )
}


class Value:
    """A value and its span; the values inside it, an object's keys and values in turn."""

    __slots__ = ("end", "kind", "source", "start", "values")

    def __init__(self, source: bytes, kind: str, start: int, end: int) -> None:
        self.source = source
        self.kind = kind
        self.start = start
        self.end = end
        self.values: list[Value] = []

    def get(self, key: str) -> Value | None:
        """Return an object's value by its key, None where there is none."""
        if self.kind != "{":
            return None
        pairs = zip(self.values[::2], self.values[1::2], strict=True)
        return next((value for name, value in pairs if name.string() == key), None)

    def string(self) -> str | None:
        """Return a string's text, None for any other value."""
        if self.kind != '"':
            return None
        written = self.source[self.start : self.end]
        if b"\\" not in written:
            return written[1:-1].decode("utf-8", "surrogatepass")
        text: str = json.loads(written)
        return text

    def at(self, *keys: str) -> str | None:
        """Return the string at a path of keys, None where there is none."""
        value: Value | None = self
        for key in keys:
            value = value.get(key) if value is not None else None
        return value.string() if value is not None else None


def read_json(data: bytes) -> Value | None:
    """Return the places of a JSON text, None where it is not valid."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return None
    top = Value(data, "[", 0, len(data))
    around = [top]
    for token in _TOKEN.finditer(data):
        first = data[token.start() : token.start() + 1].decode("ascii", "replace")
        if first in "}]":
            around.pop().end = token.end()
            continue
        value = Value(data, first, token.start(), token.end())
        around[-1].values.append(value)
        if first in "{[":
            around.append(value)
    return top.values[0]


class StringsForm(Unreserved):
    """A text in one string, or in a list of strings with `between` from one to the next."""

    __slots__ = ("between",)

    own_lines = True
    one_line = False

    def __init__(self, between: bytes) -> None:
        self.between = between

    def encode(self, text: str) -> str | None:
        """Return a text as it is written; each line is a string of its own in a list."""
        line_end = "\\n" + self.between.decode()
        return line_end.join(
            json.dumps(line, ensure_ascii=False)[1:-1] for line in text.split("\n")
        )

    def decode(self, written: bytes) -> bytes | None:
        """Return the text of a content, None where its strings are not well formed."""
        try:
            strings = json.loads(b'["' + written + b'"]')
        except ValueError:
            return None
        if not all(isinstance(string, str) for string in strings):
            return None
        if not self.between and len(strings) > 1:
            return None
        try:
            return "".join(strings).encode()
        except UnicodeEncodeError:
            return None


def read_strings(value: Value, parent: Passage | None = None) -> Passage | None:
    """Return the text of a string, or of a list of strings; None for other values.

    `parent` is the passage with the JSON, where that is a text in another one.
    """
    strings = value.values if value.kind == "[" else [value]
    if not strings or any(string.kind != '"' for string in strings):
        return None
    pieces = Pieces()
    for number, string in enumerate(strings):
        following = strings[number + 1].start + 1 if number + 1 < len(strings) else None
        if not _read_string(string, following, pieces):
            return None
    form = StringsForm(_between(value, strings))
    return Passage(value.source, strings[-1].end - 1, pieces, form, parent)


def _between(value: Value, strings: Sequence[Value]) -> bytes:
    """Return the bytes from the end of one line's string to the beginning of the next one's."""
    if value.kind != "[":
        return b""
    if len(strings) > 1:
        return value.source[strings[0].end - 1 : strings[1].start + 1]
    return b'",' + value.source[value.start + 1 : strings[0].start + 1]


def _unescaped(escape: bytes) -> bytes | None:
    """Return the text of an escape, None for a lone surrogate."""
    unescaped = _ESCAPES.get(escape)
    if unescaped is not None:
        return unescaped
    try:
        return str(json.loads(b'"' + escape + b'"')).encode()
    except UnicodeEncodeError:
        return None


def _read_string(string: Value, following: int | None, pieces: Pieces) -> bool:
    """Add the text of a string; its last line end extends to the next string's content."""
    source, at, end = string.source, string.start + 1, string.end - 1
    for escape in _ESCAPE.finditer(source, at, end):
        pieces.copy(at, source[at : escape.start()])
        at = escape.end()
        unescaped = _unescaped(escape.group())
        if unescaped is None:
            return False
        pieces.put(escape.start(), unescaped)
        if at == end and unescaped == b"\n":
            return True
    pieces.copy(at, source[at:end])
    if following is not None:
        pieces.put(end, b"")
    return True
