"""What is said of data once they are read; that happens only where somebody asks for it."""

from __future__ import annotations

from netsharp_lsp.cntk.rules import emitted
from netsharp_lsp.cntk.rules.findings import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.rules.findings import Place

emitted("CK124", "error")
emitted("CK125", "error")


def bad_line(place: Place, words: str, grave: bool) -> Finding:
    """A line of data that stops the program, or is passed over by it."""
    return Finding("CK124", place, words, severity=None if grave else "warning")


def unread(place: Place, sentence: str, grave: bool) -> Finding:
    """Data that cannot be read at all; it is not grave where the program could read them."""
    return Finding("CK125", place, sentence, severity=None if grave else "warning")
