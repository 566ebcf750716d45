"""Replacements in a text of bytes, applied together; knows nothing of why they are made."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


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
    """Whether two edits claim the same bytes, or insert at the same offset.

    An insertion at the edge of a replacement is no overlap: it goes before or after it.
    """
    if first.start == first.end and second.start == second.end:
        return first.start == second.start
    return first.start < second.end and second.start < first.end


def sort_edits(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits in text order; those at one place keep the order they were given in."""
    return sorted(edits, key=lambda edit: (edit.start, edit.end))


def apply_edits(text: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `text` with all edits made; offsets refer to the text before any of them.

    Insertions at one offset follow each other in the order given. Raises ValueError when two
    edits claim the same bytes or one lies outside the text: that is a fault of the caller.
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
