"""The structure of a text: folding and growing selections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from netsharp_lsp.ide.answers import Fold
    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.server.session import Session

Plain = dict[str, Any]

_ABILITY = "textDocument.foldingRange"


def folding_ranges(session: Session, params: lsp.FoldingRangeParams) -> list[Plain]:
    """Return the ranges that can be folded; ranges within lines only for a client that supports
    them.
    """
    whole_lines = session.client.can(f"{_ABILITY}.lineFoldingOnly")
    limit = session.client.value(f"{_ABILITY}.rangeLimit")
    folds = [
        _plain(view, fold, whole_lines)
        for view, _, _ in session.places(params.text_document.uri, None)
        for fold in view.snapshot.folds()
    ]
    long = [fold for fold in folds if fold["startLine"] < fold["endLine"]]
    return long[:limit] if isinstance(limit, int) and limit > 0 else long


def _plain(view: View, fold: Fold, whole_lines: bool) -> Plain:
    span = view.span(fold.start, fold.end)
    start, end = span["start"], span["end"]
    plain: Plain = {"startLine": start["line"], "endLine": end["line"]}
    if fold.kind == "comment":
        plain["kind"] = "comment"
    if not whole_lines:
        plain["startCharacter"], plain["endCharacter"] = start["character"], end["character"]
    return plain


def selection_ranges(
    session: Session, params: lsp.SelectionRangeParams
) -> list[lsp.SelectionRange] | None:
    """Return for each position the ranges around it, each within the next."""
    uri = params.text_document.uri
    if uri not in session.documents:
        return None
    return [_around(session, uri, position) for position in params.positions]


def _around(session: Session, uri: str, position: lsp.Position) -> lsp.SelectionRange:
    place = session.place(uri, position)
    if place is None:
        return lsp.SelectionRange(lsp.Range(position, position))
    around: lsp.SelectionRange | None = None
    for span in reversed(place.view.snapshot.selections(place.offset)):
        around = lsp.SelectionRange(place.view.range(*span), around)
    return around or lsp.SelectionRange(lsp.Range(position, position))
