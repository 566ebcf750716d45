"""Comments that silence diagnostics, and the diagnostics about such comments; no language.

The language passes its comments as spans and the marks that begin them. A suppression acts on its
own line or, where it is alone on that, on the next line that has more than a suppression.
"""

from __future__ import annotations

from netsharp_lsp.diagnostics.model import Diagnostic, Edit, Fix
from netsharp_lsp.diagnostics.nearest import nearest
from netsharp_lsp.text.conflicts import conflicts_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from netsharp_lsp.text.lines import LineIndex

    Spans = Iterable[tuple[int, int]]

#: No text without these bytes holds a suppression.
MARK = b"netsharp:"
_WORD = b"ignore"
_BLANK = b" \t"


class Suppression:
    """One comment: its span, the line (from 0) on which it acts, and the codes it names.

    `codes` are (code, start, end) in bytes; none where the comment names no code at all.
    """

    __slots__ = ("alone", "codes", "end", "line", "start")

    def __init__(
        self, start: int, end: int, line: int, alone: bool, codes: list[tuple[str, int, int]]
    ) -> None:
        self.start = start
        self.end = end
        self.line = line
        self.alone = alone
        self.codes = codes


def find_suppressions(lines: LineIndex, comments: Spans, *marks: str) -> list[Suppression]:
    """Return the suppressions among the comments, in text order.

    `comments` are byte spans, each starting with one of `marks` or not being a suppression.
    """
    text = lines.text
    if not comments or MARK not in text:
        return []
    openings = tuple(mark.encode("utf-8") for mark in marks)
    found = []
    for start, end in comments:
        codes = _read(text, start, end, openings)
        if codes is not None:
            line = lines.line_at(start)
            alone = not text[lines.starts[line] : start].strip(_BLANK)
            found.append(Suppression(start, end, line, alone, codes))
    _assign_lines(found)
    return found


def suppress(
    diagnostics: Sequence[Diagnostic],
    lines: LineIndex,
    suppressions: Sequence[Suppression],
    known: Callable[[], Sequence[str]],
    unused_code: str,
    unknown_code: str,
    explained_codes: Sequence[str] = (),
) -> list[Diagnostic]:
    """Return the diagnostics that are left, and one for each suppression without effect.

    `known()` returns every code there is; it is called only where a suppression exists. Where merge
    conflicts hide diagnostics, no suppression is reported as without effect, nor is one of a code
    that is `explained_codes` for elsewhere.
    """
    if not suppressions:
        return list(diagnostics)
    places: dict[tuple[int, str], set[int]] = {}
    for number, suppression in enumerate(suppressions):
        for code, _, _ in suppression.codes:
            places.setdefault((suppression.line, code), set()).add(number)
    left: list[Diagnostic] = []
    used: set[tuple[int, str]] = set()
    for diagnostic in diagnostics:
        at = (lines.line_at(diagnostic.start), diagnostic.code)
        if at in places:
            used.add((min(places[at]), diagnostic.code))
        else:
            left.append(diagnostic)
    used.update(
        (at, code)
        for (_, code), all_at in places.items()
        if code in explained_codes
        for at in all_at
    )
    codes = tuple(known())
    for number, suppression in enumerate(() if conflicts_in(lines.text) else suppressions):
        left += _complaints(lines, suppression, number, used, codes, (unused_code, unknown_code))
    left.sort(key=lambda diagnostic: diagnostic.sort_key)
    return left


def _read(
    text: bytes, start: int, end: int, openings: tuple[bytes, ...]
) -> list[tuple[str, int, int]] | None:
    """Return the codes of a comment `// netsharp: ignore[A, B]`; None for another comment."""
    comment = text[start:end]
    opening = next((one for one in openings if comment.startswith(one)), None)
    if opening is None:
        return None
    body = comment[len(opening) :].lstrip(_BLANK)
    if not body.startswith(MARK):
        return None
    body = body[len(MARK) :].lstrip(_BLANK)
    if not body.startswith(_WORD):
        return None
    rest = body[len(_WORD) :].lstrip(_BLANK)
    close = rest.find(b"]")
    if not rest.startswith(b"[") or close < 0:
        return None if rest[:1].isalnum() else []
    at = end - len(rest) + 1
    codes = []
    for part in rest[1:close].split(b","):
        name = part.strip(_BLANK)
        if name:
            begin = at + part.index(name)
            codes.append((name.decode("utf-8", "replace"), begin, begin + len(name)))
        at += len(part) + 1
    return codes


def _assign_lines(suppressions: list[Suppression]) -> None:
    """Apply those that are alone on a line to the next line that is not such a comment."""
    aims: dict[int, int] = {}
    for suppression in reversed(suppressions):
        if suppression.alone:
            line = suppression.line
            aims[line] = suppression.line = aims.get(line + 1, line + 1)


def _complaints(
    lines: LineIndex,
    suppression: Suppression,
    number: int,
    used: set[tuple[int, str]],
    known: tuple[str, ...],
    own: tuple[str, str],
) -> list[Diagnostic]:
    """Return the faults of one suppression; `own`: the codes for an unused and an unknown one."""
    unused_code, unknown_code = own
    if not suppression.codes:
        message = "This suppression matches no diagnostic: it names no code, as ignore[CODE] does."
        fix = Fix("Delete the comment", True, [_whole(lines, suppression)])
        return [
            Diagnostic(unused_code, "warning", message, suppression.start, suppression.end, fix=fix)
        ]
    found: list[Diagnostic] = []
    idle: list[int] = []
    seen: set[str] = set()
    for index, (code, start, end) in enumerate(suppression.codes):
        if code not in known:
            found.append(_unknown(unknown_code, code, start, end, known))
        elif (number, code) not in used or code in seen:
            idle.append(index)
        seen.add(code)
    for index in idle:
        _, start, end = suppression.codes[index]
        message = f"This suppression matches no diagnostic: {_where(suppression)}."
        if len(idle) == len(suppression.codes):
            fix = Fix("Delete the comment", True, [_whole(lines, suppression)])
        else:
            fix = Fix("Delete the code", True, [_part(suppression, index)])
        found.append(Diagnostic(unused_code, "warning", message, start, end, fix=fix))
    return found


def _where(suppression: Suppression) -> str:
    return f"line {suppression.line + 1} has none with this code"


def _unknown(own: str, code: str, start: int, end: int, known: tuple[str, ...]) -> Diagnostic:
    best = nearest(code, known)
    message = f"Unknown code '{code}' in a suppression."
    if best is None:
        return Diagnostic(own, "warning", message, start, end)
    fix = Fix(f"Replace by '{best}'", True, [Edit(start, end, best)])
    return Diagnostic(own, "warning", f"{message} Did you mean '{best}'?", start, end, fix=fix)


def _whole(lines: LineIndex, suppression: Suppression) -> Edit:
    """Return an edit that deletes a comment with the blanks before it, or its whole line."""
    text = lines.text
    line = lines.line_at(suppression.start)
    if suppression.alone:
        content_end = lines.span(line)[1]
        if not text[suppression.end : content_end].strip(_BLANK):
            return Edit(*lines.full_span(line), "")
    start = suppression.start
    while start > lines.starts[line] and text[start - 1] in _BLANK:
        start -= 1
    return Edit(start, suppression.end, "")


def _part(suppression: Suppression, index: int) -> Edit:
    """Return an edit that deletes one of several codes with the comma that separates it."""
    codes = suppression.codes
    if index == 0:
        return Edit(codes[0][1], codes[1][1], "")
    return Edit(codes[index - 1][2], codes[index][2], "")
