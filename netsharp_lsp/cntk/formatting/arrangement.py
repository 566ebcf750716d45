"""Formats a whole text, or the outermost statements that overlap some of its lines."""

from __future__ import annotations

from netsharp_lsp.cntk.formatting.columns import place_of
from netsharp_lsp.cntk.formatting.lines import Sheet, print_lines
from netsharp_lsp.cntk.formatting.regions import hold, statement_spans
from netsharp_lsp.cntk.formatting.structure import count_breaks, decide_breaks
from netsharp_lsp.cntk.formatting.tokens import ASSIGN, CLOSERS, COMMENT, OPENERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from netsharp_lsp.cntk.formatting.regions import Span
    from netsharp_lsp.cntk.formatting.tokens import Token
    from netsharp_lsp.layout.options import LineRange
    from netsharp_lsp.text.lines import LineIndex

    # Lines that are wanted (none: all), stretches that stay as they are, whether columns do.
    LayoutRequest: TypeAlias = tuple[Sequence[LineRange], frozenset[Span], bool]


def arrange(
    text: bytes, language: str, new_line: bytes, request: LayoutRequest
) -> tuple[bytes, list[int]]:
    """Return a formatted text, and the offsets of its faults."""
    ranges, held, columns = request
    tokens, broken = tokenise(text, language)
    if not tokens:
        return text if text.strip() else b"", broken
    count_breaks(tokens, text)
    tokens = hold(tokens, text, held, broken)
    sheet = Sheet(text, new_line, _kept(tokens, text), columns)
    if ranges:
        return _in_ranges(tokens, sheet, ranges), broken
    decide_breaks(tokens)
    rest = text[tokens[-1].end :]
    (lines,) = print_lines([tokens], sheet)
    return lines + (rest if rest.strip() else new_line), broken


def tokenise(text: bytes, language: str) -> tuple[list[Token], list[int]]:
    """Return the tokens of a text by its language, and the offsets of its faults."""
    if language == "brainscript":
        from netsharp_lsp.cntk.formatting.brainscript import brainscript_tokens

        return brainscript_tokens(text)
    from netsharp_lsp.cntk.formatting.configuration import configuration_tokens

    return configuration_tokens(text, breakable=language != "mel")


def spans_around(text: bytes, language: str, offset: int) -> list[Span]:
    """Return the spans of the statements around a place, or before it where none is.

    The last is that of all lines of the outermost one: it may share them with others.
    """
    tokens, _ = tokenise(text, language)
    spans = statement_spans(tokens)
    around = [span for span in spans if span[0] <= offset < span[1]]
    around = around or [span for span in spans if span[0] <= offset][-1:] or [(offset, offset + 1)]
    around.sort(key=lambda span: span[1] - span[0])
    start, end = around[-1]
    line_end = text.find(b"\n", end)
    around.append((text.rfind(b"\n", 0, start) + 1, len(text) if line_end < 0 else line_end))
    return around


def _kept(tokens: Sequence[Token], text: bytes) -> frozenset[int]:
    """Return the brackets that stay on one line: values that a variable substitutes elsewhere.

    CNTK rejects a value of several lines there.
    """
    if b"$" not in text:
        return frozenset()
    from netsharp_lsp.cntk.configuration.variables import variable_names

    names = {name.lower() for name in variable_names(text)}
    kept: set[int] = set()
    depth = 0
    holding: int | None = None
    for token in tokens:
        if holding is not None and depth <= holding and (token.starts or token.role in CLOSERS):
            holding = None
        if token.starts and holding is None and token.text.lower() in names:
            holding = depth
        if token.role in OPENERS:
            depth += 1
            if holding is not None:
                kept.add(token.start)
        elif token.role in CLOSERS:
            depth -= 1
    return frozenset(kept)


def _in_ranges(tokens: list[Token], sheet: Sheet, ranges: Sequence[LineRange]) -> bytes:
    """Return the text with only those stretches formatted that overlap the lines."""
    from netsharp_lsp.text.lines import LineIndex

    lines = LineIndex(sheet.text)
    stretches = _stretches(tokens)
    wanted = [_touches(stretch, lines, ranges) for stretch in stretches]
    pieces: list[bytes] = []
    done = 0
    for first, last in _neighbours(stretches, wanted, sheet):
        together = stretches[first:last]
        # The breaks before stretches are settled, too: what is asked of them was asked before.
        for stretch in together:
            decide_breaks(stretch)
        for stretch, written, is_wanted in zip(
            together, print_lines(together, sheet), wanted[first:last], strict=True
        ):
            if is_wanted:
                before = sheet.text[done : stretch[0].start]
                pieces += (before if stretch[0].pinned else before.rstrip(b" \t"), written)
                done = stretch[-1].end
                while sheet.text[done : done + 1] in (b" ", b"\t"):
                    done += 1
    return b"".join(pieces) + sheet.text[done:]


def _touches(stretch: list[Token], lines: LineIndex, ranges: Sequence[LineRange]) -> bool:
    start, end = stretch[0].start, stretch[-1].end
    first, last = lines.line_at(start) + 1, lines.line_at(max(start, end - 1)) + 1
    return any(low <= last and first <= high for low, high in ranges)


def _neighbours(
    stretches: list[list[Token]], wanted: list[bool], sheet: Sheet
) -> Iterator[tuple[int, int]]:
    """Yield the wanted stretches, each with those around it that may share a column with it."""
    number = 0
    while number < len(stretches):
        if not wanted[number]:
            number += 1
            continue
        first = number
        while first and _may_align(stretches[first - 1], stretches[first], sheet):
            first -= 1
        number += 1
        while number < len(stretches) and (
            _may_align(stretches[number - 1], stretches[number], sheet)
        ):
            number += 1
        yield first, number


def _may_align(above: list[Token], below: list[Token], sheet: Sheet) -> bool:
    if not sheet.columns or below[0].breaks != 1:
        return False
    if above[0].role == COMMENT or below[0].role == COMMENT:
        return True
    return bool(_places(above, sheet) & _places(below, sheet))


def _places(stretch: list[Token], sheet: Sheet) -> set[tuple[bool, int, int]]:
    """Return the places of the signs and starts of a stretch that may be aligned with those of
    others, and of the comments after its first and last line.
    """
    first = next((n for n, token in enumerate(stretch) if n and token.breaks), len(stretch))
    found = [(False, one) for one in _outermost(stretch[:first])]
    found += [(True, one) for one in (stretch[first - 1], stretch[-1]) if one.role == COMMENT]
    return {
        (is_comment, size, column)
        for is_comment, one in found
        for size, column in enumerate(place_of(sheet.before(one.start)))
    }


def _outermost(line: list[Token]) -> Iterator[Token]:
    """Yield the signs and starts of the statements of a line, except the first start."""
    depth = 0
    for number, token in enumerate(line):
        if not depth and (token.role == ASSIGN or (token.starts and number)):
            yield token
        depth += (token.role in OPENERS) - (token.role in CLOSERS)


def _stretches(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the tokens of each group of outermost statements and comments that share lines."""
    stretches: list[list[Token]] = []
    depth = 0
    for token in tokens:
        outermost = depth == 0 and (token.starts or not token.free or token.role == COMMENT)
        if not stretches or (token.breaks and outermost):
            stretches.append([])
        stretches[-1].append(token)
        depth += (token.role in OPENERS) - (token.role in CLOSERS)
    return stretches
