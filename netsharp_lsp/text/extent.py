"""What no parser is given: a text of more words, or more brackets open at once, than anyone writes.

A parser's memory grows with these two, not with bytes. Knows no language: a bracket in a comment
counts, too.
"""

from __future__ import annotations

from itertools import accumulate
from operator import sub

from netsharp_lsp.limits import OPEN_BRACKETS, TEXT_WORDS

_OPENING, _CLOSING = b"([{", b")]}"
_STEP = [(byte in _OPENING) - (byte in _CLOSING) for byte in range(256)]
_NO_BRACKETS = bytes(byte for byte in range(256) if not _STEP[byte])
#: Every byte as a part of a word, a blank, or a mark of its own; a line end is one, too.
_KINDS = bytes(
    0x61
    if chr(byte).isalnum() or byte >= 0x80 or byte in b"_."
    else 0x20
    if byte in b" \t\v\f"
    else 0x2C
    for byte in range(256)
)
#: How many bytes are looked at together.
_STRETCH = 1 << 16


def refused(text: bytes) -> str | None:
    """Return why a text is not parsed, as a sentence; None for what people write."""
    if len(text) > TEXT_WORDS.most and _has_more_words(text, TEXT_WORDS.most):
        return f"has more than {TEXT_WORDS} and marks, and is not read."
    if len(text) > OPEN_BRACKETS.most and _opens_more(text, OPEN_BRACKETS.most):
        return f"has more than {OPEN_BRACKETS} open at once, and is not read."
    return None


def _has_more_words(text: bytes, most: int) -> bool:
    """Whether there are more words and marks than so many."""
    count, before = 0, b" "
    for start in range(0, len(text), _STRETCH):
        kinds = text[start : start + _STRETCH].translate(_KINDS)
        words = before + kinds.replace(b",", b" ")
        count += kinds.count(b",") + words.count(b" a")
        if count > most:
            return True
        before = words[-1:]
    return False


def _opens_more(text: bytes, most: int) -> bool:
    """Whether more brackets than so many are open at once; those that close nothing count not."""
    if sum(map(text.count, (b"(", b"[", b"{"))) <= most:
        return False
    depth = low = 0
    for start in range(0, len(text), _STRETCH):
        brackets = text[start : start + _STRETCH].translate(None, _NO_BRACKETS)
        depths = [*accumulate(map(_STEP.__getitem__, brackets), initial=depth)]
        lows = [*accumulate(depths, min, initial=low)]
        if max(map(sub, depths, lows[1:])) > most:
            return True
        depth, low = depths[-1], lows[-1]
    return False
