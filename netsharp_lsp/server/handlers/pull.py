"""Diagnostics for clients that ask: of one document, and of all the workspace in slices."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.answers.publishing import findings_of

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from netsharp_lsp.server.documents.views import OpenDocument
    from netsharp_lsp.server.session import Session

Plain = dict[str, Any]


def document_diagnostic(session: Session, params: lsp.DocumentDiagnosticParams) -> Plain:
    """Return the diagnostics of a document, or that they are unchanged."""
    document = session.documents.get(params.text_document.uri)
    if document is None:
        return {"kind": "full", "items": []}
    return _report(session, document, params.previous_result_id)


async def workspace_diagnostic(session: Session, params: lsp.WorkspaceDiagnosticParams) -> Plain:
    """Return the diagnostics of every specification, in parts if the client supports it."""
    known = {each.uri: each.value for each in params.previous_result_ids}
    token = params.partial_result_token
    reports: list[Plain] = []
    async for document in session.workspace.documents():
        uri = document.uri
        report = _report(session, document, known.pop(uri, None))
        reports.append({**report, "uri": uri, "version": document.version})
        if token is not None:
            session.notify("$/progress", {"token": token, "value": {"items": [reports.pop()]}})
    gone: list[Plain] = [
        {"kind": "full", "uri": uri, "version": None, "items": []} for uri in known
    ]
    return {"items": [*reports, *gone]}


def _report(session: Session, document: OpenDocument, known: str | None) -> Plain:
    items = findings_of(session, document)
    digest = hashlib.blake2b(items.text.encode("ascii"), digest_size=8).hexdigest()
    if digest == known:
        return {"kind": "unchanged", "resultId": digest}
    return {"kind": "full", "resultId": digest, "items": items}
