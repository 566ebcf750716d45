"""A value read as an array: `a:b*3:(c:d)`; whoever asks knows that an array is meant."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.brackets import Brackets
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.splitting import Splitter
from netsharp_lsp.cntk.configuration.traced import Traced, trim

COLON, COMMA = 0x3A, 0x2C
#: More elements than that are not listed.
MOST = 100_000
#: One element, whatever separates: nothing in it separates, repeats or opens.
_PLAIN = re.compile(rb"[A-Za-z0-9_.]+\Z")
_COUNT = re.compile(rb"\s*[+-]?[0-9]+\Z")


class _Elements:
    __slots__ = ("_brackets", "_repeats", "_text", "found", "readable")

    def __init__(self, text: Traced, brackets: Brackets, repeats: bool) -> None:
        self._text = text
        self._brackets = brackets
        self._repeats = repeats
        self.found: list[Traced] = []
        self.readable = True

    def take(self, start: int, end: int) -> int | None:
        """Read one element and its count; without anything behind `*` the array ends."""
        text = self._text.text
        while start < end and text[start] in b" \t":
            start += 1
        if start == end:
            return end
        star = -1
        if self._repeats and self._brackets.partner(start) is None:
            star = text.find(b"*", start, end)
        if star < 0:
            self.found.append(self._text.slice(*trim(text, start, end)))
            return end
        if star + 1 == end:
            return None
        return end if self._repeat((start, star), text[star + 1 : end].strip(b" \t")) else None

    def _repeat(self, value: tuple[int, int], count: bytes) -> bool:
        number = int(count) if _COUNT.match(count) and len(count) < 10 else None
        if number is None or len(self.found) + number > MOST:
            self.readable = False
            return False
        element = self._text.slice(*trim(self._text.text, *value))
        self.found.extend([element] * number)
        return True


def elements(text: Traced, separator: int = COLON, repeats: bool = True) -> list[Traced] | None:
    """The elements of a value, one for a plain one; None where it cannot be read as an array.

    A call's arguments are read with a comma as `separator` where it is a function of MEL, which
    repeats nothing.
    """
    if _PLAIN.match(text.text):
        return [text]
    faults = TextFaults()
    brackets = Brackets(text, faults)
    reader = _Elements(text, brackets, repeats)
    Splitter(text, separator, brackets).run(reader.take)
    if not reader.readable or any(fault.severity == "error" for fault in faults):
        return None
    return reader.found
