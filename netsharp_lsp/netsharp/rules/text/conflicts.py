"""Merge conflicts that were left in a specification."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Finding, Note, RelativeSpan, Rests
from netsharp_lsp.netsharp.rules import CONFLICT, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.text.conflicts import Conflict


@rule("NS131", "error", on=CONFLICT, rests=Rests.TEXT)
def unresolved(conflict: Conflict, _: Network) -> Iterator[Finding]:
    """Report the marks of a conflict, once, at the first of them."""
    start, end = conflict.marks[0][1:]
    notes = [Note(sentence, RelativeSpan(None, *span)) for sentence, *span in conflict.notes]
    yield Finding("NS131", RelativeSpan(None, start, end), conflict.message, notes)
