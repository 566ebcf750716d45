"""A value parsed as an array: `a:b*3:(c:d)`; the caller knows that an array is expected."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.brackets import Brackets
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.sources import Source
from netsharp_lsp.cntk.configuration.splitting import Splitter
from netsharp_lsp.cntk.configuration.traced import Piece, Traced, trim
from netsharp_lsp.text.remembered import Remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    #: The places of elements in their value, and the repetitions of each.
    _Spans = tuple[tuple[int, int, int], ...]

COLON, COMMA = 0x3A, 0x2C
#: More elements than that are not listed.
MOST = 100_000
#: One element, whatever separates: nothing in it separates, repeats or opens.
_PLAIN = re.compile(rb"[A-Za-z0-9_.]+\Z")
_COUNT = re.compile(rb"\s*[+-]?[0-9]+\Z")


#: Bytes of values that are kept with their elements, and what a short one counts at least.
KEPT, LEAST = 1 << 20, 64
_KNOWN: Remembered[tuple[_Spans | None]] = Remembered(KEPT)


class _Elements:
    __slots__ = ("_brackets", "_count", "_repeats", "_text", "found", "readable")

    def __init__(self, text: bytes, brackets: Brackets, repeats: bool) -> None:
        self._text = text
        self._brackets = brackets
        self._repeats = repeats
        self._count = 0
        #: The span of each, and its count.
        self.found: list[tuple[int, int, int]] = []
        self.readable = True

    def take(self, start: int, end: int) -> int | None:
        """Take one element and its count; the array ends after a `*` without a count."""
        text = self._text
        while start < end and text[start] in b" \t":
            start += 1
        if start == end:
            return end
        star = -1
        if self._repeats and self._brackets.partner(start) is None:
            star = text.find(b"*", start, end)
        if star < 0:
            self._add(start, end, 1)
            return end
        if star + 1 == end:
            return None
        return end if self._repeat((start, star), text[star + 1 : end].strip(b" \t")) else None

    def _repeat(self, value: tuple[int, int], count: bytes) -> bool:
        number = int(count) if _COUNT.match(count) and len(count) < 10 else None
        if number is None or self._count + number > MOST:
            self.readable = False
            return False
        self._add(*value, number)
        return True

    def _add(self, start: int, end: int, number: int) -> None:
        self.found.append((*trim(self._text, start, end), number))
        self._count += number


def elements(text: Traced, separator: int = COLON, repeats: bool = True) -> list[Traced] | None:
    """Return the elements of a value, one for a plain value; None where it cannot be parsed as an
    array.

    A call's arguments are parsed with a comma as `separator` for a function of MEL, which has no
    repeats.
    """
    if _PLAIN.match(text.text):
        return [text]
    spans = _spans(text.text, separator, repeats)
    if spans is None:
        return None
    found: list[Traced] = []
    for start, end, number in spans:
        found += [text.slice(start, end)] * number
    return found


def _spans(data: bytes, separator: int, repeats: bool) -> _Spans | None:
    """Return the spans of a value's elements and their counts; None where it is not an array.

    Most values of an edited text are as before, at other places.
    """
    key = (data, separator, repeats)
    known = _KNOWN.find(key)
    if known is None:
        text = Traced(data, [Piece(0, Source("", data), (0, len(data)), verbatim=True)])
        faults = TextFaults()
        brackets = Brackets(text, faults)
        reader = _Elements(data, brackets, repeats)
        Splitter(text, separator, brackets).run(reader.take)
        is_read = reader.readable and all(fault.severity != "error" for fault in faults)
        known = (tuple(reader.found) if is_read else None,)
        _KNOWN.keep(key, known, LEAST + len(data))
    return known[0]
