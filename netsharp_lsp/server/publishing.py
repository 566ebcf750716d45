"""Diagnostics as the protocol writes them, plain JSON, and their sending to clients without pull.

Knows no rule; a document shows at most `LIMIT` of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.language import Language
    from netsharp_lsp.server.session import Session
    from netsharp_lsp.server.views import OpenDocument, View

LIMIT = 1000
SOURCE = "netsharp"
_ABILITY = "textDocument.publishDiagnostics"
_UNNECESSARY = 1
_SEVERITIES = {"error": 1, "warning": 2, "info": 3, "hint": 4}


def publish(session: Session, uri: str) -> None:
    """Send what is wrong with a document's newest version."""
    document = session.documents.get(uri)
    if document is None:
        return
    params: dict[str, Any] = {"uri": uri, "diagnostics": findings_of(session, document)}
    if document.version is not None:
        params["version"] = document.version
    session.notify("textDocument/publishDiagnostics", params)


def findings_of(session: Session, document: OpenDocument) -> list[dict[str, Any]]:
    """Return what is wrong with all specifications of a document, at most `LIMIT`."""
    selection = session.selection_of(document.uri)
    found = [
        (view, each)
        for view in document.views
        for each in _unknown(session, view, view.findings(selection))
    ]
    shown = [_plain(session, view, each) for view, each in found[:LIMIT]]
    if len(found) > LIMIT:
        left = len(found) - LIMIT
        shown.append(
            {
                "range": shown[-1]["range"],
                "severity": 3,
                "source": SOURCE,
                "message": f"{left} more findings are not shown; repair some of these first.",
            }
        )
    return shown


def _unknown(session: Session, view: View, found: list[Diagnostic]) -> list[Diagnostic]:
    """What no baseline knows; baselines know files that are one specification."""
    if view.region is not None or not found:
        return found
    return session.settings.unknown(view.document, found)


def page_of(language: Language, code: str) -> str:
    """Return the URI of a rule's page, a file of the installed package."""
    return Path(language.rules.directory, f"{code}.md").as_uri()


def _plain(session: Session, view: View, found: Diagnostic) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "range": view.span(found.start, found.end),
        "severity": _SEVERITIES[found.severity],
        "code": found.code,
        "source": SOURCE,
        "message": found.message,
    }
    if session.client.can(f"{_ABILITY}.codeDescriptionSupport"):
        plain["codeDescription"] = {"href": page_of(view.language, found.code)}
    if found.code in view.language.unused_codes and session.client.can(f"{_ABILITY}.tagSupport"):
        plain["tags"] = [_UNNECESSARY]
    if found.related and session.client.can(f"{_ABILITY}.relatedInformation"):
        plain["relatedInformation"] = [
            {
                "location": {
                    "uri": view.document.uri,
                    "range": view.span(related.start, related.end),
                },
                "message": related.message,
            }
            for related in found.related
        ]
    if found.fix is not None and session.client.can(f"{_ABILITY}.dataSupport"):
        plain["data"] = {"fix": found.fix.title}
    return plain
