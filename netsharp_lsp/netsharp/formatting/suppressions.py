"""Finds what may not move because a suppression comment acts on its line; calls no checker.

A suppression acts on a line, and a layout decides what is on a line: where the two conflict the
text stays as it is, so that formatting neither hides a diagnostic nor brings one back.
"""

from __future__ import annotations

from bisect import bisect_left

from netsharp_lsp.diagnostics.suppression import find_suppressions
from netsharp_lsp.netsharp.formatting.safety import count_tokens, locate_comments, locate_tokens
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.diagnostics.suppression import Suppression

_COMMENT = "//"
#: Keywords in capitals: a suppression of this code keeps them.
_ODD_CASE = "NS014"


class _Scope:
    """The scope of one suppression: the tokens and the comments of a line, by their numbers."""

    __slots__ = ("comments", "suppression", "tokens")

    def __init__(self, suppression: Suppression, tokens: range, comments: range) -> None:
        self.suppression = suppression
        self.tokens = tokens
        self.comments = comments

    def agrees(self, other: _Scope) -> bool:
        """Return whether both have the same scope, and it may be written as the style requires."""
        defended = any(code == _ODD_CASE for code, _, _ in self.suppression.codes)
        return self.tokens == other.tokens and self.comments == other.comments and not defended


def find_displaced(before: bytes, after: bytes) -> set[int]:
    """Return the offsets in `before` of tokens and comments that must stay as they are.

    These are the ones on the line of a suppression that acts on others in `after`, and keywords
    whose case a suppression defends. Both texts have the same tokens.
    """
    if before == after:
        return set()
    pairs = zip(_scopes(before), _scopes(after), strict=False)
    moved = [pair for pair in pairs if not pair[0].agrees(pair[1])]
    if not moved:
        return set()
    tokens = locate_tokens(before)
    comments = [start for start, _ in locate_comments(before)]
    displaced: set[int] = set()
    for pair in moved:
        for scope in pair:
            displaced.update(tokens[scope.tokens.start : scope.tokens.stop])
            displaced.update(comments[scope.comments.start : scope.comments.stop])
    return displaced


def _scopes(text: bytes) -> list[_Scope]:
    """Return the scope of each suppression of a text."""
    lines = LineIndex(text)
    comments = locate_comments(text)
    scopes: list[_Scope] = []
    count = done = 0
    for suppression in find_suppressions(lines, comments, _COMMENT):
        start = end = len(text)
        if suppression.line < lines.count:
            start, end = lines.full_span(suppression.line)
        beside = range(bisect_left(comments, (start, 0)), bisect_left(comments, (end, 0)))
        start, end = _after_comment(start, comments), _after_comment(end, comments)
        count += count_tokens(text, done, start)
        done = start
        tokens = range(count, count + count_tokens(text, start, end))
        scopes.append(_Scope(suppression, tokens, beside))
    return scopes


def _after_comment(offset: int, comments: list[tuple[int, int]]) -> int:
    """Return an offset, or the end of the comment that contains it."""
    index = bisect_left(comments, (offset, 0)) - 1
    return max(offset, comments[index][1]) if index >= 0 else offset
