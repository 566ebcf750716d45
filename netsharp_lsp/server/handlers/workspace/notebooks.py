"""Notebooks: each cell is a document of its own, in the language of the cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.handlers.workspace.synchronization import did_change, did_close, did_open

if TYPE_CHECKING:
    from netsharp_lsp.server.session import Session

Plain = dict[str, Any]


def did_open_notebook(session: Session, params: Plain) -> None:
    """Take the cells of a notebook."""
    for item in params["cellTextDocuments"]:
        did_open(session, {"textDocument": item})


def did_change_notebook(session: Session, params: Plain) -> None:
    """Take cells that came, leave those that went, and change those that were changed."""
    cells = params["change"].get("cells") or {}
    structure = cells.get("structure") or {}
    for identity in structure.get("didClose") or []:
        did_close(session, {"textDocument": identity})
    for item in structure.get("didOpen") or []:
        did_open(session, {"textDocument": item})
    for content in cells.get("textContent") or []:
        changed = {"textDocument": content["document"], "contentChanges": content["changes"]}
        did_change(session, changed)
    for item in cells.get("data") or []:
        _change_kind(session, item)


def did_close_notebook(session: Session, params: Plain) -> None:
    """Leave the cells of a notebook."""
    for identity in params["cellTextDocuments"]:
        did_close(session, {"textDocument": identity})


def _change_kind(session: Session, cell: Plain) -> None:
    """Take a change of a cell's kind, "code" (2) or text (1); Markdown is text."""
    document = session.documents.get(cell.get("document", ""))
    if document is not None and cell.get("kind") == 1:
        document.turn_into("markdown")
        session.unpublished[document.uri] = None
