"""How wide text stands in a terminal: tabs, wide and combining characters; no language."""

from __future__ import annotations

from netsharp_lsp.text.visible import visible_character

#: Columns from one tab stop to the next.
TAB = 4


def shown(text: str) -> tuple[str, list[int]]:
    """Return text as a terminal can show it, and the column from 0 of each of its characters.

    Tabs become blanks, what would act instead of being shown becomes visible. The list has one
    entry more than `text` has characters: the width of the whole.
    """
    if text.isascii() and text.isprintable():
        return text, list(range(len(text) + 1))
    from unicodedata import category, combining, east_asian_width

    pieces: list[str] = []
    columns = [0]
    column = 0
    for character in text:
        width = 1
        if character == "\t":
            width = TAB - column % TAB
            character = " " * width
        elif combining(character) or category(character) in ("Mn", "Me"):
            width = 0
        elif east_asian_width(character) in ("W", "F"):
            width = 2
        else:
            character = visible_character(character)
            width = len(character)
        pieces.append(character)
        column += width
        columns.append(column)
    return "".join(pieces), columns
