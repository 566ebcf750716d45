"""Derives the syntax of an edited text from that before: the text around the edit is parsed again
until both agree, and everything outside is reused.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from netsharp_lsp.netsharp.reading.characters import Mark, foreign_marks
from netsharp_lsp.netsharp.reading.comments import moved
from netsharp_lsp.netsharp.reading.sameness import same
from netsharp_lsp.netsharp.reading.specification import Specification
from netsharp_lsp.netsharp.reading.windows import (
    LINGER,
    MARKUP,
    MARKUP_END,
    Window,
    nodes_to_tear,
    reach_back,
    safe_end,
)
from netsharp_lsp.text.conflicts import SIGN
from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.netsharp.reading.comments import Comments, Span
    from netsharp_lsp.netsharp.reading.syntax import Declaration
    from netsharp_lsp.netsharp.reading.windows import Again

#: How many bytes around an edit may become something else with what it puts there.
MARGIN = max(len(MARKUP), SIGN)
#: How many bytes after an edit are read at first, and the factor where they are too few.
FIRST_SIZE, GROWTH = 3 << 10, 4


class Delta:
    """The effect of an edit on the declarations: `added` replace `removed` at index `position`.

    Every declaration outside is the same object before and after, whatever its new offset.
    """

    __slots__ = ("added", "position", "removed")

    def __init__(
        self, position: int, removed: tuple[Declaration, ...], added: tuple[Declaration, ...]
    ) -> None:
        self.position = position
        self.removed = removed
        self.added = added


class Change:
    """The step from one text to the next: its bytes ``start:end`` are replaced by others.

    What comes after them moves by ``shift`` bytes.
    """

    def __init__(self, old: Specification, data: bytes, edits: Sequence[Edit]) -> None:
        self.old = old
        self.data = data
        self.shift = len(data) - len(old.data)
        start = edits[0].start if edits else 0
        end = edits[-1].end if edits else len(old.data)
        start += common_start(old.data[start:end], data[start : end + self.shift])
        before, after = old.data[start:end], data[start : end + self.shift]
        self.start = start
        self.end = end - common_start(before[::-1], after[::-1])
        #: Whether declarations are read again that the edit left as they were.
        self._reads_all = False
        self._taken: set[Declaration] = set()

    @property
    def idle(self) -> bool:
        """Return whether the two texts are equal."""
        return self.start == self.end and not self.shift

    @property
    def inserted(self) -> bytes:
        """Return the new bytes, and as many around them as they can turn into markup or a mark."""
        return self.data[max(0, self.start - MARGIN) : self.end + self.shift + MARGIN]

    def made(self, markup: bool) -> tuple[Specification, Delta]:
        """Return the syntax of the next text; `markup`: one of the two may contain `<!--`."""
        anchor = self._anchor(self.start)
        while markup and (opening := self._undecided(anchor)) >= 0:
            anchor = self._anchor(opening)
        window, last, old_end = self._read(anchor)
        if anchor >= 0 and not self._leads(window, anchor):
            anchor = -1
            window, last, old_end = self._read(anchor)
        made = self._spliced(window, anchor, last, old_end)
        if made is None:
            self._reads_all = True
            self._taken.clear()
            return self.made(markup)
        return made

    def _unchanged_declaration(
        self, at: int, size: int, bulk: int
    ) -> tuple[Declaration, list[Span]] | None:
        """Return the declaration at a place of the next text, with its comments, relative to it.

        None for one that the edit changed, or that was doubtful or torn. The same bytes without an
        error give the same tree, and a declaration that is not doubtful ends with a mark, so that
        what follows does not affect how it is parsed.
        """
        old = self.old
        if at + size > self.start:
            if at < self.end + self.shift:
                return None
            at -= self.shift
        position = bisect_left(old.offsets, at)
        if position == len(old.offsets) or old.offsets[position] != at:
            return None
        one = old.declarations[position]
        if one.end != size or one.bulk != bulk or one.doubtful or one.torn:
            return None
        self._taken.add(one)
        return one, old.comments.within(at, at + size)

    # Where to begin.

    def _anchor(self, offset: int) -> int:
        """Return the last declaration beyond reach of an edit that, like the next, is not astray.

        It is -1 where there is none. Nothing torn before it is so near that what follows could
        affect how it is parsed.
        """
        old = self.old
        limit = offset - reach_back(old.data, offset)
        position = bisect_right(old.offsets, limit) - 1
        while position > 0:
            one, other = old.declarations[position - 1 : position + 1]
            position -= 1
            outside = old.offsets[position + 1] + other.end <= limit
            if not outside or one.astray or other.astray:
                continue
            if nodes_to_tear(self._backwards(position)) >= LINGER:
                return position
        return -1

    def _backwards(self, position: int) -> Iterator[Declaration]:
        """Return the declarations before a position, the nearest first."""
        return map(self.old.declarations.__getitem__, range(position - 1, -1, -1))

    def _start(self, anchor: int) -> int:
        return self.old.offsets[anchor] if anchor >= 0 else 0

    def _undecided(self, anchor: int) -> int:
        """Return the last markup before an anchor that text after the anchor may affect; or -1."""
        start = self._start(anchor)
        opening = self.data.rfind(MARKUP, 0, start)
        if opening < 0:
            return -1
        decided = self.data.find(MARKUP_END, opening + len(MARKUP), start - 1)
        return opening if decided < 0 else -1

    def _leads(self, window: Window, anchor: int) -> bool:
        """Return whether the anchor and the declaration after it are parsed as they were."""
        expected = self.old.declarations[anchor : anchor + 2]
        return window.has(1) and all(map(same, expected, window.declarations))

    # Where to end.

    def _read(self, anchor: int) -> tuple[Window, int, int]:
        """Return a stretch around the edit, and the first declaration from which on none is new.

        That one is given by its positions in the window and in the old text; where there is none,
        both are past the last.
        """
        old, size = self.old, FIRST_SIZE
        again: Again | None = None if self._reads_all else self._unchanged_declaration
        while True:
            after = bisect_left(old.offsets, self.end + size)
            end = len(self.data)
            if after < len(old.offsets):
                end = safe_end(self.data, self._start(anchor), old.offsets[after] + self.shift)
            window = Window(self.data, self._start(anchor), end, again)
            for position, since in window.final_positions(self.data):
                known = self._known(window, position)
                if known >= 0 and self._apart(anchor, known, since):
                    return window, position, known
            if window.whole:
                return window, window.count(), len(old.declarations)
            size *= GROWTH

    def _known(self, window: Window, position: int) -> int:
        """Return the old position of a declaration that, with the next, is not new; or -1."""
        old = self.old
        offset = window.offsets[position] - self.shift
        known = bisect_left(old.offsets, offset)
        if offset < self.end or known + 1 >= len(old.offsets) or old.offsets[known] != offset:
            return -1
        both = range(2)
        if all(
            window.offsets[position + i] - self.shift == old.offsets[known + i]
            and same(window.declarations[position + i], old.declarations[known + i])
            for i in both
        ):
            return known
        return -1

    def _apart(self, anchor: int, known: int, since: int) -> bool:
        """Return whether tears after a place neither affect nor affected what is before it."""
        old = self.old
        ahead = nodes_to_tear(old.declarations[i] for i in range(known, len(old.offsets)))
        if ahead >= LINGER:
            return True
        before = max(anchor, 0)
        had = nodes_to_tear(old.declarations[i] for i in range(known - 1, before - 1, -1))
        return min(since, had) + ahead >= LINGER

    # The next version.

    def _spliced(
        self, window: Window, anchor: int, last: int, old_end: int
    ) -> tuple[Specification, Delta] | None:
        """Return the syntax of the next text: old declarations, some of the window, old ones again.

        None where one that was reused would be among the new: it is between two that are parsed
        otherwise, or beside its like.
        """
        old, shift = self.old, self.shift
        stop = window.offset(last)
        spans = window.comments(last)
        comments = old.comments.spliced(window.start, stop - shift, spans, shift)
        first = 2 if anchor >= 0 else 0
        position = max(anchor, 0) + first
        news = window.offsets[first:last]
        offsets = old.offsets[:position] + news + moved(old.offsets[old_end:], shift)
        delta = self._delta(window, (first, last), (position, old_end))
        if not self._taken.isdisjoint(delta.added):
            return None
        old_end = delta.position + len(delta.removed)
        declarations = old.declarations[: delta.position] + delta.added + old.declarations[old_end:]
        made = Specification(self.data, declarations, offsets, comments)
        self._update_known(made, delta)
        made.known_marks = self._marks(comments, window.start, min(stop, len(self.data)))
        return made, delta

    def _delta(self, window: Window, new: tuple[int, int], old: tuple[int, int]) -> Delta:
        """Return the difference of two ranges of declarations, without common starts and ends."""
        (first, last), (position, old_end) = new, old
        while position < old_end and first < last and self._kept(window, first, position):
            first += 1
            position += 1
        while position < old_end and first < last and self._kept(window, last - 1, old_end - 1):
            last -= 1
            old_end -= 1
        added = tuple(window.declarations[first:last])
        return Delta(position, self.old.declarations[position:old_end], added)

    def _update_known(self, made: Specification, delta: Delta) -> None:
        """Pass on what is known of the old version and cheap to update."""
        old, added = self.old, delta.added
        doubtful = [one for one in added if one.doubtful]
        misnamed = [one for one in added if one.misnamed]
        made.known_doubtful = self._exchanged(old.doubtful, delta, doubtful)
        made.known_misnamed = self._exchanged(old.misnamed, delta, misnamed)
        if old.known_lines is not None:
            made.known_lines = old.known_lines.edited(self.data, Edit(self.start, self.end, ""))

    def _exchanged(
        self, some: list[Declaration], delta: Delta, added: list[Declaration]
    ) -> list[Declaration]:
        """Return some declarations in order, those removed replaced by those added."""
        first = bisect_left(some, delta.position, key=self.old.index)
        last = bisect_left(some, delta.position + len(delta.removed), key=self.old.index)
        return some[:first] + added + some[last:]

    def _kept(self, window: Window, new: int, old: int) -> bool:
        """Return whether two declarations have the same text and syntax."""
        one, other = window.declarations[new], self.old.declarations[old]
        start, before = window.offsets[new], self.old.offsets[old]
        text = self.data[start : start + one.end]
        return text == self.old.data[before : before + other.end] and same(one, other)

    def _marks(self, comments: Comments, start: int, end: int) -> list[Mark] | None:
        """Return the foreign characters, if those of the old text were computed."""
        known = self.old.known_marks
        if known is None:
            return None
        start = self.data.rfind(b"\n", 0, start) + 1
        end = self.data.find(b"\n", end) + 1 or len(self.data)
        before = [mark for mark in known if mark.start < start]
        after = [mark.moved(self.shift) for mark in known if mark.start >= end - self.shift]
        return [*before, *foreign_marks(self.data, comments, start, end), *after]


def common_start(one: bytes, other: bytes) -> int:
    """Return the length in bytes of the common start of two texts."""
    same_until, differs = 0, min(len(one), len(other)) + 1
    while differs - same_until > 1:
        middle = (same_until + differs) // 2
        if one[same_until:middle] == other[same_until:middle]:
            same_until = middle
        else:
            differs = middle
    return same_until
