"""Splits a text into records or elements as CNTK does; does not interpret them.

Commas and line ends separate, and one more character that a bracket may change. A text that is
itself a bracket is opened, once; a record ends with the bracket or quote of its value.
"""

from __future__ import annotations

import re

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.configuration.brackets import Brackets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.cntk.configuration.traced import Traced

#: What separates instead of the usual character where it directly follows an opening bracket.
CUSTOM_SEPARATORS = b"`~!@$%^&*_-+|:;,?."
#: But not where it begins a path.
PATHS = (b"..", b".\\", b"./", b"\\\\")
#: Rounds for each byte of a text after which splitting is given up: no text needs that many.
_ROUNDS = 4

_SKIPS: dict[int, re.Pattern[bytes]] = {}
_STOPS: dict[int, re.Pattern[bytes]] = {}


class Splitter:
    """One pass over one text. `take` gets the ends of each part and returns where it actually
    ended.
    """

    __slots__ = ("_brackets", "_inner_end", "_separator", "_text", "_usual")

    def __init__(self, text: Traced, separator: int, brackets: Brackets) -> None:
        self._text = text.text
        self._usual = self._separator = separator
        self._brackets = brackets
        #: The end of the bracket that was opened; None outside.
        self._inner_end: int | None = None

    def run(self, take: Callable[[int, int], int | None]) -> None:
        """Traverse the text; `take` may return None to stop."""
        at: int | None = 0
        for _ in range(_ROUNDS * len(self._text) + _ROUNDS):
            raise_if_cancelled()
            start = self._next_start(at or 0)
            if start is None:
                return
            closing = self._brackets.partner(start)
            if closing is not None and self._inner_end is None and start + 1 < len(self._text):
                at = self._open(start, closing)
                continue
            at = self._part(start, closing, take)
            if at is None:
                return

    def _next_start(self, at: int) -> int | None:
        found = _skip(self._separator).search(self._text, at)
        if found is None:
            return None
        start = found.start()
        while start < len(self._text) and self._text[start] in b" \t":
            start += 1
        return start if start < len(self._text) else None

    def _open(self, start: int, closing: int) -> int:
        """Step into a bracket, past the separator that it may name."""
        start += 1
        if self._text[start] in CUSTOM_SEPARATORS and not self._text.startswith(PATHS, start):
            self._separator = self._text[start]
            start += 1
        self._inner_end = closing
        return start

    def _part(
        self, start: int, closing: int | None, take: Callable[[int, int], int | None]
    ) -> int | None:
        """Take one part; return where the next may start."""
        inner_end = self._inner_end if self._inner_end is not None else len(self._text)
        quoted = closing is not None and self._text[closing : closing + 1] == b'"'
        if closing is None:
            end = self._bare_end(start, inner_end)
        elif quoted:
            start, end = start + 1, closing
        else:
            end = min(closing + 1, len(self._text))
        after: int | None = end
        if end > start:
            after = take(start, end)
        if after == inner_end:
            after += 1
            self._inner_end = None
            self._separator = self._usual
        return after + 1 if after is not None and quoted else after

    def _bare_end(self, start: int, inner_end: int) -> int:
        found = _stop(self._separator).search(self._text, start)
        if found is None:
            return inner_end
        end = found.start()
        closing = self._brackets.partner(end)
        if closing is not None:
            end = min(closing + 1, len(self._text))
        return min(end, inner_end)


def _skip(separator: int) -> re.Pattern[bytes]:
    if separator not in _SKIPS:
        _SKIPS[separator] = re.compile(b"[^,\r\n" + re.escape(bytes((separator,))) + b"]")
    return _SKIPS[separator]


def _stop(separator: int) -> re.Pattern[bytes]:
    if separator not in _STOPS:
        _STOPS[separator] = re.compile(b'[,\r\n\\[{("' + re.escape(bytes((separator,))) + b"]")
    return _STOPS[separator]
