"""Markdown as people read it without its marks, for clients that show plain text alone.

Knows the Markdown that our own answers are written in, and no more of it.
"""

from __future__ import annotations

import html
import re
from itertools import zip_longest

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"^#{1,6}\s+")
_CELL = re.compile(r"(?<!\\)\|")
_BELOW_HEAD = re.compile(r":?-+:?")
#: What has a meaning within a line; code comes first, for nothing has a meaning in it.
_MARKS = re.compile(
    r"(?P<ticks>`+) ?(?P<code>.+?) ?(?P=ticks)(?!`)"
    r"|!?\[(?P<words>(?:[^\[\]\\]|\\.)++)\]\((?P<target>[^()\s]+)\)"
    r"|<(?P<address>https?://[^<>\s]+)>"
    r"|(?P<stars>\*{1,3})(?=[^\s*])"
    r"(?P<stressed>(?:[^*\\`]|\\.|`[^`]*`)*?)(?<!\s)(?P=stars)(?!\*)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<entity>&(?:\w+|#\d+);)"
)


def plain_text(markdown: str) -> str:
    """Return the words of a text in Markdown, line by line; code stays as it is."""
    lines: list[str] = []
    rows: list[list[str]] = []
    fence = ""
    for line in [*markdown.split("\n"), ""]:
        found = _FENCE.match(line)
        if not fence and line[:1] == "|":
            rows.append([_words(cell).strip() for cell in _CELL.split(line.strip().strip("|"))])
            continue
        lines += _table(rows)
        rows = []
        if fence and line.strip() == fence:
            fence = ""
        elif fence:
            lines.append(line)
        elif found is not None:
            fence = found[1]
        else:
            lines.append(_words(_HEADING.sub("", line, count=1)).rstrip())
    return "\n".join(lines).strip("\n")


def _table(rows: list[list[str]]) -> list[str]:
    """Rows with their columns below each other, without the line below the head."""
    kept = [row for row in rows if not all(_BELOW_HEAD.fullmatch(cell) for cell in row)]
    widths = [max(map(len, column)) for column in zip_longest(*kept, fillvalue="")]
    return ["  ".join(map(str.rjust, row, widths)).rstrip() for row in kept]


def _words(line: str) -> str:
    return _MARKS.sub(_read, line)


def _read(mark: re.Match[str]) -> str:
    """Return the text of a mark."""
    if mark["code"] is not None:
        return mark["code"]
    if mark["words"] is not None:
        words, target = _words(mark["words"]), mark["target"]
        return f"{words} ({target})" if target.startswith("http") and target != words else words
    if mark["stressed"] is not None:
        return _words(mark["stressed"])
    if mark["entity"] is not None:
        return html.unescape(mark["entity"])
    return mark["address"] or mark["escaped"]
