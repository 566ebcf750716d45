"""Texts and edits drawn by a seed, as people make them: marks go and come, lines are pasted, work
is taken back."""

from __future__ import annotations

import random
import re

from bench.generate import netsharp
from netsharp_lsp.text.edits import Edit, apply_edits
from tests.collection import SAMPLES

LONGEST = 12_000
MARKS = re.compile(rb"[;{}\[\]()=,/*#-]")
#: Alternatives that an edit puts in.
PIECES = (
    *("", " ", "\n", "\r\n", "\t", ";", "{", "}", "[", "]", "(", ")", ",", "=", "=>", "==", "."),
    *("//", "/*", "*/", "/* x */", "#", "<!--", "-->", "--", "&gt;", "```", '"', "“", "é", "😀"),
    *("hidden ", "output ", "input ", "const ", "share ", "from ", " all", " where ", "auto"),
    *("const {", "hidden {", "share {", " convolve {", "where (s, d) => ", "= 3;", "0", "1e400"),
    *("hidden H9 [3] from H all;\n", "from A all; ", "[2, 3]", "Padding = true;", "；", "－"),
)


def drawn_text(chance: random.Random) -> bytes:
    """A generated network, texts of the corpus one after another, or both in turn."""
    how = chance.random()
    if how < 0.3:
        return netsharp(chance.choice((50, 150, 400)), chance.randrange(1000))
    parts = [chance.choice(SAMPLES).text for _ in range(chance.choice((1, 3, 12)))]
    if how < 0.6:
        parts = [one for part in parts for one in (part, netsharp(60, chance.randrange(1000)))]
    text = b"\n".join(parts)
    return text[: boundary(text, LONGEST)]


class Work:
    """A text under edits."""

    def __init__(self, text: bytes, chance: random.Random) -> None:
        self.text = text
        self.chance = chance
        self._before = [text]

    def edits(self) -> list[Edit]:
        """The next edits, which are made: a mark deleted, a piece put in, a text undone."""
        how = self.chance.random()
        if how < 0.2:
            made = [Edit(0, len(self.text), self._before[-1].decode())]
        elif how < 0.55:
            made = [self._mark_deleted()]
        elif how < 0.9:
            made = [self._piece_put_in(self.chance.choice(PIECES))]
        else:
            start = boundary(self.text, self.chance.randrange(len(self.text) + 1))
            end = boundary(self.text, start + self.chance.randint(1, 600))
            made = [self._piece_put_in(self.text[start:end].decode())]
        self._before.append(self.text)
        self.text = apply_edits(self.text, made)
        return made

    def _place(self) -> int:
        return boundary(self.text, self.chance.randrange(len(self.text) + 1))

    def _mark_deleted(self) -> Edit:
        around = self._place()
        marks = [*MARKS.finditer(self.text, max(0, around - 200), around + 200)]
        if not marks:
            return Edit(around, around, ";")
        return Edit(*self.chance.choice(marks).span(), "")

    def _piece_put_in(self, piece: str) -> Edit:
        start = self._place()
        length = self.chance.choice((0, 0, 0, 1, 1, 2, 5, 20, 80, 400))
        return Edit(start, max(start, boundary(self.text, start + length)), piece)


def boundary(text: bytes, offset: int) -> int:
    """The end of the character that an offset lies in, in the text."""
    offset = min(offset, len(text))
    while offset < len(text) and text[offset] & 0xC0 == 0x80:
        offset += 1
    return offset
