"""Findings on data, which are read only on request."""

from __future__ import annotations

from netsharp_lsp.cntk.rules import emitted
from netsharp_lsp.cntk.rules.findings import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.rules.findings import Place

emitted("CK124", "error")
emitted("CK125", "error")


def bad_line(place: Place, words: str, is_error: bool) -> Finding:
    """Return the finding on a line of data that stops CNTK, or that it skips."""
    return Finding("CK124", place, words, severity=None if is_error else "warning")


def unread(place: Place, sentence: str, is_error: bool) -> Finding:
    """Return the finding on unreadable data; a warning if CNTK could read them."""
    return Finding("CK125", place, sentence, severity=None if is_error else "warning")
