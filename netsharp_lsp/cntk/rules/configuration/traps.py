"""Strings and comments that swallow the text after them, or change the pairing of brackets.

CNTK pairs quotes and brackets before it knows what they mean: one that is missing, or that is in a
comment of BrainScript, moves the end of everything around it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache

from netsharp_lsp.cntk.configuration.brackets import PARTNERS
from netsharp_lsp.cntk.configuration.comments import code_span
from netsharp_lsp.cntk.configuration.lines import TOKEN, builder_spans, without_comments
from netsharp_lsp.cntk.rules.findings import Change, Place, Repair
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.sources import Source
    from netsharp_lsp.cntk.run.experiment import Experiment

_QUOTED = late(rb'"([^"]*)("|\Z)')
_ASSIGNMENT = late(rb"\n[ \t]*([A-Za-z_][\w.]*)[ \t]*=")
_CUT = late(rb"(?<![^\r\n])[^\r\n\"]*+\"[^\r\n#]*+#[^\r\n\"]*+\"[^\r\n]*+")
_MARKS = late(rb'[\[\](){}"]')
#: The kinds of fault of brackets and quotes that do not match.
BRACKET_FAULTS = frozenset(("unclosed", "unmatched", "stray-bracket"))


class Trap:
    """One such place: its `code`, its span, a sentence, and a repair."""

    __slots__ = ("code", "end", "message", "repair", "start")

    def __init__(
        self, code: str, span: tuple[int, int], message: str, repair: Repair | None = None
    ) -> None:
        self.code = code
        self.start, self.end = span
        self.message = message
        self.repair = repair


def trap_offsets(experiment: Experiment) -> dict[str, int]:
    """Return, by source, the offset from which mismatched brackets follow from a trap."""
    found = {}
    for source in experiment.configuration.layers.sources:
        here = traps(source)
        if here:
            found[source.name] = min(trap.start for trap in here)
    return found


def misread_networks(experiment: Experiment) -> dict[str, list[tuple[int, int]]]:
    """Return the networks in configurations, each from the line that it begins on, whose end CNTK
    finds elsewhere than BrainScript; other findings in such a text follow from that.
    """
    experiment.configuration.values()
    found: dict[str, list[tuple[int, int]]] = {}
    for source in experiment.configuration.layers.sources:
        points = [trap.start for trap in traps(source)]
        points += [
            fault.place.start
            for fault in experiment.configuration.faults
            if fault.kind in BRACKET_FAULTS
            and fault.place is not None
            and fault.place.source is source
        ]
        found[source.name] = list(_holding(sorted(points), source.text))
    return found


def _holding(points: list[int], text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the networks that contain one of the sorted points, each from its line on."""
    line, before = 0, 0
    for start, end in builder_spans(text):
        line = text.rfind(b"\n", before, start) + 1 or line
        before = start
        at = bisect_left(points, start)
        if at < len(points) and points[at] <= end:
            yield line, end


@lru_cache(maxsize=16)
def traps(source: Source) -> tuple[Trap, ...]:
    """Return the traps of a source, except those that an earlier one causes."""
    found = [*_brackets_in_comments(source), *_cut_strings(source)]
    if not found:
        found = _overlong_string(source)
    return tuple(sorted(found, key=lambda trap: trap.start))


# Strings.


def _cut_strings(source: Source) -> list[Trap]:
    """Return number signs in quotes with a blank before them."""
    found = []
    text = source.text
    for line in _CUT.finditer(text):
        start = line.start()
        _, high = code_span(line.group())
        if high == len(line.group()) or line.group()[:high].count(b'"') % 2 == 0:
            continue
        sign = start + high
        message = (
            "This '#' begins a comment although it is in quotes: a blank precedes it, so CNTK "
            "cuts the line here, and the string continues on the next line. Remove the blank."
        )
        found.append(Trap("CK010", (sign, line.end()), message))
    return found


def _overlong_string(source: Source) -> list[Trap]:
    """Return the first string that extends over an assignment, or to the end of the text."""
    code = without_comments(source.text)
    for string in _QUOTED.finditer(code):
        swallowed = _ASSIGNMENT.search(string.group(1))
        if string.group(2) and swallowed is None:
            continue
        start = string.start()
        line_end = len(code[: _line_end(code, start)].rstrip())
        change = Change(Place(source.name, line_end, line_end), '"')
        repair = Repair("Close the string at the end of the line", [change], safe=False)
        return [Trap("CK005", (start, start + 1), _swallows(source, string), repair)]
    return []


