"""The lines of a configuration's source without their comments, at unchanged places.

Knows comments and the keys whose values are networks of BrainScript, and nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache

from netsharp_lsp.cntk.configuration.comments import code_span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = b"\xef\xbb\xbf"
#: Begins only where a line does: a line of megabytes is read once.
_WITH_SIGN = re.compile(rb"(?<![^\r\n])[^\r\n#]*+#[^\r\n]*+")
_BUILDER = re.compile(
    rb"(?<![\w.])(?:BrainScript|Experimental)NetworkBuilder\w*[ \t]*=?[ \t]*(?=[\[{(])",
    re.IGNORECASE,
)
#: The tokens of BrainScript that matter here: comments and strings as a whole, and brackets.
TOKEN = re.compile(
    rb"//[^\r\n]*|#[^\r\n]*|/\*.*?(?:\*/|\Z)|\"[^\"]*(?:\"|\Z)|'[^'\r\n]*(?:'|(?=[\r\n])|\Z)"
    rb"|[\[\](){}]",
    re.DOTALL,
)

_BRACKET = re.compile(rb"\"[^\"]*\"|[\[\](){}]")
_INDENT = re.compile(rb"[ \t]*+")
_WHITE = re.compile(rb"\s*+")


@lru_cache(maxsize=32)
def without_comments(text: bytes) -> bytes:
    """Return the text with blanks in place of its comments, so that offsets are unchanged."""
    parts = []
    done = 0
    for start, end in _lines_with_signs(text):
        low, high = code_span(text[start:end])
        if (low, high) == (0, end - start):
            continue
        parts += [text[done : start + high], b" " * (end - start - high)]
        done = end
    parts.append(text[done:])
    return b"".join(parts)


def _lines_with_signs(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the lines that contain a number sign, without the byte-order mark that may begin any
    line.
    """
    for line in _WITH_SIGN.finditer(text):
        start, end = line.span()
        yield start + len(MARK) * text.startswith(MARK, start), end


def kept_signs(text: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the lines whose first number sign does not begin a comment: start, that sign, end."""
    for start, end in _lines_with_signs(text):
        sign = text.index(b"#", start)
        if sign > start and text[sign - 1] not in b" \t":
            yield start, sign, end


@lru_cache(maxsize=32)
def builder_spans(text: bytes) -> tuple[tuple[int, int], ...]:
    """Return the networks of BrainScript in a text, with their brackets, as BrainScript parses
    them, including those whose key has a suffix, as users write it to disable one.
    """
    if b"etwork" not in text and b"ETWORK" not in text:
        return ()
    code = without_comments(text)
    spans: list[tuple[int, int]] = []
    for found in _BUILDER.finditer(code):
        if not spans or found.end() >= spans[-1][1]:
            spans.append((found.end(), _end(code, found.end())))
    return tuple(spans)


def _end(code: bytes, start: int) -> int:
    """Return where the bracket at `start` closes for BrainScript; the end of the text if it does
    not.
    """
    depth = 0
    for token in TOKEN.finditer(code, start):
        character = token.group()
        if len(character) > 1:
            continue
        depth += 1 if character in b"[({" else -1
        if depth <= 0:
            return token.end()
    return len(code)


def inside(spans: tuple[tuple[int, int], ...], offset: int) -> bool:
    """Return whether an offset is in one of the spans, which are ordered and disjoint."""
    at = bisect_right(spans, (offset, len(spans) and spans[-1][1])) - 1
    return at >= 0 and offset < spans[at][1]


def misaligned(text: bytes, start: int) -> tuple[int, int] | None:
    """Return the first bracket after that at `start` which is closed by one at the beginning of a
    line that is indented less than the line it opens on, with its closing bracket.
    """
    quotes = _quotes(text)
    around, found = _misalignments(text, bisect_left(quotes, start) % 2)
    at = bisect_left(around, start)
    return found[at] if at < len(found) else None


@lru_cache(maxsize=8)
def _quotes(text: bytes) -> list[int]:
    return [found.start() for found in re.finditer(b'"', without_comments(text))]


@lru_cache(maxsize=8)
def _misalignments(text: bytes, odd: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the positions of brackets around misaligned ones, in order, and the first such pair
    from each on.

    `odd` sets whether strings begin at the second double quote, the fourth, and so on.
    """
    code = without_comments(text)
    found: list[tuple[int, int, int]] = []  # What is around the pair, what closes it and opens it.
    waiting: list[tuple[int, int]] = []
    line, line_end, indent, first = 0, -1, 0, 0
    for token in _BRACKET.finditer(code, code.find(b'"') + 1 if odd else 0):
        at = token.start()
        if at > line_end:
            line = code.rfind(b"\n", 0, at) + 1
            line_end = code.find(b"\n", at)
            line_end = len(code) if line_end < 0 else line_end
            indent = _INDENT.match(code, line).end() - line  # type: ignore[union-attr]
            first = _WHITE.match(code, line).end()  # type: ignore[union-attr]
        if code[at] in b"[{(":
            waiting.append((at, indent))
        elif code[at] in b"]})" and waiting:
            opening, its_indent = waiting.pop()
            if first == at and at - line < its_indent and waiting:
                found.append((waiting[-1][0], at, opening))
    found.sort()
    pairs: list[tuple[int, int]] = []
    nearest: tuple[int, int] | None = None
    for _, closing, opening in reversed(found):
        if nearest is None or closing < nearest[1]:
            nearest = opening, closing
        pairs.append(nearest)
    return [around for around, _, _ in found], pairs[::-1]
