"""A text written inside another one: its decoded bytes, and the source of each byte.

Knows neither hosts nor languages; how a text is written in another is defined by a form.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from netsharp_lsp.text.edits import Edit, apply_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    class Form(Protocol):
        """One way of writing a text inside another: a kind of literal, a fenced block."""

        @property
        def own_lines(self) -> bool:
            """Return whether the text begins and ends with lines of its own."""

        @property
        def one_line(self) -> bool:
            """Return whether all of the text is on one line of the source."""

        def encode(self, text: str) -> str | None:
            """Return `text` as the source writes it, None where this form cannot write it."""

        def decode(self, written: bytes) -> bytes | None:
            """Return the text of a whole content, None where it would end early or is wrong."""

        def settle(self, text: bytes, edit: Edit) -> Edit | None:
            """Return an equivalent edit of `text` that keeps protected bytes, None without one."""


#: Bytes that are read again to try the edits of one content: of a long one that has many faults,
#: the first ones get their fixes.
MOST_TRIED = 8 * 2**20


class Unreserved:
    """A mixin for forms in which an edit may reach every byte of the content."""

    __slots__ = ()

    def settle(self, text: bytes, edit: Edit) -> Edit | None:
        """Return the edit as it is: no byte is reserved."""
        return edit


class Pieces:
    """The parts of a content, one after the other, as a decoder finds them."""

    __slots__ = ("inner", "outer", "parts", "verbatim")

    def __init__(self) -> None:
        self.inner = [0]
        self.outer: list[int] = []
        self.parts: list[bytes] = []
        self.verbatim: list[bool] = []

    def copy(self, offset: int, text: bytes) -> None:
        """Add bytes that are their own text."""
        if text:
            self._add(offset, text, verbatim=True)

    def put(self, offset: int, text: bytes) -> None:
        """Add text that the source writes with other bytes, or with none."""
        self._add(offset, text, verbatim=False)

    def _add(self, offset: int, text: bytes, *, verbatim: bool) -> None:
        self.outer.append(offset)
        self.parts.append(text)
        self.verbatim.append(verbatim)
        self.inner.append(self.inner[-1] + len(text))


class Passage:
    """A content from `start` to `end` of `source`, whose decoded text is `text`.

    The pieces cover the content without a gap: verbatim ones byte by byte, the others as a whole
    (an escape, a line end with the prefix of the next line, the end of one literal and the
    beginning of the next). A passage of a passage has that one as `parent`, and its offsets are
    those of the parent's text.
    """

    __slots__ = (
        "_inner",
        "_outer",
        "_tried",
        "_verbatim",
        "end",
        "form",
        "parent",
        "source",
        "start",
        "text",
    )

    def __init__(
        self,
        source: bytes,
        end: int,
        pieces: Pieces,
        form: Form | None,
        parent: Passage | None = None,
    ) -> None:
        self.source = source
        self.start = pieces.outer[0] if pieces.outer else end
        self.end = end
        self.text = b"".join(pieces.parts)
        self.form = form
        self.parent = parent
        self._tried = 0
        self._inner = pieces.inner
        self._outer = [*pieces.outer, end]
        self._verbatim = pieces.verbatim

    def has_unknown(self, start: int, end: int) -> bool:
        """Return whether a part between two offsets of the text is known only at run time."""
        return False

    def is_within_part(self, start: int, end: int) -> bool:
        """Return whether one content contains all from one offset of the text to another."""
        return True

    @property
    def written(self) -> bytes:
        """Return the content as it is in the source."""
        return self.source[self.start : self.end]

    def pieces(self) -> Iterator[tuple[int, bytes, bool]]:
        """Yield each piece: its offset in the source, its text, whether it is verbatim."""
        for number, verbatim in enumerate(self._verbatim):
            text = self.text[self._inner[number] : self._inner[number + 1]]
            yield self._outer[number], text, verbatim

    def outer(self, inner: int) -> int:
        """Return where a byte of the text begins in the source; moved into the text if outside."""
        inner = min(max(0, inner), len(self.text))
        at = bisect_right(self._inner, inner) - 1
        if at < len(self._verbatim) and self._verbatim[at]:
            return self._outer[at] + inner - self._inner[at]
        return self._outer[at]

    def outer_end(self, inner: int) -> int:
        """Return where the bytes before an offset of the text end in the source."""
        inner = min(max(0, inner), len(self.text))
        at = bisect_left(self._inner, inner)
        if self._inner[at] == inner:
            return self._outer[at]
        if self._verbatim[at - 1]:
            return self._outer[at - 1] + inner - self._inner[at - 1]
        return self._outer[at]

    def inner(self, outer: int) -> int | None:
        """Return the offset in the text of an offset in the source, None outside the content.

        Inside an escape it is that of the escape.
        """
        if not self.start <= outer <= self.end:
            return None
        at = bisect_right(self._outer, outer) - 1
        if at < len(self._verbatim) and self._verbatim[at]:
            return self._inner[at] + outer - self._outer[at]
        return self._inner[at]

    def edits(self, edits: Sequence[Edit]) -> list[Edit] | None:
        """Return edits of the source that make these edits of the text.

        None where they cannot be made; those returned have been checked: the content around each,
        edited and decoded again, gives the edited text.
        """
        if self.form is None or self._tried > MOST_TRIED:
            return None
        made: list[tuple[Edit, Edit]] = []
        for edit in edits:
            one = self._edit(edit, self.form)
            if one is None:
                return None
            made.append((edit, one))
        tried = all(self._decodes_to(*stretch, self.form) for stretch in self._stretches(made))
        return [one for _, one in made] if tried else None

    def _stretches(
        self, made: Sequence[tuple[Edit, Edit]]
    ) -> Iterator[tuple[int, int, list[tuple[Edit, Edit]]]]:
        """Yield the pieces, from and to, that have to be decoded together, and the edits in them.

        Between two stretches is a verbatim piece that no edit touches: decoding what is before it
        does not depend on what is after it.
        """
        first, last = 0, -1
        own: list[tuple[Edit, Edit]] = []
        for both in sorted(made, key=lambda both: (both[0].start, both[0].end)):
            start, end = self._around(both[0])
            if own and start <= last:
                last = max(last, end)
            else:
                if own:
                    yield first, last, own
                first, last, own = start, end, []
            own.append(both)
        if own:
            yield first, last, own

    def _around(self, edit: Edit) -> tuple[int, int]:
        """Return the pieces between the nearest verbatim ones that an edit does not touch."""
        first = bisect_left(self._inner, edit.start, 0, len(self._verbatim)) - 1
        while first > 0 and not self._verbatim[first]:
            first -= 1
        last = bisect_right(self._inner, edit.end, 0, len(self._verbatim))
        while last < len(self._verbatim) and not self._verbatim[last]:
            last += 1
        return max(0, first), min(last, len(self._verbatim) - 1)

    def _decodes_to(
        self, first: int, last: int, made: Sequence[tuple[Edit, Edit]], form: Form
    ) -> bool:
        """Return whether a stretch of pieces with the edits decodes to the edited text."""
        begin, end = self._inner[first], self._inner[last + 1]
        outside, outer_end = self._outer[first], self._outer[last + 1]
        self._tried += outer_end - outside
        inner = [Edit(e.start - begin, e.end - begin, e.text) for e, _ in made]
        outer = [Edit(e.start - outside, e.end - outside, e.text) for _, e in made]
        try:
            wanted = apply_edits(self.text[begin:end], inner)
            written = apply_edits(self.source[outside:outer_end], outer)
        except ValueError:
            return False
        return form.decode(written) == wanted

    def _edit(self, edit: Edit, form: Form) -> Edit | None:
        settled = form.settle(self.text, edit)
        if settled is None or not (self._splits(settled.start) and self._splits(settled.end)):
            return None
        text = form.encode(settled.text)
        if text is None:
            return None
        start = self.outer(settled.start)
        end = start if settled.start == settled.end else self.outer_end(settled.end)
        return Edit(start, end, text)

    def _splits(self, inner: int) -> bool:
        """Return whether the source can be cut at an offset of the text."""
        at = bisect_right(self._inner, inner) - 1
        if at < 0 or inner > self._inner[-1]:
            return False
        return self._inner[at] == inner or self._verbatim[at]


class Between:
    """The text between two contents of an assembly; `known`: whether it is so at run time."""

    __slots__ = ("known", "text")

    def __init__(self, text: bytes = b"", *, known: bool = True) -> None:
        self.text = text
        self.known = known


class Assembly(Passage):
    """Several contents read as one text, with `between` where one ends and another begins.

    A change of the text is made where it is within one of them. Instead of one `between`, `gaps`
    may give the text before each part and after the last.
    """

    __slots__ = ("_begins", "_parts", "_unknown")

    def __init__(
        self,
        source: bytes,
        parts: Sequence[Passage],
        between: bytes = b"",
        gaps: Sequence[Between] = (),
    ) -> None:
        pieces = Pieces()
        end = parts[0].start
        self._parts = parts
        self._begins = []
        self._unknown: list[tuple[int, int]] = []
        for number, part in enumerate(parts):
            if gaps:
                self._put(pieces, end, gaps[number])
            elif number:
                pieces.put(end, between)
            self._begins.append(pieces.inner[-1])
            for offset, text, verbatim in part.pieces():
                (pieces.copy if verbatim else pieces.put)(offset, text)
            end = part.end
        if gaps:
            self._put(pieces, end, gaps[-1])
        super().__init__(source, end, pieces, None, parts[0].parent)

    def _put(self, pieces: Pieces, at: int, gap: Between) -> None:
        if not gap.text:
            return
        begin = pieces.inner[-1]
        pieces.put(at, gap.text)
        if not gap.known:
            self._unknown.append((begin, pieces.inner[-1]))

    def has_unknown(self, start: int, end: int) -> bool:
        """Return whether a part between two offsets of the text is known only at run time."""
        return any(first < end and start < last for first, last in self._unknown)

    def is_within_part(self, start: int, end: int) -> bool:
        """Return whether one of the contents has all from one offset of the text to another."""
        number = bisect_right(self._begins, start) - 1
        return number >= 0 and end <= self._ends(number)

    def edits(self, edits: Sequence[Edit]) -> list[Edit] | None:
        """Return edits of the source that make these edits of the text, None where impossible."""
        by_part: dict[int, list[Edit]] = {}
        for edit in edits:
            number = bisect_right(self._begins, edit.start) - 1
            # At the end of one part and the beginning of the next, it is the first one's.
            if number and self._ends(number - 1) >= edit.end:
                number = bisect_left(self._begins, edit.end) - 1
            if number < 0 or self._ends(number) < edit.end:
                return None
            by_part.setdefault(number, []).append(edit)
        made: list[Edit] = []
        for number, own in sorted(by_part.items()):
            begin = self._begins[number]
            shifted = [Edit(edit.start - begin, edit.end - begin, edit.text) for edit in own]
            written = self._parts[number].edits(shifted)
            if written is None:
                return None
            made += written
        return made

    def _ends(self, number: int) -> int:
        """Return where a part ends in the text."""
        return self._begins[number] + len(self._parts[number].text)
