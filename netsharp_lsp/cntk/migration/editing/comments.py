"""Comments that belong to a record: those directly above it, and the one after it on its line.

Knows bytes and no records.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Span = tuple[int, int]

_COMMENT = re.compile(rb"(?m)(?:^|(?<=[ \t]))#[^\r\n]*")
_BLANKS = re.compile(rb"[ \t]*")
_LINE = re.compile(rb"[^\r\n]*")
_ABOVE = re.compile(rb"[ \t]*#[^\r\n]*\r?\n")


def comments_within(data: bytes, span: Span, taken: Sequence[Span] = ()) -> str:
    """Return the comments in a span of a file, one a line, without those in the `taken` spans."""
    found = []
    left = sorted(taken, reverse=True)
    for comment in _COMMENT.finditer(data, *span):
        at = comment.start()
        while left and left[-1][1] <= at:
            left.pop()
        if not left or at < left[-1][0]:
            found.append(comment.group().decode("utf-8", "replace").rstrip())
    return "\n".join(found)


def with_comments(data: bytes, start: int, end: int) -> Span:
    """Return the span of a record with the comments about it.

    Comments at the start of a file are about the file, and a line that contains another record,
    too, has a comment about both.
    """
    line = start
    while line and data[line - 1] in b" \t":
        line -= 1
    commented_end = _end_with_comment(data, end)
    if commented_end is None or data[line - 1 : line] not in (b"", b"\n"):
        return start, end
    above = line
    while above:
        before = data.rfind(b"\n", 0, above - 1) + 1
        if _ABOVE.fullmatch(data, before, above) is None:
            return (start if above == line else above), commented_end
        above = before
    return start, commented_end


def _end_with_comment(data: bytes, end: int) -> int | None:
    """Return the end of a record with the comment after it; None where more follows on its line."""
    at = _past(_BLANKS, data, end)
    if data[at : at + 1] in (b";", b","):
        end = at + 1
        at = _past(_BLANKS, data, end)
    if data[at : at + 1] == b"#" and at > end:
        return _past(_LINE, data, at)
    return end if data[at : at + 1] in (b"", b"\r", b"\n") else None


def _past(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    found = pattern.match(data, at)
    return found.end() if found is not None else at