def _line_end(code: bytes, start: int) -> int:
    end = code.find(b"\n", start)
    return len(code) if end < 0 else end


def _swallows(source: Source, string: re.Match[bytes]) -> str:
    swallowed = _ASSIGNMENT.search(string.group(1))
    what = ""
    if swallowed is not None:
        what = f", and '{swallowed.group(1).decode('utf-8', 'replace')} =' is part of it"
    if not string.group(2):
        return f"This string is never closed{what}: CNTK stops. Add '\"' at its end."
    line = source.lines.position(string.end())[0]
    return (
        "This string is not closed on its line: it continues to the next quote, on line "
        f"{line}{what}. Add '\"' at its end."
    )


# Comments and strings of BrainScript.


def _brackets_in_comments(source: Source) -> list[Trap]:
    """Return brackets that BrainScript ignores and CNTK counts."""
    code = without_comments(source.text)
    found = []
    for start, end in builder_spans(source.text):
        if _ends_for_cntk(code, start, end):
            continue
        for token in TOKEN.finditer(code, start, end):
            words = token.group()
            if len(words) > 1 and not words.startswith(b'"'):
                odd = _odd_one(words)
                if odd is not None:
                    found.append(_bracket_trap(source, token, odd))
    return found


def _ends_for_cntk(code: bytes, start: int, end: int) -> bool:
    """Return whether the bracket at `start` closes just before `end` for CNTK, too."""
    waiting: list[int] = []
    at = start
    while (found := _MARKS.search(code, at, end)) is not None:
        mark = code[found.start()]
        at = found.end()
        if mark == 0x22:
            at = code.find(b'"', at, end) + 1
            if at == 0:
                return False
        elif mark in PARTNERS:
            waiting.append(PARTNERS[mark])
        elif not waiting or waiting.pop() != mark:
            return False
        if not waiting:
            return at == end
    return False


def _odd_one(words: bytes) -> int | None:
    """Return the offset of the mark in a comment or string that has no partner in it."""
    waiting: list[int] = []
    at = 0
    while (found := _MARKS.search(words, at)) is not None:
        mark = words[found.start()]
        at = found.end()
        if mark == 0x22:
            at = words.find(b'"', at) + 1
            if at == 0:
                return found.start()
        elif mark in PARTNERS:
            waiting.append(found.start())
        elif not waiting or PARTNERS[words[waiting.pop()]] != mark:
            return found.start()
    return waiting[0] if waiting else None


def _bracket_trap(source: Source, token: re.Match[bytes], odd: int) -> Trap:
    words = token.group()
    mark = words[odd : odd + 1].decode()
    kind = "this string in single quotes" if words.startswith(b"'") else "this comment"
    message = (
        f"CNTK counts the '{mark}' in {kind}: it matches brackets and double quotes to find the "
        "end of the block, before it parses BrainScript, and skips only comments with '#'."
    )
    span = (token.start() + odd, token.start() + odd + 1)
    return Trap("CK036", span, f"{message} {_advice(words)}", _bracket_repair(source, token))


def _advice(words: bytes) -> str:
    if words.startswith(b"'"):
        if b'"' in words:
            return "Write the quote as Chr(34)."
        return "Use double quotes."
    return "Begin the comment with '#', with a blank before it, or omit the bracket."


def _bracket_repair(source: Source, token: re.Match[bytes]) -> Repair | None:
    words, start, end = token.group(), token.start(), token.end()
    name = source.name
    if words.startswith(b"//") and source.text[start - 1 : start].isspace():
        return Repair(
            "Begin the comment with '#'", [Change(Place(name, start, start + 2), "#")], safe=True
        )
    if words.startswith(b"'") and words.endswith(b"'") and b'"' not in words:
        quotes = [Place(name, start, start + 1), Place(name, end - 1, end)]
        return Repair("Use double quotes", [Change(quote, '"') for quote in quotes], safe=True)
    return None
