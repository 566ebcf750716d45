"""What conditions, shares and counts ask of the network around them, and nothing more of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from netsharp_lsp.netsharp.findings import RelativeSpan
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer, Share
    from netsharp_lsp.netsharp.meaning.values.evaluate import Report, Value
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Expression

    class Values(Protocol):
        """Values and words of a text, within what all its conditions together may cost."""

        #: What costly conditions have taken, in evaluations.
        evaluated: int

        def evaluate(
            self, declaration: Declaration, node: Expression, report: Report
        ) -> Value | None:
            """The value of an expression outside any predicate."""

        def text(self, place: RelativeSpan) -> str:
            """The text of a place."""

    class Whole(Values, Protocol):
        """All layers and shares of a network."""

        all_layers: list[Layer]
        shares: list[Share]

        def bundles(self) -> Iterator[Bundle]:
            """Every bundle in the order of the text."""
