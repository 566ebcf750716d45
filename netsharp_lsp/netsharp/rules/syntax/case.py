"""One unparsed stretch of a text, for the rules that explain such stretches."""

from __future__ import annotations

from bisect import bisect_left

from netsharp_lsp.netsharp.findings import RelativeSpan
from netsharp_lsp.netsharp.reading.syntax import LayerItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Fault


#: How far an explanation looks around a stretch, in bytes: a declaration may have as many
#: stretches as it has words.
REACH = 512
#: How far back the opening of the list or condition around it is searched for.
FAR = 8 * REACH


class Case:
    """One unparsed stretch of a declaration, with the text around it for explanations.

    `blocks` are the braces of the declaration's connections, in order.
    """

    __slots__ = ("base", "blocks", "declaration", "fault", "network", "types", "words")

    def __init__(
        self,
        declaration: Declaration,
        fault: Fault,
        network: Network,
        blocks: Sequence[tuple[int, int]],
    ) -> None:
        self.declaration = declaration
        self.fault = fault
        self.network = network
        self.blocks = blocks
        self.base = network.specification.starts[declaration]
        self.types = [kind for kind, _, _ in fault.tokens]
        self.words = [self.text(start, end) for _, start, end in fault.tokens]

    def text(self, start: int, end: int) -> str:
        """Return the text of a span of the declaration."""
        return self.network.specification.text(self.declaration, start, end)

    def before(self, reach: int = REACH) -> str:
        """Return the text of the declaration right before it."""
        return self.text(max(0, self.fault.start - reach), self.fault.start)

    def all_before(self) -> str | None:
        """Return all text of the declaration before it, None where that is long."""
        return self.before() if self.fault.start <= REACH else None

    def after(self) -> str:
        """Return the text of the declaration right after it."""
        end = self.fault.end
        return self.text(end, min(end + REACH, self.declaration.end))

    def since(self, before: str, start: int) -> int:
        """Return where a character of the text before it is in the declaration."""
        return self.fault.start - len(before[start:].encode("utf-8"))

    def place(self, first: int = 0, last: int = -1) -> RelativeSpan:
        """Return the span of some of its tokens."""
        tokens = self.fault.tokens
        return RelativeSpan(self.declaration, tokens[first][1], tokens[last][2])

    def in_attributes(self) -> bool:
        """Return whether it is in the braces of a connection."""
        at = bisect_left(self.blocks, (self.fault.start,)) - 1
        return at >= 0 and self.fault.start < self.blocks[at][1]

    def around(self) -> tuple[bytes, bytes]:
        """Return the characters right before and right after it."""
        data = self.network.specification.data
        start, end = self.base + self.fault.start, self.base + self.fault.end
        return data[max(0, start - 1) : start], data[end : end + 1]


def blocks_of(declaration: Declaration) -> list[tuple[int, int]]:
    """Return the braces of a declaration's connections, in order."""
    return sorted(
        bundle.block
        for item in declaration.items
        if isinstance(item, LayerItem)
        for bundle in item.bundles
        if bundle.block is not None
    )
