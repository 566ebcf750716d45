"""The parts of a line of statements or arguments that may be aligned with other lines.

Knows tokens and the text between them, but no other line.
"""

from __future__ import annotations

from itertools import accumulate

from netsharp_lsp.cntk.formatting.columns import Stop, is_wide
from netsharp_lsp.cntk.formatting.tokens import ASSIGN, CLOSERS, NAMED, OPENERS, SEPARATORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.formatting.tokens import Token

#: Styles: with blanks as in all statements, and arguments by what follows their `=`.
_USUAL, _APART, _TIGHT = 0, 1, 2


def stops_of(
    tokens: Sequence[Token], pieces: Sequence[bytes], text: bytes, *, inside: bool
) -> list[Stop | None]:
    """Return the `=` of the first statement or argument, the start of the next, its `=`, and so on.

    `pieces` are the words of the line with the text between them; `inside`: arguments.
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
    """Yield the numbers of the tokens at which each statement or argument of a line begins and
    ends.
    """
    first = depth = 0
    for number, token in enumerate(tokens):
        if number and not depth:
            begins = tokens[number - 1].role in SEPARATORS if inside else token.starts
            if begins:
                yield first, number
                first = number
        depth += (token.role in OPENERS) - (token.role in CLOSERS)
        if depth < 0:
            # The bracket around ends here, and what follows is not a member of it.
            break
    yield first, len(tokens)


def _sign(tokens: Sequence[Token], first: int, end: int) -> int:
    """Return the number of the `=` of a statement, or 0."""
    for number in range(first + 1, end):
        token = tokens[number]
        if token.starts:
            break
        if token.role == ASSIGN:
            return number if token.text == b"=" else 0
    return 0


def _argument_sign(tokens: Sequence[Token], first: int, end: int) -> int:
    """Return the number of the `=` after the name of an argument, or 0."""
    number = first + 1
    return number if number + 1 < end and tokens[number].role == NAMED else 0


class _Words:
    """The words of a line, the end of each, and the source text between them."""

    __slots__ = ("_ends", "_pieces", "_text", "_tokens")

    def __init__(self, tokens: Sequence[Token], pieces: Sequence[bytes], text: bytes) -> None:
        self._tokens = tokens
        self._pieces = pieces
        self._text = text
        self._ends = list(accumulate(map(len, pieces)))

    def start(self, number: int) -> Stop | None:
        """Return the start of a statement or an argument after another."""
        token, separator = self._tokens[number], self._tokens[number - 1]
        if separator.role not in SEPARATORS or self._before(number) != b" ":
            return None
        around = (self._between(number - 1), self._between(number))
        if any(blanks.strip(b" \t") for blanks in around):
            return None
        return Stop(self._ends[2 * number - 2], token.start, any(map(is_wide, around)), _USUAL)

    def sign(self, number: int) -> Stop | None:
        """Return a `=`, which has a blank before it if it is that of a statement."""
        sign, blanks = self._tokens[number], self._between(number)
        is_argument = sign.role == NAMED
        if blanks.strip(b" \t") or self._before(number) != (b"" if is_argument else b" "):
            return None
        style = _USUAL
        if is_argument:
            style = _APART if self._between(number + 1) else _TIGHT
        return Stop(self._ends[2 * number - 2], sign.start, is_wide(blanks), style, is_argument)

    def _before(self, number: int) -> bytes:
        return self._pieces[2 * number - 1]

    def _between(self, number: int) -> bytes:
        return self._text[self._tokens[number - 1].end : self._tokens[number].start]
