"""All safe fixes of a document together, repeated while they uncover others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.diagnostics.fixes import fix_all
from netsharp_lsp.examining import examine
from netsharp_lsp.text.line_edits import line_edits
from netsharp_lsp.text.lines import LineIndex

if TYPE_CHECKING:
    from netsharp_lsp.server.documents.views import OpenDocument, View
    from netsharp_lsp.server.session import Session
    from netsharp_lsp.text.edits import Edit


def repairs(session: Session, document: OpenDocument) -> list[Edit]:
    """Return the edits that apply all safe fixes of a document's diagnostics."""
    edits: list[Edit] = []
    for view in document.views:
        edits += view.outer_edits(_repairs_of(session, view)) or []
    return edits


def _repairs_of(session: Session, view: View) -> list[Edit]:
    selection = session.selection_of(view.document.uri)
    fixed = fix_all(
        view.lines.text,
        lambda text: examine(view.language, LineIndex(text), view.context, selection),
    )
    return line_edits(view.lines.text, fixed.text)
