"""Text to `key = value` records, split as CNTK does; gives them no meaning."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.brackets import QUOTE, Brackets
from netsharp_lsp.cntk.configuration.faults import TextFault, TextFaults
from netsharp_lsp.cntk.configuration.splitting import Splitter
from netsharp_lsp.cntk.configuration.traced import Traced, trim
from netsharp_lsp.text.remembered import Remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    _Span = tuple[int, int]
    #: A record's key, value, kind, and value with its quotes.
    _Parts = tuple[_Span, _Span, str, _Span]

_KEY_END = re.compile(rb'[=\[{("]')
_SEMICOLON = 0x3B
_CLOSERS = b")]}"
#: What a key without a value means.
TRUE = b"true"
#: Bytes of blocks that are kept with their records, and what a short one counts at least.
KEPT, LEAST = 1 << 20, 256


class Record:
    """A key and its value in one text: spans of bytes without quotes, surrounding blanks cut.

    `kind` is "flag" (no value), "string" (in quotes), "block" (in brackets or braces) or "text".
    `whole` is the value with its quotes.
    """

    __slots__ = ("key", "kind", "text", "value", "whole")

    def __init__(
        self,
        text: Traced,
        key: tuple[int, int],
        value: tuple[int, int],
        kind: str,
        whole: tuple[int, int],
    ) -> None:
        self.text = text
        self.key = key
        self.value = value
        self.kind = kind
        self.whole = whole

    @property
    def name(self) -> bytes:
        """The key as it is spelt."""
        return self.text.text[self.key[0] : self.key[1]]

    @property
    def begins_block(self) -> bool:
        """Return whether the value begins with a square bracket, in quotes or not."""
        return self.kind != "flag" and self.text.text.startswith(b"[", *self.value)

    @property
    def is_empty(self) -> bool:
        """Return whether the value is empty between its quotes."""
        return self.kind != "flag" and self.value[0] == self.value[1]

    @property
    def content(self) -> Traced:
        """Return the value as CNTK keeps it."""
        if self.kind == "flag":
            return Traced(TRUE, self.text.slice(*self.key).pieces[:1])
        return self.text.slice(*self.value)


#: The parts of the records of texts without faults, by their bytes.
_KNOWN: Remembered[tuple[_Parts, ...]] = Remembered(KEPT)


def records(text: Traced, faults: TextFaults) -> list[Record]:
    """Return the records of a text, in order, without those that CNTK drops.

    A block that was parsed lately without faults is not parsed again: an edit leaves most
    unchanged, at other places.
    """
    known = _KNOWN.find(text.text)
    if known is not None:
        return [Record(text, *parts) for parts in known]
    own = TextFaults()
    reader = _Reader(text, own)
    Splitter(text, _SEMICOLON, reader.brackets).run(reader.take)
    for fault in own:
        faults.add(fault)
    if not own:
        parts = tuple([(one.key, one.value, one.kind, one.whole) for one in reader.found])
        _KNOWN.keep(text.text, parts, LEAST + len(text))
    return reader.found


class _Reader:
    __slots__ = ("_faults", "_text", "brackets", "found")

    def __init__(self, text: Traced, faults: TextFaults) -> None:
        self._text = text
        self._faults = faults
        self.brackets = Brackets(text, faults)
        self.found: list[Record] = []

    def take(self, start: int, end: int) -> int:
        """Read one record; return where it ends."""
        text = self._text.text
        sign = _KEY_END.search(text, start, end)
        if sign is None:
            self._flag(start, end)
            return end
        key = trim(text, start, sign.start())
        begin = sign.start() + (text[sign.start()] == 0x3D)
        while begin < len(text) and text[begin] in b" \t":
            begin += 1
        closing = self.brackets.partner(begin)
        if closing is None:
            self._bare(key, begin, end)
            return end
        return self._bracketed(key, begin, closing)

    def _flag(self, start: int, end: int) -> None:
        start, end = trim(self._text.text, start, end)
        if start == end:
            return
        if not self._text.text[start:end].strip(_CLOSERS):
            place = self._text.place(start, end)
            name = self._text.text[start:end].decode()
            message = f"'{name}' closes nothing; CNTK ignores it. Remove it."
            self._faults.add(TextFault("stray-bracket", message, place))
            return
        self.found.append(Record(self._text, (start, end), (start, end), "flag", (start, end)))

    def _bare(self, key: tuple[int, int], begin: int, end: int) -> None:
        value = trim(self._text.text, begin, end) if begin < end else (end, end)
        if key[0] == key[1]:
            return
        if value[0] == value[1]:
            name = self._text.text[key[0] : key[1]].decode("utf-8", "replace")
            message = f"'{name}' has no value: CNTK stops here. Give it one, or remove it."
            self._faults.add(TextFault("empty-value", message, self._text.place(*key)))
            return
        self.found.append(Record(self._text, key, value, "text", value))

    def _bracketed(self, key: tuple[int, int], begin: int, closing: int) -> int:
        text = self._text.text
        after = min(closing + 1, len(text))
        if key[0] == key[1]:
            return after
        value, kind = (begin, after), "text"
        if text[begin] == QUOTE:
            value, kind = trim(text, begin + 1, min(closing, len(text))), "string"
        elif text[begin] in b"[{":
            kind = "block"
        self.found.append(Record(self._text, key, value, kind, (begin, after)))
        return after


def is_block(text: bytes) -> bool:
    """Return whether a value begins as a block, which may also come from variables."""
    return text[:1] in (b"[", b"{") and text[-1:] in (b"]", b"}")
