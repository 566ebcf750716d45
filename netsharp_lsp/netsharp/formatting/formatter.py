"""The formatter's entry point: chooses the line end, formats, and proves that no token is lost.

Knows no disk and no command line; processes UTF-8 bytes without a byte-order mark.
"""

from __future__ import annotations

import re

from netsharp_lsp.layout.options import FormatOptions, Formatted
from netsharp_lsp.netsharp.formatting.safety import find_difference
from netsharp_lsp.netsharp.formatting.specification import arrange
from netsharp_lsp.text.conflicts import conflicts_in
from netsharp_lsp.text.decode import majority_line_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.layout.options import LineRange

_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
_ANY_LINE_END = re.compile(rb"\r\n?|\n")


def format_text(data: bytes, options: FormatOptions | None = None) -> Formatted:
    """Format a specification; any UTF-8 bytes are accepted, valid or not."""
    options = options or FormatOptions()
    conflicts = conflicts_in(data)
    if conflicts:
        # These lines are only recognised in the column where they begin.
        return Formatted(data, [one.marks[0][1] for one in conflicts])
    text = data
    chosen = _LINE_ENDS.get(options.line_ending)
    if chosen is not None:
        text = _with_line_end(text, chosen)
    after, broken = _settled(text, chosen, options.ranges)
    if options.self_check and after != text:
        failure = _failure(text, after, chosen, bool(options.ranges))
        if failure is not None:
            return Formatted(data, broken, failure)
    return Formatted(after, broken)


def _settled(
    text: bytes, chosen: bytes | None, ranges: Sequence[LineRange]
) -> tuple[bytes, list[int]]:
    """Format with the most frequent line end, which must still be so afterwards."""
    if chosen is not None:
        return _undisplaced(text, chosen, ranges)
    new_line = majority_line_end(text).encode("ascii")
    after, broken = _undisplaced(text, new_line, ranges)
    majority = majority_line_end(after).encode("ascii") if b"\r" in after else new_line
    return (after, broken) if majority == new_line else _undisplaced(text, majority, ranges)


def _undisplaced(
    text: bytes, new_line: bytes, ranges: Sequence[LineRange]
) -> tuple[bytes, list[int]]:
    """Format as much as possible with every suppression acting on the same tokens."""
    after, broken = arrange(text, new_line, ranges)
    # What every suppression holds; the module that reads them is imported on need.
    if b"netsharp:" not in text:
        return after, broken
    from netsharp_lsp.netsharp.formatting.suppressions import find_displaced

    fixed: set[int] = set()
    while not (displaced := find_displaced(text, after)) <= fixed:
        fixed |= displaced
        after, broken = arrange(text, new_line, ranges, fixed)
    return after, broken


def _failure(before: bytes, after: bytes, chosen: bytes | None, partial: bool) -> str | None:
    difference = find_difference(before, after)
    if difference is not None:
        return f"formatting would change what the text says: {difference}"
    # A second pass over a part cannot be compared: its lines have moved.
    if not partial and _settled(after, chosen, ())[0] != after:
        return "formatting a second time would change the text again"
    return None


def _with_line_end(text: bytes, new_line: bytes) -> bytes:
    if new_line == b"\n" and b"\r" not in text:
        return text
    return _ANY_LINE_END.sub(new_line, text)
