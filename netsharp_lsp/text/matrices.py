"""Counts what texts of data contain as CNTK reads them: a matrix with a line for each row, labels
with a line for each. Knows no disk: a text comes in blocks of bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.text.expressions import late

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Longer than any number in practice.
_LONGEST = 1000
_BLANKS = (b"\n", b" ", b"\t", b"\v", b"\f")
#: Numbers in C that Python does not read.
_NUMBER = late(
    rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*"
    rb"|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?|inf(?:inity)?|nan(?:\(\w*\))?)",
    re.IGNORECASE,
)
#: Characters that a configuration does not read as part of one label.
_MORE_THAN_LABELS = late(rb"[#:;*{}()\[\]\"'=$\\%]")


class Matrix(NamedTuple):
    """The rows and columns of a text of numbers; `flaw` is why CNTK stops reading it."""

    rows: int
    columns: int
    flaw: str = ""


def matrix_of(blocks: Iterable[bytes]) -> Matrix:
    """Count rows and columns; empty lines do not count, and the first flaw ends the count."""
    counting = _Rows()
    for block in _whole(blocks):
        counting.take(block)
        if counting.flaw:
            break
    return counting.matrix()


def labels_in(blocks: Iterable[bytes]) -> int:
    """Count the labels of a list with one on each line; -1 where a line has more than a label."""
    count, rest = 0, b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        if _MORE_THAN_LABELS.search(block) is not None or len(rest) > _LONGEST:
            return -1
        count += sum(1 for line in lines if line.strip())
    return count + bool(rest.strip())


class _Rows:
    """The rows so far, and the current line: its number and its number of words."""

    __slots__ = ("_begun", "_columns", "_first", "_line", "_rows", "_width", "flaw")

    def __init__(self) -> None:
        self.flaw = ""
        self._rows = self._columns = self._first = self._width = 0
        self._line, self._begun = 1, False

    def take(self, block: bytes) -> None:
        """Count a block of whole words; equal lines inside it are counted many at once."""
        first, *others = block.replace(b"\r\n", b"\n").split(b"\n")
        sound = not _wrong(block.split())
        self._continue(first, sound)
        if not others or self.flaw:
            return
        self._end()
        *inner, last = others
        if not self._all_equal(inner, sound):
            for line in inner:
                self._continue(line, sound)
                self._end()
        self._continue(last, sound)

    def _all_equal(self, lines: list[bytes], sound: bool) -> bool:
        """Count lines at once if each is empty or a row of the known width."""
        rows = [line for line in lines if line]
        widths = set(map(len, map(bytes.split, rows)))
        if not sound or self.flaw or (rows and (not self._rows or widths != {self._columns})):
            return False
        self._rows += len(rows)
        self._line += len(lines)
        return True

    def matrix(self) -> Matrix:
        """Return the matrix that was counted."""
        self._end()
        empty = "" if self._columns else "it contains no numbers"
        return Matrix(self._rows, self._columns, self.flaw or empty)

    def _continue(self, piece: bytes, sound: bool) -> None:
        words = piece.split()
        self._begun = self._begun or bool(piece)
        self._width += len(words)
        wrong = b"" if sound or self.flaw else _wrong(words)
        if wrong:
            shown = wrong[:20].decode("utf-8", "replace")
            self.flaw = f"line {self._line} has '{shown}', which is not a number"

    def _end(self) -> None:
        """End a line; an empty one does not count as a row."""
        if self._begun and not self.flaw:
            if not self._rows:
                self._columns, self._first = self._width, self._line
            elif self._width != self._columns:
                count = f"{self._width} number{'s' * (self._width != 1)}"
                self.flaw = (
                    f"line {self._line} has {count}, and line {self._first} has {self._columns}"
                )
            self._rows += not self.flaw
        self._line += 1
        self._width, self._begun = 0, False


def _whole(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks, none of which ends within a word or within a line end."""
    rest = b""
    for block in blocks:
        text = rest + block
        cut = max(map(text.rfind, _BLANKS)) + 1
        if len(text) - cut > _LONGEST:
            cut = text.rfind(b"\r") + 1
        if len(text) - cut > _LONGEST:
            yield text[: cut + _LONGEST] + b"..."
            return
        rest = text[cut:]
        yield text[:cut]
    yield rest


def _wrong(words: list[bytes]) -> bytes:
    """Return the first word that is not a number, empty where all are numbers."""
    try:
        for _ in map(float, words):
            pass
        odd = any(b"_" in word for word in words)
    except ValueError:
        odd = True
    if not odd:
        return b""
    return next((word for word in words if _NUMBER.fullmatch(word) is None), b"")
