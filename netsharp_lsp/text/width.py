"""The width of text in a terminal: tabs, wide and combining characters; no language."""

from __future__ import annotations

import re

from netsharp_lsp.text.expressions import late
from netsharp_lsp.text.visible import visible_character

#: Columns from one tab stop to the next.
TAB = 4
#: Characters of one column each, as they are, and single others.
_PIECES = late(r"(?P<plain>[ -~]+)|(?P<other>.)", re.DOTALL)


def shown(text: str) -> tuple[str, list[int]]:
    """Return text as a terminal can show it, and the column from 0 of each of its characters.

    Tabs become blanks, and characters that a terminal would act on become escapes. The list has one
    entry more than `text` has characters: the width of the whole.
    """
    if text.isascii() and text.isprintable():
        return text, list(range(len(text) + 1))
    from unicodedata import category, combining, east_asian_width

    pieces: list[str] = []
    columns = [0]
    for found in _PIECES.finditer(text):
        piece, column = found.group(), columns[-1]
        if found.lastgroup == "plain":
            columns.extend(range(column + 1, column + len(piece) + 1))
        else:
            width = 1
            if piece == "\t":
                width = TAB - column % TAB
                piece = " " * width
            elif combining(piece) or category(piece) in ("Mn", "Me"):
                width = 0
            elif east_asian_width(piece) in ("W", "F"):
                width = 2
            else:
                piece = visible_character(piece)
                width = len(piece)
            columns.append(column + width)
        pieces.append(piece)
    return "".join(pieces), columns
