"""A text that is being edited, read anew only where an edit may have changed what it says.

The result is that of reading the whole text; it knows syntax and nothing of what it means.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.netsharp.reading.sameness import same
from netsharp_lsp.netsharp.reading.syntax import Specification

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.netsharp.reading.syntax import Declaration
    from netsharp_lsp.text.edits import Edit


class Delta:
    """What an edit did to the declarations: `removed` gave way to `added` at index `position`.

    Every declaration outside is the same object before and after, whatever its new offset.
    """

    __slots__ = ("added", "position", "removed")

    def __init__(
        self, position: int, removed: tuple[Declaration, ...], added: tuple[Declaration, ...]
    ) -> None:
        self.position = position
        self.removed = removed
        self.added = added


class Reading:
    """One version of a text and its syntax."""

    __slots__ = ("specification",)

    def __init__(self, specification: Specification) -> None:
        self.specification = specification

    @classmethod
    def of(cls, data: bytes) -> Reading:
        """Read UTF-8 bytes for the first time."""
        return cls(parse(data))

    @property
    def data(self) -> bytes:
        """The text."""
        return self.specification.data

    def edited(self, data: bytes, edits: Sequence[Edit]) -> tuple[Reading, Delta]:
        """The next version; `edits`, in order and apart, lead from this text to ``data``."""
        fresh = parse(data)
        old, new = self.specification.declarations, fresh.declarations
        shortest = min(len(old), len(new))
        head = next((i for i in range(shortest) if not same(old[i], new[i])), shortest)
        tail = 0
        while tail < shortest - head and same(old[-1 - tail], new[-1 - tail]):
            tail += 1
        delta = Delta(head, old[head : len(old) - tail], new[head : len(new) - tail])
        kept = (*old[:head], *delta.added, *old[len(old) - tail :])
        starts = dict(zip(kept, fresh.starts.values(), strict=True))
        return Reading(Specification(data, kept, starts, fresh.comments)), delta
