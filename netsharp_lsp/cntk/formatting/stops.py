"""What on a line of statements or arguments a person may have aligned with other lines.

Knows tokens and what stood between them, but no other line.
"""

from __future__ import annotations

from itertools import accumulate

from netsharp_lsp.cntk.formatting.columns import Stop, is_wide
from netsharp_lsp.cntk.formatting.tokens import ASSIGN, CLOSERS, NAMED, OPENERS, SEPARATORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.formatting.tokens import Token

#: Styles: with blanks as all statements are written, and arguments by what is behind their `=`.
_USUAL, _APART, _TIGHT = 0, 1, 2


def stops_of(
    tokens: Sequence[Token], pieces: Sequence[bytes], text: bytes, *, inside: bool
) -> list[Stop | None]:
    """Return the `=` of the first statement or argument, the start of the next, its `=`, and so on.

    `pieces` are the words of the line with what is written between them; `inside`: arguments.
    """
    line = _Words(tokens, pieces, text)
    stops: list[Stop | None] = []
    for first, end in _members(tokens, inside):
        if first:
            stops.append(line.start(first))
        number = _argument_sign(tokens, first, end) if inside else _sign(tokens, first, end)
        stops.append(line.sign(number) if number else None)
    return stops


def _members(tokens: Sequence[Token], inside: bool) -> Iterator[tuple[int, int]]:
    """The numbers of the tokens at which each statement or argument of a line begins and ends."""
    first = depth = 0
    for number, token in enumerate(tokens):
        if number and not depth:
            begins = tokens[number - 1].role in SEPARATORS if inside else token.starts
            if begins:
                yield first, number
                first = number
        depth += (token.role in OPENERS) - (token.role in CLOSERS)
        if depth < 0:
            # The bracket around ends here, and what follows is no member of it.
            break
    yield first, len(tokens)


def _sign(tokens: Sequence[Token], first: int, end: int) -> int:
    """The number of the `=` of a statement, or 0."""
    for number in range(first + 1, end):
        token = tokens[number]
        if token.starts:
            break
        if token.role == ASSIGN:
            return number if token.text == b"=" else 0
    return 0


def _argument_sign(tokens: Sequence[Token], first: int, end: int) -> int:
    """The number of the `=` behind the name of an argument, or 0."""
    number = first + 1
    return number if number + 1 < end and tokens[number].role == NAMED else 0


class _Words:
    """The words of a line, where each of them ends, and what stood between them."""

    __slots__ = ("_ends", "_pieces", "_text", "_tokens")

    def __init__(self, tokens: Sequence[Token], pieces: Sequence[bytes], text: bytes) -> None:
        self._tokens = tokens
        self._pieces = pieces
        self._text = text
        self._ends = list(accumulate(map(len, pieces)))

    def start(self, number: int) -> Stop | None:
        """The start of a statement or an argument behind another."""
        token, separator = self._tokens[number], self._tokens[number - 1]
        if separator.role not in SEPARATORS or self._before(number) != b" ":
            return None
        around = (self._stood(number - 1), self._stood(number))
        if any(blanks.strip(b" \t") for blanks in around):
            return None
        return Stop(self._ends[2 * number - 2], token.start, any(map(is_wide, around)), _USUAL)

    def sign(self, number: int) -> Stop | None:
        """A `=`, which has a blank before it where it is that of a statement."""
        sign, stood = self._tokens[number], self._stood(number)
        is_argument = sign.role == NAMED
        if stood.strip(b" \t") or self._before(number) != (b"" if is_argument else b" "):
            return None
        style = _USUAL
        if is_argument:
            style = _APART if self._stood(number + 1) else _TIGHT
        return Stop(self._ends[2 * number - 2], sign.start, is_wide(stood), style, is_argument)

    def _before(self, number: int) -> bytes:
        return self._pieces[2 * number - 1]

    def _stood(self, number: int) -> bytes:
        return self._text[self._tokens[number - 1].end : self._tokens[number].start]
