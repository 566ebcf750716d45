"""One unreadable stretch of a text, as the rules that explain such stretches see it."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Place
from netsharp_lsp.netsharp.reading.syntax import LayerItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Fault


class Case:
    """One unreadable stretch of a declaration, with what an explanation may ask about it."""

    __slots__ = ("base", "declaration", "fault", "network", "types", "words")

    def __init__(self, declaration: Declaration, fault: Fault, network: Network) -> None:
        self.declaration = declaration
        self.fault = fault
        self.network = network
        self.base = network.specification.starts[declaration]
        self.types = [kind for kind, _, _ in fault.tokens]
        self.words = [self.text(start, end) for _, start, end in fault.tokens]

    def text(self, start: int, end: int) -> str:
        """The text of a span of the declaration."""
        return self.network.specification.text(self.declaration, start, end)

    def place(self, first: int = 0, last: int = -1) -> Place:
        """The span of some of its tokens."""
        tokens = self.fault.tokens
        return Place(self.declaration, tokens[first][1], tokens[last][2])

    def in_attributes(self) -> bool:
        """Whether it stands in the braces of a connection."""
        spans = (
            bundle.block
            for item in self.declaration.items
            if isinstance(item, LayerItem)
            for bundle in item.bundles
        )
        return any(span and span[0] < self.fault.start < span[1] for span in spans)

    def around(self) -> tuple[bytes, bytes]:
        """The characters right before and right behind it."""
        data = self.network.specification.data
        start, end = self.base + self.fault.start, self.base + self.fault.end
        return data[max(0, start - 1) : start], data[end : end + 1]
