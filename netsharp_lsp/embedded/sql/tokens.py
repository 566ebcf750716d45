"""Splits T-SQL into tokens: first strings, quoted identifiers and comments, then words and marks.

Source: Transact-SQL reference, "Constants", "Database identifiers", "Slash star comment" and "SET
QUOTED_IDENTIFIER"; knows no meaning of a statement.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    Kind = Literal["string", "identifier", "comment", "variable", "name", "mark"]

#: What hides other text, closed; alone, a mark that opens what is not closed, or a nested comment.
#: An identifier has at most 128 characters, of up to 3 bytes each.
_HIDING = re.compile(
    rb"'(?:[^']++|'')*+'|\"(?:[^\"]++|\"\")*+\"|--[^\r\n]*+"
    rb"|/\*(?:[^*/]++|\*(?!/)|/(?!\*))*+\*/|\[(?:[^\]]|\]\]){0,384}+\]|'|/\*"
)
#: What begins with a mark.
_HIDDEN: dict[int, Kind] = {
    ord("'"): "string",
    ord('"'): "identifier",
    ord("["): "identifier",
    ord("-"): "comment",
    ord("/"): "comment",
}
_BLOCK_MARK = re.compile(rb"/\*|\*/")
_STATEMENT = re.compile(
    rb"(?<![\w@#$.])(?:set|declare|exec(?:ute)?|create|alter|go|insert|update|print)(?![\w@#$])",
    re.IGNORECASE,
)
_SETTING = re.compile(
    rb"\bset\s++(?:\w++\s*+,\s*+){0,20}?quoted_identifier\b(?:\s*+,\s*+\w++){0,20}+\s++(?P<value>on|off)\b",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    rb"(?P<variable>@{1,2}[\w@#$\x80-\xff]+)|(?P<name>[\w#\x80-\xff][\w@#$\x80-\xff]*)"
    rb"|(?P<mark>\+=|[^\s\w])"
)


class SqlToken:
    """A token of a statement; `text` is the word or mark in lower case, "" for a string."""

    __slots__ = ("end", "kind", "start", "text")

    def __init__(self, kind: Kind, start: int, end: int, text: str) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.text = text


class Cutter:
    """A text of T-SQL of which single statements are split into tokens."""

    __slots__ = ("_ends", "_settings", "_starts", "source")

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._starts, self._ends = _hiding(source)
        self._settings = [
            found
            for found in (_SETTING.finditer(source) if b'"' in source else ())
            if not self._hides(found.start())
        ]

    def statements(self, points: Sequence[int]) -> Iterator[list[SqlToken]]:
        """Yield the tokens of each statement that contains one of the offsets, in order."""
        last = 0
        for point in points:
            if point >= last:
                start, last = self._around(point, last)
                yield list(self._tokens(start, last))

    def _around(self, point: int, least: int) -> tuple[int, int]:
        """Return the statement around an offset: where it begins, not before `least`, and ends."""
        number = bisect_right(self._starts, point)
        begin = point
        while begin > least:
            before = max(least, self._ends[number - 1] if number else 0)
            found = [one.start() for one in _STATEMENT.finditer(self.source, before, begin)]
            if found:
                begin = found[-1]
                break
            begin = max(least, self._starts[number - 1] if number else 0)
            number -= 1
        number = bisect_right(self._starts, point)
        at = max(point + 1, self._ends[number - 1] if number else 0)
        while at < len(self.source):
            end = self._starts[number] if number < len(self._starts) else len(self.source)
            following = _STATEMENT.search(self.source, at, end)
            if following is not None:
                return begin, following.start()
            at = self._ends[number] if number < len(self._ends) else len(self.source)
            number += 1
        return begin, len(self.source)

    def _tokens(self, start: int, end: int) -> Iterator[SqlToken]:
        number = bisect_left(self._starts, start)
        at = start
        while at < end:
            first, last = (
                (self._starts[number], self._ends[number])
                if number < len(self._starts)
                else (end, end)
            )
            for found in _PLAIN.finditer(self.source, at, min(first, end)):
                plain: Kind = found.lastgroup  # type: ignore[assignment]
                if plain == "name" and first == found.end() and found.group() in (b"n", b"N"):
                    continue  # the N before a string
                text = found.group().decode("utf-8", "replace").lower()
                yield SqlToken(plain, found.start(), found.end(), text)
            if first < end and (kind := _HIDDEN[self.source[first]]) != "comment":
                yield self._hidden(kind, first, last)
            at = last
            number += 1

    def _hidden(self, kind: Kind, first: int, last: int) -> SqlToken:
        """Return a string or an identifier between quotes or brackets."""
        mark = self.source[first : first + 1]
        if mark == b'"' and not self._quotes_identifiers(first):
            kind = "string"
        if kind == "string":
            return SqlToken(kind, first, last, "")
        closing = b"]" if mark == b"[" else mark
        name = self.source[first + 1 : last - 1].replace(closing * 2, closing)
        return SqlToken("name", first, last, name.decode("utf-8", "replace").lower())

    def _quotes_identifiers(self, offset: int) -> bool:
        """Return whether text between double quotes is an identifier at an offset."""
        on = True
        for setting in self._settings:
            if setting.start() < offset:
                on = setting.group("value").lower() == b"on"
        return on

    def _hides(self, offset: int) -> bool:
        """Return whether an offset is inside a string, a comment, or an identifier."""
        number = bisect_right(self._starts, offset) - 1
        return number >= 0 and offset < self._ends[number]


def _hiding(source: bytes) -> tuple[list[int], list[int]]:
    """Return where closed strings, quoted identifiers and comments start and end, in order.

    After a string that is not closed none are searched for.
    """
    starts: list[int] = []
    ends: list[int] = []
    at: int | None = 0
    while at is not None:
        at = _hiding_from(source, at, starts, ends)
    return starts, ends


def _hiding_from(source: bytes, at: int, starts: list[int], ends: list[int]) -> int | None:
    """Add those that begin after an offset, up to the first nested comment; return its end."""
    for found in _HIDING.finditer(source, at):
        start, end = found.span()
        opens = source[start:end] if end - start < 3 else b""
        if opens == b"'":
            return None
        starts.append(start)
        if opens == b"/*":
            ends.append(_block_end(source, start))
            return ends[-1]
        ends.append(end)
    return None


def _block_end(source: bytes, start: int) -> int:
    """Return the end of a comment in which others may be nested."""
    depth = 0
    for mark in _BLOCK_MARK.finditer(source, start):
        depth += 1 if mark.group() == b"/*" else -1
        if depth == 0:
            return mark.end()
    return len(source)
