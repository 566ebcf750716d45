"""Which comments belong to a record: those right above it, and the one behind it on its line.

Knows bytes and no records; what becomes of the comments is for others to say.
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
    """The comments in a stretch of a file, one a line, those in the `taken` spans left out."""
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
    """A record with the comments that are about it.

    Those that a file begins with are about the file, and a line that holds another record, too,
    has a comment about both.
    """
    line = start
    while line and data[line - 1] in b" \t":
        line -= 1
    behind = _behind(data, end)
    if behind is None or data[line - 1 : line] not in (b"", b"\n"):
        return start, end
    above = line
    while above:
        before = data.rfind(b"\n", 0, above - 1) + 1
        if _ABOVE.fullmatch(data, before, above) is None:
            return (start if above == line else above), behind
        above = before
    return start, behind


def _behind(data: bytes, end: int) -> int | None:
    """Where a record ends with the comment behind it; None where more follows on its line."""
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
