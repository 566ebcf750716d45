"""A text that is being edited, parsed again only where an edit may have changed its syntax.

The result is that of parsing the whole text; it knows syntax and no meaning.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.reading.comments import Comments
from netsharp_lsp.netsharp.reading.specification import Specification
from netsharp_lsp.netsharp.reading.splicing import Change, Delta
from netsharp_lsp.netsharp.reading.windows import LINGER, MARKUP, Window, safe_end
from netsharp_lsp.text.conflicts import may_conflict

__all__ = ["Delta", "Reading"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.netsharp.reading.comments import Span
    from netsharp_lsp.netsharp.reading.syntax import Declaration
    from netsharp_lsp.text.edits import Edit

#: How many bytes of a long text are read at a time: their tree takes 25 times the memory.
STRETCH = 1 << 16
#: How much more is read where a stretch ends in the midst of something long.
GROWTH = 4


class Reading:
    """One version of a text and its syntax; no tree is kept."""

    __slots__ = ("_markup", "disputed", "specification")

    def __init__(self, specification: Specification, *, markup: bool, disputed: bool) -> None:
        self.specification = specification
        #: Whether the text may contain `<!--`, which is a comment or not by what comes far after
        #: it.
        self._markup = markup
        #: Whether it may hold merge conflicts; a keystroke does not search all of it for them.
        self.disputed = disputed

    @classmethod
    def of(cls, data: bytes) -> Reading:
        """Read UTF-8 bytes for the first time."""
        specification = read_by_windows(data)
        return cls(specification, markup=MARKUP in data, disputed=may_conflict(data))

    @property
    def data(self) -> bytes:
        """Return the text."""
        return self.specification.data

    def edited(self, data: bytes, edits: Sequence[Edit]) -> tuple[Reading, Delta]:
        """Return the next version; `edits`, in order and apart, lead from this text to ``data``."""
        change = Change(self.specification, data, edits)
        if change.idle:
            return self, Delta(0, (), ())
        markup = self._markup or MARKUP in change.inserted
        disputed = (self.disputed or may_conflict(change.inserted)) and may_conflict(data)
        specification, delta = change.made(markup)
        return Reading(specification, markup=markup, disputed=disputed), delta


def read_by_windows(data: bytes, stretch: int = STRETCH) -> Specification:
    """Read a whole text, some bytes at a time."""
    declarations: list[Declaration] = []
    offsets: list[int] = []
    comments: list[Span] = []
    start, size = 0, stretch
    while True:
        end = safe_end(data, start, data.find(b"\n", start + size) + 1 or len(data))
        window = Window(data, start, end)
        settled = (at for at, since in window.final_positions(data) if since >= LINGER)
        last = window.count() if window.whole else max(settled, default=0)
        if window.whole or last:
            start = window.offset(last)
            declarations += window.declarations[:last]
            offsets += window.offsets[:last]
            comments += window.comments(last)
        if window.whole:
            return Specification(data, tuple(declarations), offsets, Comments(comments))
        # The rest of a window continues after it: a long line would be read once a stretch.
        size = max(stretch, GROWTH * (end - start))
