"""Shortens Python for its parser: long runs of comments and blank lines, and crowded f-strings.

parso copies all comments and blank lines before a token once for each line of them, and the rest of
a line once for each hole of an f-string; knows only where strings and comments are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from netsharp_lsp.embedded.code.evidence import HINT, MARKER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.text.lines import LineIndex

#: The most lines in a row, and holes in a string, that may stay.
_FEW = 1_000
_FEW_HOLES = 200
_BLANKS = b" \t\f\r\n"
#: Strings, also those that stay open, and comments: `#` means nothing in the first.
_LONG = re.compile(
    rb"#[^\r\n]*+|(?:[fF][rR]?|[rR][fF])?+(?:"
    rb"\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*+(?:\"\"\"|\Z)"
    rb"|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)"
    rb"|\"(?:[^\"\\\r\n]|\\(?:\r\n|.))*+\"?"
    rb"|'(?:[^'\\\r\n]|\\(?:\r\n|.))*+'?)",
    re.DOTALL,
)
_TO_BYTES = bytes.maketrans(b"fF", b"bB")


def has_code(text: bytes) -> bool:
    """Return whether a text hints at a specification outside its comments."""
    if MARKER.search(text) is not None:
        return True
    bare = _LONG.sub(lambda found: b" " if found.group()[:1] == b"#" else found.group(), text)
    return HINT.search(bare) is not None


class Legible:
    """The lines that are parsed, from 1, and which lines of the text they are."""

    __slots__ = ("_left_out", "_resumed", "text")

    def __init__(self, text: bytes, lines: LineIndex) -> None:
        runs = list(_runs(text, lines)) if lines.count > _FEW else []
        starts = [*lines.starts, len(text)]
        kept = [0, *(starts[end] for _, end in runs)]
        self.text = _without_crowds(
            b"".join(
                text[start : starts[first]]
                for start, (first, _) in zip(kept, [*runs, (lines.count, 0)], strict=True)
            )
        )
        #: Of each run: the line that is read after it, and the number left out up to there.
        self._left_out = [0, *accumulate(end - first for first, end in runs)]
        self._resumed = [
            first + 1 - before for (first, _), before in zip(runs, self._left_out, strict=False)
        ]

    def in_text(self, line: int) -> int:
        """Return the line of the text for a parsed line."""
        return line + self._left_out[bisect_right(self._resumed, line)]

    def read(self, line: int) -> int | None:
        """Return the parsed line for a line of the text; None if it is left out."""
        number = bisect_right(range(len(self._resumed)), line, key=self._first_after)
        read = line - self._left_out[number]
        return read if self.in_text(read) == line else None

    def _first_after(self, number: int) -> int:
        """Return the first line of the text after a run."""
        return self._resumed[number] + self._left_out[number + 1]


def _runs(text: bytes, lines: LineIndex) -> Iterator[tuple[int, int]]:
    """Yield long runs of comments and blank lines, from 0: the first line, one past the last."""
    found = []
    first = None
    for number, line in enumerate(text.splitlines(keepends=True)):
        bare = line.strip(_BLANKS)
        if not bare or bare == b"\\" or bare.startswith(b"#"):
            first = number if first is None else first
        elif first is not None:
            found.append((first, number))
            first = None
    if first is not None:
        found.append((first, lines.count - 1))
    found = [(first, end) for first, end in found if end - first > _FEW]
    return iter(_outside(text, lines, found)) if found else iter(())


def _outside(text: bytes, lines: LineIndex, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts of the runs that are not in strings."""
    left = []
    strings = [found.span() for found in _LONG.finditer(text) if found.group()[:1] != b"#"]
    begins = [begin for begin, _ in strings]
    for first, end in runs:
        before = bisect_right(begins, lines.starts[first]) - 1
        if before >= 0 and strings[before][1] > lines.starts[first]:
            first = lines.line_at(strings[before][1]) + 1
        if end - first > _FEW:
            left.append((first, end))
    return left


def _without_crowds(text: bytes) -> bytes:
    """Return the text with f-strings of many holes, none of which is Net#, as bytes literals."""
    if text.count(b"{") <= _FEW_HOLES:
        return text
    return _LONG.sub(_concealed, text)


def _concealed(found: re.Match[bytes]) -> bytes:
    string: bytes = found.group()
    holes = string.count(b"{") - 2 * string.count(b"{{")
    if string[:1] not in b"fFrR" or holes <= _FEW_HOLES:
        return string
    return string[:2].translate(_TO_BYTES) + string[2:]
