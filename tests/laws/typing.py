"""A user at a keyboard: random edits of a specification as people make them, and their undoing.

Edits are byte spans apart and in order; a text stays UTF-8 throughout.
"""

from __future__ import annotations

import random
import re

from netsharp_lsp.text.edits import Edit, apply_edits

WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*")
NUMBER = re.compile(rb"\d+(?:\.\d+)?")
MARK = re.compile(rb"[\[\](){};,=]|=>|&&|==")
KEYWORD = re.compile(rb"\b(?:const|input|hidden|output|share|from|all|where|convolve|auto|pool)\b")
#: A declaration as it is mostly written: from its keyword at the start of a line to the next.
DECLARATION = re.compile(rb"^(?:const|input|hidden|output|share)\b", re.MULTILINE)
TYPED = (b"a", b"x", b"S", b"_", b"7", b"0", b" ", b"\n", b";", b"{", b"}", b"[", b"]", b"(", b")")
PASTED = (
    b"hidden Extra [4] from Data all;\n",
    b"const N = 3;\n",
    b"input More auto;\n",
    b"/*",
    b"*/",
    b"//",
    b"# ",
    b"<!--",
    b"share { A, B }\n",
    b"from Data all;",
    b"Weights = [1, 2];",
    b"\xc3\xa9",
    b"\xe2\x80\x9c",
    b"const { A = B; B = A; }\n",
    b"output Second [2] from Data all;\n",
    b"hidden Z [2] linear from Data where (s, d) => s[0] == d[0];\n",
    b"\r\n",
    b"...",
    b"auto",
)


class Typist:
    """Edits a text at random; `text` is what it has become."""

    def __init__(self, text: bytes, chance: random.Random) -> None:
        self.text = text
        self._chance = chance
        self._undo: list[bytes] = []
        self._ways = (
            self._letter_in_word,
            self._letter_in_word,
            self._digit_in_number,
            self._digit_in_number,
            self._mark_out,
            self._mark_out,
            self._keyword_bitten,
            self._word_exchanged,
            self._typed,
            self._pasted,
            self._declaration_out,
            self._declaration_moved,
            self._declaration_doubled,
            self._renamed,
            self._renamed,
            self._erased,
            self._several,
        )

    def edit(self) -> list[Edit]:
        """Change the text; return the edits that lead from what it was to what it is."""
        if self._undo and self._chance.random() < 0.35:
            before = self._undo.pop()
            edits = self.difference(self.text, before)
        else:
            edits = self._chance.choice(self._ways)()
            self._undo.append(self.text)
        self.text = apply_edits(self.text, edits)
        try:
            self.text.decode()
        except UnicodeDecodeError:
            self.text = self._undo.pop()
            return []
        return edits

    @staticmethod
    def difference(before: bytes, after: bytes) -> list[Edit]:
        """One edit that leads from one text to another, and begins and ends between characters."""
        if before == after:
            return []
        shortest = min(len(before), len(after))
        start = next((i for i in range(shortest) if before[i] != after[i]), shortest)
        end = 0
        while end < shortest - start and before[-1 - end] == after[-1 - end]:
            end += 1
        while start and (after[start:] + b" ")[0] & 0xC0 == 0x80:
            start -= 1
        while start and (before[start:] + b" ")[0] & 0xC0 == 0x80:
            start -= 1
        while end and before[len(before) - end] & 0xC0 == 0x80:
            end -= 1
        text = after[start : len(after) - end].decode()
        return [Edit(start, len(before) - end, text)]

    def _place(self, pattern: re.Pattern[bytes]) -> tuple[int, int] | None:
        found = [match.span() for match in pattern.finditer(self.text)]
        return self._chance.choice(found) if found else None

    def _letter_in_word(self) -> list[Edit]:
        start, end = self._place(WORD) or (0, 0)
        at = self._chance.randint(start, end)
        return [Edit(at, at, self._chance.choice("axS_7"))]

    def _digit_in_number(self) -> list[Edit]:
        start, end = self._place(NUMBER) or (0, 0)
        if end - start > 1 and self._chance.random() < 0.5:
            return [Edit(start, start + 1, "")]
        at = self._chance.randint(start, end)
        return [Edit(at, at, self._chance.choice("0123456789."))]

    def _mark_out(self) -> list[Edit]:
        start, end = self._place(MARK) or (0, 0)
        return [Edit(start, end, self._chance.choice(("", "", "", ";", "[", ",")))]

    def _keyword_bitten(self) -> list[Edit]:
        start, end = self._place(KEYWORD) or (0, 0)
        at = self._chance.randint(start, max(end - 1, start))
        return [Edit(at, min(at + 1, end), self._chance.choice(("", "x")))]

    def _word_exchanged(self) -> list[Edit]:
        place, other = self._place(WORD), self._place(WORD)
        if place is None or other is None:
            return []
        return [Edit(*place, self.text[slice(*other)].decode())]

    def _anywhere(self) -> int:
        at = self._chance.randint(0, len(self.text))
        while at < len(self.text) and self.text[at] & 0xC0 == 0x80:
            at += 1
        return at

    def _typed(self) -> list[Edit]:
        at = self._anywhere()
        return [Edit(at, at, self._chance.choice(TYPED).decode())]

    def _pasted(self) -> list[Edit]:
        at = self._anywhere()
        if self._chance.random() < 0.6:
            at = self.text.rfind(b"\n", 0, at) + 1
        return [Edit(at, at, self._chance.choice(PASTED).decode())]

    def _declaration(self) -> tuple[int, int]:
        starts = [match.start() for match in DECLARATION.finditer(self.text)]
        if not starts:
            return 0, 0
        at = self._chance.randrange(len(starts))
        return starts[at], (*starts, len(self.text))[at + 1]

    def _declaration_out(self) -> list[Edit]:
        return [Edit(*self._declaration(), "")]

    def _declaration_doubled(self) -> list[Edit]:
        start, end = self._declaration()
        return [Edit(end, end, self.text[start:end].decode())]

    def _declaration_moved(self) -> list[Edit]:
        start, end = self._declaration()
        to, _ = self._declaration()
        if start <= to <= end:
            return []
        moved = Edit(to, to, self.text[start:end].decode())
        return sorted((Edit(start, end, ""), moved), key=lambda edit: edit.start)

    def _renamed(self) -> list[Edit]:
        place = self._place(WORD)
        if place is None:
            return []
        name = self.text[slice(*place)]
        new = self._chance.choice((name + b"2", name.swapcase(), name[:-1] or b"q")).decode()
        pattern = re.compile(rb"(?<!\w)" + re.escape(name) + rb"(?!\w)")
        return [Edit(*match.span(), new) for match in pattern.finditer(self.text)]

    def _erased(self) -> list[Edit]:
        start = self._anywhere()
        end = min(start + self._chance.choice((1, 1, 2, 10, 60)), len(self.text))
        while end < len(self.text) and self.text[end] & 0xC0 == 0x80:
            end += 1
        return [Edit(start, end, "")]

    def _several(self) -> list[Edit]:
        edits = sorted((*self._letter_in_word(), *self._mark_out()), key=lambda one: one.start)
        return edits if edits[0].end <= edits[1].start else edits[:1]
