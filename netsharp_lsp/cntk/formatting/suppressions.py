"""Finds lines that may not move because a suppression comment acts on them; calls no checker.

A suppression acts on a line, and a layout decides on the contents of a line.
"""

from __future__ import annotations

from bisect import bisect_left

from netsharp_lsp.cntk.formatting.arrangement import tokenise
from netsharp_lsp.cntk.formatting.tokens import BLOCK_COMMENT, COMMENT
from netsharp_lsp.diagnostics.suppression import find_suppressions
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.formatting.regions import Span

_MARKS = ("#", "//")


def find_displaced(before: bytes, after: bytes, language: str) -> set[Span]:
    """Return the spans in `before` of the lines that a suppression no longer acts on alone.

    Both texts have the same tokens.
    """
    starts, old = _scopes(before, language)
    _, new = _scopes(after, language)
    displaced: set[Span] = set()
    for one, two in zip(old, new, strict=False):
        if one != two and one:
            first, last = min(one.start, two.start), max(one.stop, two.stop)
            displaced.add((starts[first], starts[min(last, len(starts)) - 1] + 1))
    return displaced


def _scopes(text: bytes, language: str) -> tuple[list[int], list[range]]:
    """Return the starts of a text's tokens, and the tokens on which each of its suppressions
    acts.
    """
    tokens, _ = tokenise(text, language)
    comments = [(one.start, one.end) for one in tokens if one.role in (COMMENT, BLOCK_COMMENT)]
    starts = [one.start for one in tokens if one.role not in (COMMENT, BLOCK_COMMENT)]
    lines = LineIndex(text)
    scopes: list[range] = []
    for suppression in find_suppressions(lines, comments, *_MARKS):
        start = end = len(text)
        if suppression.line < lines.count:
            start, end = lines.full_span(suppression.line)
        scopes.append(range(bisect_left(starts, start), bisect_left(starts, end)))
    return starts, scopes
