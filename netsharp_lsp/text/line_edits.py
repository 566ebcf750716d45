"""The edits of whole lines that lead from one text to another; knows no language.

Lines that occur once in both texts are matched; between two of them only what differs is replaced.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from netsharp_lsp.text.edits import Edit, common, difference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    #: Lines of the text before, from and to, and lines of the text after, all from 0.
    Hunk = tuple[int, int, int, int]


def line_edits(before: bytes, after: bytes) -> list[Edit]:
    """Return few edits, without overlap and in order, that turn one text into the other."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, old))]
    edits = []
    for old_first, old_last, new_first, new_last in _hunks(old, new, (0, len(old), 0, len(new))):
        start, end = starts[old_first], starts[old_last]
        text = b"".join(new[new_first:new_last])
        if b"\r" in text or b"\r" in before[start:end]:
            # No position of an editor lies between a carriage return and its line feed.
            edits.append(Edit(start, end, text.decode("utf-8")))
        else:
            inner = difference(before[start:end], text)
            edits.append(Edit(start + inner.start, start + inner.end, inner.text))
    return edits


def _hunks(old: Sequence[bytes], new: Sequence[bytes], part: Hunk) -> Iterator[Hunk]:
    """Yield the parts that differ, in order."""
    part = _trimmed(old, new, part)
    old_first, old_last, new_first, new_last = part
    if old_first == old_last and new_first == new_last:
        return
    anchors = _anchors(old, new, part)
    if not anchors:
        yield part
        return
    for old_anchor, new_anchor in anchors:
        yield from _hunks(old, new, (old_first, old_anchor, new_first, new_anchor))
        old_first, new_first = old_anchor + 1, new_anchor + 1
    yield from _hunks(old, new, (old_first, old_last, new_first, new_last))


def _trimmed(old: Sequence[bytes], new: Sequence[bytes], part: Hunk) -> Hunk:
    """Return a part without the equal lines at its start and its end."""
    old_first, old_last, new_first, new_last = part
    limit = min(old_last - old_first, new_last - new_first)
    head = common(
        limit,
        lambda a, b: old[old_first + a : old_first + b] == new[new_first + a : new_first + b],
    )
    tail = common(
        limit - head,
        lambda a, b: old[old_last - b : old_last - a] == new[new_last - b : new_last - a],
    )
    return old_first + head, old_last - tail, new_first + head, new_last - tail


def _anchors(old: Sequence[bytes], new: Sequence[bytes], part: Hunk) -> list[tuple[int, int]]:
    """Return the longest common sequence of lines that occur once in each half of a part."""
    old_first, old_last, new_first, new_last = part
    there = _single(new, new_first, new_last)
    pairs = [
        (place, there[line])
        for line, place in _single(old, old_first, old_last).items()
        if line in there
    ]
    ends: list[int] = []
    chains: list[tuple[int, int, int]] = []  # A pair, and the chain before it.
    at: list[int] = []
    for old_place, new_place in sorted(pairs):
        rank = bisect_left(ends, new_place)
        before = at[rank - 1] if rank else -1
        ends[rank : rank + 1] = [new_place]
        at[rank : rank + 1] = [len(chains)]
        chains.append((old_place, new_place, before))
    longest: list[tuple[int, int]] = []
    link = at[-1] if at else -1
    while link >= 0:
        old_place, new_place, link = chains[link]
        longest.append((old_place, new_place))
    return longest[::-1]


def _single(lines: Sequence[bytes], first: int, last: int) -> dict[bytes, int]:
    """Return the lines that occur once between two, with their numbers."""
    places: dict[bytes, int] = {}
    for place in range(first, last):
        line = lines[place]
        places[line] = -1 if line in places else place
    return {line: place for line, place in places.items() if place >= 0}
