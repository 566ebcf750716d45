"""Changes and commands as the protocol writes them, plain JSON; decides nothing about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.ide.answers import DOCUMENT
from netsharp_lsp.server.answers.elsewhere import creations, document_changes
from netsharp_lsp.server.transport.protocol import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.ide.answers import Command, FileEdits
    from netsharp_lsp.server.documents.views import OpenDocument, View
    from netsharp_lsp.server.session import Session
    from netsharp_lsp.text.edits import Edit

Plain = dict[str, Any]


def text_edits(document: OpenDocument, edits: Sequence[Edit]) -> list[Plain]:
    """Return edits of a document's bytes as TextEdits."""
    ruler, lines = document.ruler, document.lines
    return [
        {"range": ruler.span(lines, edit.start, edit.end), "newText": edit.text} for edit in edits
    ]


def outer_edits(view: View, edits: Sequence[Edit]) -> list[Edit]:
    """Return edits of a specification as edits of its document; refuses where it cannot."""
    outer = view.outer_edits(edits)
    if outer is None:
        reason = view.region.reason if view.region is not None else ""
        cause = f": {reason}" if reason else ""
        sentence = f"This change cannot be written into the text around it{cause}."
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, sentence)
    return outer


def workspace_edit(
    session: Session,
    document: OpenDocument,
    edits: Sequence[Edit],
    elsewhere: Sequence[FileEdits] = (),
) -> Plain:
    """Return edits of a document as a WorkspaceEdit, of its version where the client knows that.

    A client that cannot create files refuses edits that need it.
    """
    changes = text_edits(document, edits)
    others = document_changes(session, elsewhere)
    operations = session.client.names("workspace.workspaceEdit.resourceOperations")
    changed_by_version = session.client.can("workspace.workspaceEdit.documentChanges")
    able = changed_by_version and "create" in operations
    if not able and any(change.creates for change in elsewhere):
        sentence = "This change needs a new file, which this editor cannot make by itself."
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, sentence)
    if not changed_by_version:
        by_uri = {other["textDocument"]["uri"]: other["edits"] for other in others}
        return {"changes": {document.uri: changes, **by_uri}}
    identity = {"uri": document.uri, "version": document.version}
    own = [{"textDocument": identity, "edits": changes}] if changes or not others else []
    # VS Code undoes a stretch of texts as one, and loads those that are not open any more; a text
    # that alone follows the creation of its file is not loaded, and the undo ends there.
    return {"documentChanges": [*creations(elsewhere), *own, *others]}


def command(wanted: Command, view: View) -> Plain:
    """Return a command with the document's URI where it is meant.

    Options of a command about one of several specifications say its name.
    """
    name = view.region.name if view.region is not None else None
    arguments: list[Any] = []
    for argument in wanted.arguments:
        if argument is DOCUMENT:
            arguments.append(view.document.uri)
        elif name is not None and isinstance(argument, dict):
            arguments.append({**argument, "name": name})
        else:
            arguments.append(argument)
    return {"title": wanted.title, "command": wanted.id, "arguments": arguments}
