"""The report for people: each finding with its source line, carets and related places.

Colour is only used where the style asks for it; long lines are cut around what they show.
"""

from __future__ import annotations

from netsharp_lsp.text.visible import visible
from netsharp_lsp.text.width import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.diagnostics.reports import FileFindings, Style
    from netsharp_lsp.text.lines import LineIndex

_COLORS = {"error": "31", "warning": "33", "info": "36", "hint": "35"}
_BOLD, _DIM, _BLUE, _GREEN = "1", "2", "34", "32"
_ELLIPSIS = "…"


def render(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Yield a paragraph per diagnostic and a last line that sums up."""
    for found in files:
        for diagnostic in found.diagnostics:
            yield from _paragraph(found, diagnostic, style)
            yield "\n"
    yield _summary(files)


def _paragraph(found: FileFindings, diagnostic: Diagnostic, style: Style) -> Iterator[str]:
    line, column = found.lines.position(diagnostic.start)
    sheet = _Sheet(found, diagnostic, style)
    color = f"{_BOLD};{_COLORS[diagnostic.severity]}"
    head = _paint(f"{diagnostic.severity}[{diagnostic.code}]", color, style)
    yield f"{head}: {_paint(visible(diagnostic.message), _BOLD, style)}\n"
    yield f"{sheet.indent}{_paint('-->', _BLUE, style)} {visible(found.file)}:{line}:{column}\n"
    yield sheet.row("", "")
    span = (diagnostic.start, diagnostic.end)
    yield from sheet.excerpt(found.lines, span, _Marks("^", color))
    shown_spans = {span}
    for place in diagnostic.related:
        file, lines = found.place_of(place)
        if file == found.file and (place.start, place.end) in shown_spans:
            yield sheet.note("note", visible(place.message))
        elif file == found.file:
            shown_spans.add((place.start, place.end))
            marks = _Marks("-", f"{_BOLD};{_BLUE}", visible(place.message))
            yield from sheet.excerpt(lines, (place.start, place.end), marks)
        else:
            at = lines.position(place.start)
            yield sheet.note(f"{visible(file)}:{at[0]}:{at[1]}", visible(place.message))
    if diagnostic.fix is not None:
        how = "--fix" if diagnostic.fix.safe else "--unsafe-fixes"
        yield sheet.note("fix", f"{_paint(visible(diagnostic.fix.title), _GREEN, style)} ({how})")


class _Marks:
    """The underline of a span: the character, its colour and the text after it."""

    __slots__ = ("character", "color", "label")

    def __init__(self, character: str, color: str, label: str = "") -> None:
        self.character = character
        self.color = color
        self.label = label


class _Sheet:
    """The rows of one paragraph, after a gutter as wide as their greatest line number."""

    __slots__ = ("indent", "style")

    def __init__(self, found: FileFindings, diagnostic: Diagnostic, style: Style) -> None:
        offsets = [diagnostic.start, *(p.start for p in diagnostic.related if p.file is None)]
        self.indent = " " * len(str(found.lines.line_at(max(offsets)) + 1))
        self.style = style

    def row(self, number: str, content: str) -> str:
        gutter = _paint(f"{number:>{len(self.indent)}} |", _BLUE, self.style)
        return f"{gutter} {content}".rstrip() + "\n"

    def note(self, name: str, message: str) -> str:
        return f"{self.indent} {_paint('=', _BLUE, self.style)} {name}: {message}\n"

    def excerpt(self, lines: LineIndex, span: tuple[int, int], marks: _Marks) -> Iterator[str]:
        """Yield the first line of a span with marks under it, and the last one of several."""
        start, end = span
        line = lines.line_at(start)
        last = lines.line_at(max(start, end - 1))
        length = lines.position(lines.span(line)[1])[1] - 1
        first_column = min(lines.position(start)[1] - 1, length)
        last_column = length if last > line else min(lines.position(end)[1] - 1, length)
        text, first_column, last_column = _cut(
            lines, line, length, (first_column, last_column), self.style.width
        )
        visible, columns = shown(text)
        left, right = columns[first_column], columns[max(first_column, last_column)]
        yield self.row(str(line + 1), visible)
        tail = f" {_ELLIPSIS} to line {last + 1}" if last > line else ""
        label = f" {marks.label}" if marks.label else ""
        under = marks.character * max(1, right - left) + tail + label
        yield self.row("", " " * left + _paint(under, marks.color, self.style))


def _cut(
    lines: LineIndex, line: int, length: int, columns: tuple[int, int], width: int
) -> tuple[str, int, int]:
    """Return a line of `length` characters; of more than `width`, those around the columns."""
    first, last = columns
    if length <= width:
        return lines.line_text(line), first, last
    begin = max(0, min(first - width // 4, length - width))
    end = begin + width
    places = lines.offset(line + 1, begin + 1), lines.offset(line + 1, end + 1)
    piece = lines.text[slice(*places)].decode("utf-8", "replace")
    if begin > 0:
        piece = _ELLIPSIS + piece[1:]
    if end < length:
        piece = piece[:-1] + _ELLIPSIS
    return piece, first - begin, min(last, end) - begin


def _summary(files: Sequence[FileFindings]) -> str:
    counts: dict[str, int] = {}
    fixable = 0
    for found in files:
        for diagnostic in found.diagnostics:
            counts[diagnostic.severity] = counts.get(diagnostic.severity, 0) + 1
            fixable += found.named and diagnostic.fix is not None and diagnostic.fix.safe
    checked = _count(len(files), "file")
    if not counts:
        return f"{checked} checked, nothing found.\n"
    order = [severity for severity in _COLORS if severity in counts]
    parts = [_count(counts[severity], severity) for severity in order]
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    fixes = f" --fix repairs {fixable} of them." if fixable else ""
    return f"{checked} checked: {listed}.{fixes}\n"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _paint(text: str, color: str, style: Style) -> str:
    return f"\x1b[{color}m{text}\x1b[0m" if style.color and text else text
