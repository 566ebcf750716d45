"""The interface of a network for conditions, shares and counts."""

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
        """Values and words of a text, within the limit for all its conditions together."""

        #: What costly conditions have taken, in evaluations.
        evaluated: int

        def evaluate(
            self, declaration: Declaration, node: Expression, report: Report
        ) -> Value | None:
            """Return the value of an expression outside any predicate."""

        def text(self, place: RelativeSpan) -> str:
            """Return the text of a place."""

    class Whole(Values, Protocol):
        """A network with all its layers and shares."""

        all_layers: list[Layer]
        shares: list[Share]

        def bundles(self) -> Iterator[Bundle]:
            """Yield every bundle in text order."""
