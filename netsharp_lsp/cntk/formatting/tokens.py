"""The properties of a token for a layout: its role, its spelling, and the gap between two.

The same for configurations, NDL, MEL and BrainScript; tokenisation is elsewhere.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    # The gap between two tokens, by their roles.
    Gaps: TypeAlias = list[list[bytes]]

# Roles.
#: A word, number or string, or text that is printed unchanged.
WORD = 0
#: A word that sticks to the token before it.
SUFFIX = 1
#: `=` and `=>` with blanks around; `=` of a named argument without.
ASSIGN = 2
NAMED = 3
#: Between operands, with blanks; before one, without; between two that belong together.
OPERATOR = 4
SIGN = 5
TIGHT = 6
#: `then` and `else`.
BRANCH = 7
COMMA = 8
SEMICOLON = 9
#: What has blanks around where it has them in the text.
LOOSE = 10
#: Opening brackets: with a blank before them, without one, and two that no line breaks in.
OPEN = 11
TIGHT_OPEN = 12
HELD_OPEN = 13
HELD_TIGHT_OPEN = 14
#: `[|`, with blanks within.
PADDED_OPEN = 15
#: A bracket around statements.
BLOCK = 16
CLOSE = 17
PADDED_CLOSE = 18
BLOCK_CLOSE = 19
BLOCK_COMMENT = 20
COMMENT = 21
_ROLES = 22

OPENERS = frozenset((OPEN, TIGHT_OPEN, HELD_OPEN, HELD_TIGHT_OPEN, PADDED_OPEN, BLOCK))
CLOSERS = frozenset((CLOSE, PADDED_CLOSE, BLOCK_CLOSE))
HELD = frozenset((HELD_OPEN, HELD_TIGHT_OPEN))
SEPARATORS = frozenset((COMMA, SEMICOLON))
_TIGHT_AFTER = frozenset(
    (OPEN, TIGHT_OPEN, HELD_OPEN, HELD_TIGHT_OPEN, SIGN, NAMED, TIGHT),
)
_TIGHT_BEFORE = frozenset(
    (SUFFIX, NAMED, TIGHT, COMMA, SEMICOLON, TIGHT_OPEN, HELD_TIGHT_OPEN, CLOSE)
)

#: Characters that CNTK takes for a bracket's separator directly after the bracket.
CUSTOM_SEPARATORS = frozenset(b"`~!@$%^&*_-+|:;,?.")
_NUMBER_SIGN, _POINT, _STAR = b"#.*"
_QUOTES = b"\"'"


class Token:
    """One token: its role and spelling, its span, and its line breaks.

    `breaks`: the line ends before it, 2 for an empty line or several. `starts`: a statement begins
    here. `free`: line ends around it have no meaning. `pinned`: it stays in the first column.
    """

    __slots__ = ("breaks", "end", "free", "pinned", "role", "start", "starts", "text")

    def __init__(self, role: int, text: bytes, start: int, end: int, free: bool) -> None:
        self.role = role
        self.text = text
        self.start = start
        self.end = end
        self.free = free
        self.breaks = 0
        self.starts = False
        self.pinned = False

    def __repr__(self) -> str:
        return f"Token({self.role}, {self.text!r})"


def open_choices(number: int, token: Token) -> int:
    """Return the number of choices without `else` after a token, given the number before it."""
    if token.role == WORD and token.text == b"if":
        return number + 1
    if token.role == BRANCH and token.text == b"else":
        return max(0, number - 1)
    return number


def _gaps() -> Gaps:
    table = [
        [
            b"" if before in _TIGHT_AFTER or after in _TIGHT_BEFORE else b" "
            for after in range(_ROLES)
        ]
        for before in range(_ROLES)
    ]
    table[BLOCK][BLOCK_CLOSE] = b""
    table[PADDED_OPEN][PADDED_CLOSE] = b""
    return table


_GAPS = _gaps()


def gap(before: Token, after: Token, text: bytes) -> bytes:
    """Return the gap between two tokens of one line.

    It is unchanged where a blank has a meaning: before `#`, between an opening bracket and what
    could be a separator of its own, and between statements without a separator.
    """
    first = after.text[0]
    if first == _NUMBER_SIGN or before.role == LOOSE or after.role == LOOSE:
        beside_block = before.role == BLOCK_CLOSE or after.role == BLOCK
        apart = before.end != after.start or (beside_block and first != _NUMBER_SIGN)
        return b" " if apart else b""
    if before.role in OPENERS and first in CUSTOM_SEPARATORS:
        return text[before.end : after.start]
    if after.role == OPERATOR and before.text[-1] == _POINT and first == _STAR:
        # `2.*x` is `2. * x`, and the checker has something to say about it.
        return b"" if before.end == after.start else b" "
    if after.starts and before.role not in SEPARATORS and before.role not in OPENERS:
        return _between_statements(before, after, text)
    return _GAPS[before.role][after.role]


def _between_statements(before: Token, after: Token, text: bytes) -> bytes:
    """Return the gap before a key of a configuration: words before it are part of it, with their
    blanks.
    """
    if before.role == WORD and before.text[-1] not in _QUOTES and not after.free:
        return text[before.end : after.start]
    return b"" if before.end == after.start else b" "
