"""The part of a line that is not a comment, by the rule of the first number sign; knows nothing
else.
"""

from __future__ import annotations


def code_span(line: bytes) -> tuple[int, int]:
    """Return the span of a line (without its end) that CNTK reads; empty for a comment.

    Only the first `#` matters, in quotes or not: after a blank or tab it cuts the line and the
    blanks at its start are cut too; otherwise nothing is cut.
    """
    start = 0
    while start < len(line) and line[start] in b" \t":
        start += 1
    if start == len(line) or line[start] == 0x23:
        return 0, 0
    hash_at = line.find(b"#", start)
    if hash_at < 0 or line[hash_at - 1] not in b" \t":
        return 0, len(line)
    return start, hash_at
