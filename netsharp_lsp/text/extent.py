"""Limits of what is parsed: texts with more words, or with more open brackets, than anyone writes.

A parser's memory grows with these two, not with bytes. Knows no language: a bracket in a comment
counts, too.
"""

from __future__ import annotations

from itertools import accumulate
from operator import sub
from typing import NamedTuple

from netsharp_engine.limits import Limit
from netsharp_lsp.limits import CNTK_WORDS, OPEN_BRACKETS, TEXT_NAMES, TEXT_WORDS


class Extent(NamedTuple):
    """The limits of words and marks; how many of them may be other than those of number lists."""

    words: Limit
    names: Limit | None = None

    @property
    def fewest(self) -> int:
        """Return the number of words that a text may have whatever they are."""
        return min(one.most for one in (self.words, self.names) if one is not None)


SPECIFICATION = Extent(TEXT_WORDS, TEXT_NAMES)
CONFIGURATION = Extent(CNTK_WORDS)

_STEP = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}
_NO_BRACKETS = bytes({*range(256)}.difference(_STEP))
_ASCII = b"_.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_IN_WORDS = _ASCII + bytes(range(0x80, 0x100))
_BLANKS = b" \t\v\f"


def _table(blanks: bytes, digits: bytes = b"") -> bytes:
    """Return a table of all bytes: part of a word, digit, blank, or a mark of its own."""
    kinds = bytearray(b"," * 256)
    for kind, members in ((b"a", _IN_WORDS), (b"0", digits), (b" ", blanks)):
        for byte in members:
            kinds[byte] = kind[0]
    return bytes(kinds)


#: A line end is a mark, too.
_WORDS = _table(_BLANKS)
#: What begins as a number does is not one, nor is what lies between numbers.
_NAMES = _table(_BLANKS + b"+,-\n\r", b".0123456789")
#: How many bytes are looked at together.
_STRETCH = 1 << 16
#: A text this much shorter than it may have words is not counted.
_NEAR = 1 << 16


def leeway(text: bytes, extent: Extent = SPECIFICATION) -> int:
    """Return the number of bytes that may be typed or deleted before a text can exceed a limit.

    No byte adds more than one word, or opens more than one bracket.
    """
    left = extent.fewest - len(text)
    if left < _NEAR:
        left = min(most.most - _counted(text, table, most.most) for most, table in _rows(extent))
    return min(left, OPEN_BRACKETS.most - _open_brackets(text, OPEN_BRACKETS.most))


def refused(text: bytes, extent: Extent = SPECIFICATION) -> str | None:
    """Return why a text is not parsed, as a sentence; None where it is within the limits."""
    if _may_have_words(text, extent.fewest):
        for most, table in _rows(extent):
            if _counted(text, table, most.most) > most.most:
                return f"has more than {most}{' and marks' * (table is _WORDS)}, and is not read."
    if (
        len(text) > OPEN_BRACKETS.most
        and _open_brackets(text, OPEN_BRACKETS.most) > OPEN_BRACKETS.most
    ):
        return f"has more than {OPEN_BRACKETS} open at once, and is not read."
    return None


def words_of(text: bytes) -> int:
    """Return the number of words, marks and line ends of a text."""
    return _counted(text, _WORDS, len(text))


def _rows(extent: Extent) -> list[tuple[Limit, bytes]]:
    """Return the limits, each with the table of bytes by which it is counted."""
    rows = ((extent.words, _WORDS), (extent.names, _NAMES))
    return [(most, table) for most, table in rows if most is not None]


def _may_have_words(text: bytes, most: int) -> bool:
    """Return whether there may be more than `most` words and marks, from bytes that end words."""
    return len(text) > most and 2 * len(text.translate(None, _IN_WORDS)) >= most


def _counted(text: bytes, table: bytes, most: int) -> int:
    """Return the number of words and marks by a table; counting stops above `most`."""
    count, before = 0, b" "
    for start in range(0, len(text), _STRETCH):
        kinds = text[start : start + _STRETCH].translate(table)
        words = before + kinds.replace(b",", b" ")
        count += kinds.count(b",") + words.count(b" a")
        if count > most:
            break
        before = words[-1:]
    return count


def _open_brackets(text: bytes, most: int) -> int:
    """Return the greatest number of brackets open at once; unmatched closing ones do not count.

    Where a text has at most `most` brackets, their number is returned; above `most` counting stops.
    """
    there = sum(map(text.count, (b"(", b"[", b"{")))
    if there <= most:
        return there
    depth = low = deepest = 0
    for start in range(0, len(text), _STRETCH):
        brackets = text[start : start + _STRETCH].translate(None, _NO_BRACKETS)
        depths = [*accumulate(map(_STEP.__getitem__, brackets), initial=depth)]
        lows = [*accumulate(depths, min, initial=low)]
        deepest = max(deepest, max(map(sub, depths, lows[1:])))
        if deepest > most:
            break
        depth, low = depths[-1], lows[-1]
    return deepest
