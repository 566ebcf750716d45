"""Which part of a line is no comment: the rule of the first number sign; knows nothing else."""

from __future__ import annotations


def code_span(line: bytes) -> tuple[int, int]:
    """The part of a line (without its end) that the program reads; empty for a comment.

    Only the first `#` counts, in quotes or not: with a blank or tab before it, it cuts the line
    there and the blanks at its start go too; otherwise nothing is cut at all.
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
