"""The parts of a text that stay unchanged: by directive comments, by their column, by request.

Such a stretch becomes one token; it is widened until its brackets are in pairs.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from netsharp_lsp.cntk.formatting.tokens import CLOSERS, COMMENT, OPENERS, WORD, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import TypeAlias

    #: Where a stretch begins and ends, in bytes.
    Span: TypeAlias = tuple[int, int]

    # The numbers of its first and last token.
    _Stretch: TypeAlias = tuple[int, int]

_DIRECTIVE = re.compile(rb"(?:#|//)\s*fmt:\s*(off|on|skip)\s*\Z")
#: A line that begins so is replaced by another file, wherever it is.
_INCLUDE = b"include="


def hold(
    tokens: list[Token], text: bytes, held: Collection[Span], broken: Sequence[int]
) -> list[Token]:
    """Return the tokens with each unchanged stretch as one token.

    `held` adds more of them, and `broken` the lines of those places.
    """
    stretches = list(_requested(tokens, held)) if held else []
    stretches += _lines_around(tokens, broken)
    if b"fmt:" in text:
        stretches += _exempted(tokens)
    if _INCLUDE in text:
        stretches += _included(tokens, text)
    if not stretches:
        return tokens
    partners = _partners(tokens)
    return _collapsed(tokens, text, _merged([_widened(one, partners) for one in stretches]))


def statement_spans(tokens: list[Token]) -> list[Span]:
    """Return the span of every statement, including nested ones."""
    spans: list[Span] = []
    open_ones: list[int | None] = [None]
    end = 0
    for token in tokens:
        closes = token.role in CLOSERS and len(open_ones) > 1
        if (token.starts or closes) and open_ones[-1] is not None:
            spans.append((open_ones[-1], end))
            open_ones[-1] = None
        if closes:
            open_ones.pop()
        if token.starts:
            open_ones[-1] = token.start
        if token.role in OPENERS:
            open_ones.append(None)
        end = token.end
    spans += [(start, end) for start in open_ones if start is not None]
    return spans


def _requested(tokens: list[Token], held: Collection[Span]) -> Iterator[_Stretch]:
    for start, end in held:
        first = bisect_right(tokens, start, key=lambda token: token.end)
        last = bisect_left(tokens, end, key=lambda token: token.start) - 1
        if first <= last:
            yield first, last


def _lines_around(tokens: list[Token], offsets: Iterable[int]) -> Iterator[_Stretch]:
    """Yield the lines that contain places, each once."""
    done = -1
    for offset in sorted(offsets):
        number = max(0, bisect_right(tokens, offset, key=lambda token: token.start) - 1)
        if number > done:
            done = _line_end(tokens, number)
            yield _line_start(tokens, number), done


def _directive(token: Token) -> bytes | None:
    if token.role != COMMENT or b"fmt" not in token.text:
        return None
    match = _DIRECTIVE.match(token.text)
    return match[1] if match else None


def _exempted(tokens: list[Token]) -> Iterator[_Stretch]:
    """Yield stretches from `fmt: off` to `fmt: on`, or to the end of the bracket; and lines with
    `fmt: skip`.
    """
    done = -1
    for number, token in enumerate(tokens):
        directive = _directive(token)
        alone = not number or token.breaks > 0
        if directive == b"off" and alone and number > done:
            done = _region_end(tokens, number)
            yield number, done
        elif directive == b"skip" and not alone:
            yield _line_start(tokens, number), number


def _region_end(tokens: list[Token], number: int) -> int:
    depth = 0
    for later in range(number + 1, len(tokens)):
        token = tokens[later]
        depth += (token.role in OPENERS) - (token.role in CLOSERS)
        if depth < 0:
            return later - 1
        if not depth and token.breaks and _directive(token) == b"on":
            return later
    return len(tokens) - 1


def _line_start(tokens: list[Token], number: int) -> int:
    while number and not tokens[number].breaks:
        number -= 1
    return number


def _line_end(tokens: list[Token], number: int) -> int:
    while number + 1 < len(tokens) and not tokens[number + 1].breaks:
        number += 1
    return number


def _included(tokens: list[Token], text: bytes) -> Iterator[_Stretch]:
    """Yield lines that begin with `include=` in the first column."""
    for number, token in enumerate(tokens):
        start = token.start
        at_line_start = not start or text[start - 1] in b"\r\n"
        if at_line_start and text.startswith(_INCLUDE, start):
            token.pinned = True
            yield number, _line_end(tokens, number)


def _partners(tokens: list[Token]) -> dict[int, int]:
    """Return each bracket's other end, by their numbers."""
    partners: dict[int, int] = {}
    open_ones: list[int] = []
    for number, token in enumerate(tokens):
        if token.role in OPENERS:
            open_ones.append(number)
        elif token.role in CLOSERS and open_ones:
            opener = open_ones.pop()
            partners[opener], partners[number] = number, opener
    return partners


def _widened(stretch: _Stretch, partners: dict[int, int]) -> _Stretch:
    first, last = stretch
    number = first
    while number <= last:
        partner = partners.get(number, number)
        if partner < first:
            first = number = partner
        else:
            last = max(last, partner)
            number += 1
    return first, last


def _merged(stretches: list[_Stretch]) -> list[_Stretch]:
    merged: list[_Stretch] = []
    for first, last in sorted(stretches):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _collapsed(tokens: list[Token], text: bytes, stretches: list[_Stretch]) -> list[Token]:
    kept: list[Token] = []
    done = 0
    for first, last in stretches:
        kept += tokens[done:first]
        kept.append(_verbatim(tokens[first], tokens[last], text))
        done = last + 1
    return kept + tokens[done:]


def _verbatim(first: Token, last: Token, text: bytes) -> Token:
    """Return one token for all from the first to the last, placed like the first."""
    end = last.end
    if first.pinned:
        # A file name extends to the end of the line.
        while text[end : end + 1] in (b" ", b"\t"):
            end += 1
    token = Token(WORD, text[first.start : end], first.start, end, first.free)
    token.breaks = first.breaks
    token.starts = first.starts or first.role == COMMENT
    token.pinned = first.pinned
    return token
