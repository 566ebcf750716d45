"""Replacements in a text of bytes, applied together; knows nothing of why they are made."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Edit:
    """Replace the bytes `start` to `end` (half-open) by `text`."""

    __slots__ = ("end", "start", "text")

    def __init__(self, start: int, end: int, text: str) -> None:
        self.start = start
        self.end = end
        self.text = text

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Edit)
            and self.start == other.start
            and self.end == other.end
            and self.text == other.text
        )

    def __hash__(self) -> int:
        return hash((self.start, self.end, self.text))

    def __repr__(self) -> str:
        return f"Edit({self.start}, {self.end}, {self.text!r})"


def overlaps(first: Edit, second: Edit) -> bool:
    """Return whether two edits replace a common byte, or insert at the same offset.

    An insertion at the edge of a replacement does not overlap it: it comes before or after it.
    """
    if first.start == first.end and second.start == second.end:
        return first.start == second.start
    return first.start < second.end and second.start < first.end


def sort_edits(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits in text order; those at one offset keep their given order."""
    return sorted(edits, key=lambda edit: (edit.start, edit.end))


def apply_edits(text: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `text` with all edits made; offsets refer to the text before any of them.

    Insertions at one offset follow each other in the order given. Raises ValueError when two edits
    overlap or one lies outside the text: that is a fault of the caller.
    """
    pieces: list[bytes] = []
    done = 0
    for edit in sort_edits(edits):
        if not done <= edit.start <= edit.end <= len(text):
            raise ValueError(f"{edit!r} overlaps another edit or lies outside the text")
        pieces.append(text[done : edit.start])
        pieces.append(edit.text.encode("utf-8"))
        done = edit.end
    pieces.append(text[done:])
    return b"".join(pieces)


def compose(first: Iterable[Edit], second: Iterable[Edit]) -> list[Edit]:
    """Return the edits from A to C, given those from A to B and those from B to C.

    Edits of each list do not overlap and may be in any order; those returned do not overlap either
    and are in text order.
    """
    pieces = _pieces(first)
    for edit in reversed(sort_edits(second)):
        before = _split(pieces, edit.start)
        after = _split(pieces, edit.end)
        pieces[before:after] = [(0, 0, edit.text.encode("utf-8"))]
    return _edits(pieces)


def difference(before: bytes, after: bytes) -> Edit:
    """Return the one edit that replaces everything between the common start and the common end."""
    limit = min(len(before), len(after))
    start = common(limit, lambda a, b: before[a:b] == after[a:b])
    while start and start < max(len(before), len(after)) and _inside(before, after, start):
        start -= 1
    ends = len(before), len(after)
    tail = common(
        limit - start,
        lambda a, b: before[ends[0] - b : ends[0] - a] == after[ends[1] - b : ends[1] - a],
    )
    while tail and before[ends[0] - tail] & 0xC0 == 0x80:
        tail -= 1
    return Edit(start, ends[0] - tail, after[start : ends[1] - tail].decode("utf-8"))


def common(limit: int, same: Callable[[int, int], bool]) -> int:
    """Return the greatest n up to `limit` for which all below n are the same, by bisection.

    `same(a, b)` returns whether two sequences are equal from place a to place b.
    """
    known, unknown = 0, limit
    while known < unknown:
        middle = (known + unknown + 1) // 2
        if same(known, middle):
            known = middle
        else:
            unknown = middle - 1
    return known


def common_ends(old: bytes, new: bytes) -> tuple[int, int]:
    """Return the lengths in bytes of the common start and of the common end of the remainder."""
    most = min(len(old), len(new))
    head = common(most, lambda a, b: old[a:b] == new[a:b])
    tail = common(
        most - head,
        lambda a, b: old[len(old) - b : len(old) - a] == new[len(new) - b : len(new) - a],
    )
    return head, tail


def _inside(before: bytes, after: bytes, at: int) -> bool:
    """Return whether an offset is inside a character of either text."""
    return any(at < len(text) and text[at] & 0xC0 == 0x80 for text in (before, after))


#: A stretch of the text before, or (0, 0, bytes) for what was put in.
_Piece = tuple[int, int, bytes]
#: Ends the last stretch: no text is as long.
_ENDLESS = 1 << 62


def _pieces(edits: Iterable[Edit]) -> list[_Piece]:
    """Return the text after some edits as stretches of the text before them."""
    pieces: list[_Piece] = []
    done = 0
    for edit in sort_edits(edits):
        pieces.append((done, edit.start, b""))
        pieces.append((0, 0, edit.text.encode("utf-8")))
        done = edit.end
    pieces.append((done, _ENDLESS, b""))
    return pieces


def _split(pieces: list[_Piece], offset: int) -> int:
    """Split the pieces at an offset of the text that they make; return the second one's index."""
    for index, (start, end, put_in) in enumerate(pieces):
        if offset == 0:
            return index
        length = len(put_in) or end - start
        if offset < length:
            halves: tuple[_Piece, _Piece] = (
                ((0, 0, put_in[:offset]), (0, 0, put_in[offset:]))
                if put_in
                else ((start, start + offset, b""), (start + offset, end, b""))
            )
            pieces[index : index + 1] = halves
            return index + 1
        offset -= length
    return len(pieces)


def _edits(pieces: list[_Piece]) -> list[Edit]:
    """Return the edits between the stretches that were kept."""
    made: list[Edit] = []
    done = 0
    put_in = b""
    for start, end, new in pieces:
        if start == end:
            put_in += new
            continue
        if put_in or start > done:
            made.append(Edit(done, start, put_in.decode("utf-8", "replace")))
        done, put_in = end, b""
    return made
