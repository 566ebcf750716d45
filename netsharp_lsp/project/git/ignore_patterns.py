"""The patterns of one ignore file, as git reads and matches them; knows no disk.

A pattern becomes a regular expression that never tries twice what it has matched, because the
pattern may have been written to take for ever; bracket expressions are left to dulwich.
"""

from __future__ import annotations

import re

from netsharp_lsp.limits import GIT_PATTERNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK = b"\xef\xbb\xbf"
#: Where git's matcher begins: the text before it is compared byte by byte.
_SPECIAL = re.compile(rb"[*?\[\\]")
#: The most bytes of a path; a longer pattern matches nothing.
_LONGEST = 4096


class Patterns:
    """The rules of an ignore file for paths relative to its folder; the last match wins."""

    __slots__ = ("_fold", "_kinds", "_negated")

    def __init__(self, text: bytes, *, fold_case: bool) -> None:
        self._fold = fold_case
        self._negated: list[bool] = []
        #: By whether a whole path is matched or its last name, and whether of a folder alone.
        self._kinds = {(whole, only): _Kind() for whole in (0, 1) for only in (0, 1)}
        for line in _lines(text):
            self._add(line)
        if sum(len(kind.wild) for kind in self._kinds.values()) > GIT_PATTERNS.most:
            self._kinds = {}

    def decision(self, path: bytes, *, folder: bool) -> bool | None:
        """Return whether a path is ignored, None where no pattern fits it."""
        if self._fold:
            path = path.lower()
        name = path[path.rfind(b"/") + 1 :]
        best = -1
        for (whole, only), kind in self._kinds.items():
            if folder or not only:
                best = max(best, kind.last(path if whole else name))
        return None if best < 0 else not self._negated[best]

    def _add(self, line: bytes) -> None:
        negated = line.startswith(b"!")
        pattern = line[negated:]
        only_folders = pattern.endswith(b"/")
        pattern = pattern[: len(pattern) - only_folders]
        whole = b"/" in pattern
        if pattern.startswith(b"/"):
            pattern = pattern[1:]
        if self._fold:
            pattern = pattern.lower()
        self._kinds[whole, only_folders].add(pattern, len(self._negated))
        self._negated.append(negated)


class _Kind:
    """Patterns that are asked alike, each with its number in the file."""

    __slots__ = ("literal", "numbers", "ready", "wild")

    def __init__(self) -> None:
        self.literal: dict[bytes, int] = {}
        self.wild: list[bytes] = []
        self.numbers: list[int] = []
        self.ready: re.Pattern[bytes] | None = None

    def add(self, pattern: bytes, number: int) -> None:
        special = _SPECIAL.search(pattern)
        if special is None:
            self.literal[pattern] = number
            return
        expression = _expression(pattern, special.start())
        if expression is not None:
            self.wild.append(expression)
            self.numbers.append(number)

    def last(self, text: bytes) -> int:
        """Return the number of the last pattern that fits, -1 for none."""
        found = self.literal.get(text, -1)
        if not self.wild:
            return found
        if self.ready is None:
            self.wild.reverse()
            self.numbers.reverse()
            self.ready = re.compile(
                b"(?s:" + b"|".join(b"(%b)" % each for each in self.wild) + b")\\Z"
            )
        fits = self.ready.match(text)
        return found if fits is None else max(found, self.numbers[(fits.lastindex or 1) - 1])


def _lines(text: bytes) -> Iterator[bytes]:
    """Yield the patterns of a text: no comments, and only escaped trailing blanks."""
    for line in text.removeprefix(_MARK).split(b"\n"):
        if not line or line.startswith(b"#"):
            continue
        line = line.removesuffix(b"\r").partition(b"\0")[0]
        kept = line.rstrip(b" ")
        escaped = (len(kept) - len(kept.rstrip(b"\\"))) % 2
        yield kept + b" " if escaped and kept != line else kept


def _expression(pattern: bytes, special: int) -> bytes | None:
    """Return the regular expression of a pattern with wildcards, None where it can match nothing.

    In git `**` is parsed again after the text before the first wildcard: `a**/b` matches `ab`.
    """
    if len(pattern) > _LONGEST:
        return None
    units = _units(pattern[special:])
    if units is None:
        return None
    pieces = [re.escape(pattern[:special])]
    group: list[bytes] = []
    skip = b""
    for unit in [*units, b""]:
        if unit in _ACROSS or not unit:
            inner = skip + _segments(group)
            # The nearest place is the best one: whatever follows has the most room then.
            pieces.append(b"(?>%b)" % inner if unit and skip else inner)
            group, skip = [], _ACROSS.get(unit, b"")
        else:
            group.append(unit)
    return b"".join(pieces)


#: What `**` before a slash and at the end skips: whole names.
_ACROSS = {b"**/": b"(?:[^/]*+/)*?", b"**\\": b"(?:[^/]*+/)+?", b"**": b".*+"}


def _segments(units: list[bytes]) -> bytes:
    """Return the expression of units without `**`: a star backtracks only at the end of a name."""
    pieces: list[bytes] = []
    starts = [at for at, unit in enumerate(units) if unit == b"*"]
    if not starts:
        return b"".join(units)
    pieces.append(b"".join(units[: starts[0]]))
    for start, end in zip(starts, [*starts[1:], len(units)], strict=True):
        chunk = units[start + 1 : end]
        slash = chunk.index(b"/") if b"/" in chunk else None
        if slash is not None or end == len(units):
            head = chunk[:slash]
            tail = chunk[len(head) :]
            star = b"[^/]*" if head else b"[^/]*+"
            pieces.append(star + b"".join(head) + b"".join(tail))
        else:
            pieces.append(b"(?>[^/]*?" + b"".join(chunk) + b")")
    return b"".join(pieces)


def _units(pattern: bytes) -> list[bytes] | None:
    """Return a pattern taken apart: stars, slashes, and one expression for each other byte."""
    units: list[bytes] = []
    at, size = 0, len(pattern)
    while at < size:
        byte = pattern[at : at + 1]
        if byte == b"*":
            end = at + 1
            while pattern[end : end + 1] == b"*":
                end += 1
            units.append(_star(pattern, at, end))
            at = end + (units[-1] == b"**/") + 2 * (units[-1] == b"**\\")
        elif byte == b"[":
            from dulwich.wildmatch import MalformedPattern, translate_bracket_expression

            try:
                at, expression = translate_bracket_expression(pattern, at + 1)
            except MalformedPattern:
                return None
            units.append(expression)
        elif byte == b"\\":
            if at + 1 == size:
                return None
            units.append(re.escape(pattern[at + 1 : at + 2]))
            at += 2
        else:
            units.append(b"[^/]" if byte == b"?" else re.escape(byte))
            at += 1
    return units


def _star(pattern: bytes, start: int, end: int) -> bytes:
    """Return the meaning of a run of stars: `**` only where it matches whole names, else `*`."""
    if end - start == 1 or pattern[start - 1 : start] not in (b"", b"/"):
        return b"*"
    for follower in (b"/", b"\\/"):
        if pattern.startswith(follower, end):
            return b"**" + follower[:1]
    return b"**" if end == len(pattern) else b"*"
