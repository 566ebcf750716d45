"""Text that maps each of its bytes to where it was written; knows no configuration.

CNTK joins files, cuts comments and substitutes variables before it parses anything. Doing the same
on this text keeps the mapping back to the files.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from netsharp_lsp.cntk.configuration.sources import Source, SourcePlace


class Use:
    """A variable's name that was replaced, or not: `problem` is the kind of fault then.

    `at` and `end` are the span of its replacement in the text, `definition` is where the variable's
    value was written.
    """

    __slots__ = ("at", "definition", "end", "name", "problem")

    def __init__(
        self, at: int, end: int, name: str, definition: SourcePlace | None, problem: str | None
    ) -> None:
        self.at = at
        self.end = end
        self.name = name
        self.definition = definition
        self.problem = problem

    def moved(self, by: int, low: int, high: int) -> Use:
        """Return the same, shifted by a number of bytes and clamped between two ends."""
        at, end = (min(max(place + by, low), high) for place in (self.at, self.end))
        return Use(at, end, self.name, self.definition, self.problem)


class Piece:
    """Bytes of a traced text from `at` on that come from ``start:end`` of a source.

    `verbatim` ones are that text, byte for byte; others represent it as a whole.
    """

    __slots__ = ("at", "end", "source", "start", "verbatim")

    def __init__(self, at: int, source: Source, span: tuple[int, int], verbatim: bool) -> None:
        self.at = at
        self.source = source
        self.start, self.end = span
        self.verbatim = verbatim


class Traced:
    """An immutable text with its pieces, in order and without gaps, and the variables in it.

    The variables are ordered by place, each before those in its value.
    """

    __slots__ = ("_reach", "_starts", "_use_starts", "pieces", "text", "uses")

    def __init__(self, text: bytes, pieces: list[Piece], uses: tuple[Use, ...] = ()) -> None:
        self.text = text
        self.pieces = pieces
        self.uses = uses
        self._starts: list[int] | None = None
        self._use_starts: list[int] = []
        self._reach: list[int] = []

    def __len__(self) -> int:
        return len(self.text)

    def __repr__(self) -> str:
        return f"Traced({self.text!r})"

    def slice(self, start: int, end: int) -> Traced:
        """Return the bytes ``start:end`` with their origins."""
        if self.pieces and not self.uses and 0 <= start <= end:
            number = self.number_at(start)
            piece = self.pieces[number]
            if piece.verbatim and end <= self._end(number):
                span = (piece.start + start - piece.at, piece.start + end - piece.at)
                return Traced(self.text[start:end], [Piece(0, piece.source, span, verbatim=True)])
        weaver = Weaver()
        weaver.take(self, start, end)
        return weaver.done()

    def place(self, start: int, end: int) -> SourcePlace:
        """Return where ``start:end`` was written; as far as one source goes if it comes from
        several.
        """
        number = self.number_at(start)
        first = last = self.pieces[number]
        if end > self._end(number):
            last = self._piece(max(start, end - 1))
        low = first.start + (start - first.at if first.verbatim else 0)
        if last.source is not first.source:
            last = first
            end = self._end(number)
        high = last.start + (end - last.at) if last.verbatim else last.end
        return SourcePlace(first.source, min(low, first.end), max(min(high, last.end), low))

    def inner(self, source: str, offset: int) -> int | None:
        """Return the offset in the text of an offset in a source; None where it is not in the
        text.
        """
        for number, piece in enumerate(self.pieces):
            length = self._end(number) - piece.at
            reach = length if piece.verbatim else piece.end - piece.start
            if piece.source.name == source and piece.start <= offset <= piece.start + reach:
                return piece.at + (min(offset - piece.start, length) if piece.verbatim else 0)
        return None

    def raw(self) -> bytes:
        """Return the text as written: names of variables in place of their values."""
        if all(piece.verbatim for piece in self.pieces):
            return self.text
        parts = []
        for number, piece in enumerate(self.pieces):
            if piece.verbatim or piece.start == piece.end:
                parts.append(self.text[piece.at : self._end(number)])
            else:
                parts.append(piece.source.text[piece.start : piece.end])
        return b"".join(parts)

    def _end(self, number: int) -> int:
        following = number + 1
        return self.pieces[following].at if following < len(self.pieces) else len(self.text)

    def number_at(self, offset: int) -> int:
        """Return the number of the piece that contains an offset, the last for the end of the
        text.
        """
        if len(self.pieces) == 1:
            return 0
        if self._starts is None:
            self._starts = [piece.at for piece in self.pieces]
        return max(0, bisect_right(self._starts, offset) - 1)

    def uses_around(self, start: int, end: int) -> tuple[Use, ...]:
        """Return the uses from the first that ends at or after `start` to the last that begins by
        `end`.
        """
        if not self.uses:
            return ()
        if not self._reach:
            self._use_starts = [use.at for use in self.uses]
            self._reach = list(accumulate((use.end for use in self.uses), max))
        first = bisect_left(self._reach, start)
        return self.uses[first : bisect_right(self._use_starts, end)]

    def _piece(self, offset: int) -> Piece:
        return self.pieces[self.number_at(offset)]


class Weaver:
    """A builder of a traced text."""

    __slots__ = ("_length", "_pieces", "_texts", "_uses")

    def __init__(self) -> None:
        self._texts: list[bytes] = []
        self._pieces: list[Piece] = []
        self._uses: list[Use] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, source: Source, start: int, end: int) -> None:
        """Add ``start:end`` of a source unchanged."""
        last = self._pieces[-1] if self._pieces else None
        if last is not None and last.source is source and last.verbatim and last.end == start:
            self._pieces[-1] = Piece(last.at, source, (last.start, end), verbatim=True)
        else:
            self._pieces.append(Piece(self._length, source, (start, end), verbatim=True))
        self._append(source.text[start:end])

    def add_placeholder(self, text: bytes, place: SourcePlace) -> None:
        """Add a text that represents the source at a place."""
        span = (place.start, place.end)
        self._pieces.append(Piece(self._length, place.source, span, verbatim=False))
        self._append(text)

    def use(self, use: Use) -> None:
        """Record a variable that was used at a place of this text."""
        self._uses.append(use)

    def take(self, text: Traced, start: int, end: int) -> None:
        """Add a part of a traced text."""
        by = self._length - start
        if text.pieces:
            self._take_pieces(text, start, end)
        self._append(text.text[start:end])
        for use in text.uses_around(start, end):
            inside = use.at < end and use.end > start
            if inside or start <= use.at == use.end <= end:
                self._uses.append(use.moved(by, start + by, self._length))

    def done(self) -> Traced:
        """Return the traced text."""
        return Traced(b"".join(self._texts), self._pieces, tuple(self._uses))

    def _take_pieces(self, text: Traced, start: int, end: int) -> None:
        by = self._length - start
        first = text.number_at(start)
        for number in range(first, len(text.pieces)):
            piece = text.pieces[number]
            if piece.at >= end and number > first:
                break
            after = text.pieces[number + 1].at if number + 1 < len(text.pieces) else len(text.text)
            low, high = max(piece.at, start), min(after, end)
            span = (piece.start, piece.end)
            if piece.verbatim:
                span = (piece.start + low - piece.at, piece.start + max(low, high) - piece.at)
            self._pieces.append(Piece(low + by, piece.source, span, piece.verbatim))

    def _append(self, text: bytes) -> None:
        self._texts.append(text)
        self._length += len(text)


def trim(text: bytes, start: int, end: int) -> tuple[int, int]:
    """Return ``start:end`` without blanks and tabs at its ends."""
    while start < end and text[start] in b" \t":
        start += 1
    while end > start and text[end - 1] in b" \t":
        end -= 1
    return start, end
