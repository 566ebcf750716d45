"""Formatting of documents, ranges and as one types; it never waits for analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.server.answers.arranging import formatted
from netsharp_lsp.server.answers.writing import text_edits
from netsharp_lsp.server.transport.protocol import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.server.session import Session

Plain = dict[str, Any]


def formatting(session: Session, params: lsp.DocumentFormattingParams) -> list[Plain]:
    """Return the edits that put a document in order."""
    return format_document(session, params.text_document.uri, None)


def range_formatting(session: Session, params: lsp.DocumentRangeFormattingParams) -> list[Plain]:
    """Return the edits that put the declarations of a range in order."""
    return format_document(session, params.text_document.uri, [params.range])


def ranges_formatting(session: Session, params: lsp.DocumentRangesFormattingParams) -> list[Plain]:
    """Return the edits that put the declarations of several ranges in order."""
    return format_document(session, params.text_document.uri, params.ranges)


def on_type_formatting(session: Session, params: lsp.DocumentOnTypeFormattingParams) -> list[Plain]:
    """Return the edits that put the declaration in order that was just ended, if that is wanted."""
    uri = params.text_document.uri
    if not session.formats_on_type(uri):
        return []
    return format_document(session, uri, [lsp.Range(params.position, params.position)])


def format_document(session: Session, uri: str, ranges: Sequence[lsp.Range] | None) -> list[Plain]:
    """Return the edits that format a document, or only the parts that some ranges touch."""
    document = session.documents.get(uri)
    if document is None:
        return []
    if document.refusal is not None:
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, document.refusal)
    edits = []
    for view in document.views:
        lines = None if ranges is None else _lines(session, view, ranges)
        if view.editable and lines != []:
            options = session.format_options(uri, view.language.id, lines or ())
            edits += formatted(view, options)
    return text_edits(document, edits)


def _lines(session: Session, view: View, ranges: Sequence[lsp.Range]) -> list[tuple[int, int]]:
    """Return the lines of a specification, from 1, that ranges of its document touch."""
    found = []
    for place in ranges:
        part = view.inner_span(*session.ruler.offsets(view.document.lines, place))
        if part is not None:
            start, end = part
            # A range that ends where a line begins does not touch that line.
            last = (
                end - 1
                if end > start and view.lines.starts[view.lines.line_at(end)] == end
                else end
            )
            found.append((view.lines.line_at(start) + 1, view.lines.line_at(last) + 1))
    return found
