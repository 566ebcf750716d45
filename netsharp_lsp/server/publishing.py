"""Diagnostics as the protocol writes them, plain JSON, and their sending to clients without pull.

Knows no rule; a document shows at most `FINDINGS_SHOWN` of them, the gravest.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netsharp_lsp.embedded.findings import outer_message
from netsharp_lsp.limits import FINDINGS_SHOWN
from netsharp_lsp.server.elsewhere import location

if TYPE_CHECKING:
    from netsharp_lsp.diagnostics.model import Diagnostic, Related
    from netsharp_lsp.interface import Language
    from netsharp_lsp.server.session import Session
    from netsharp_lsp.server.views import OpenDocument, View

SOURCE = "netsharp"
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
    """Return what is wrong with all specifications of a document, in the order of the text.

    Of more than `FINDINGS_SHOWN` the gravest come first, and the others are counted.
    """
    if document.refusal is not None:
        start = document.ruler.span(document.lines, 0, 0)
        return [{"range": start, "severity": 1, "source": SOURCE, "message": document.refusal}]
    selection = session.selection_of(document.uri)
    found = [
        (view, each)
        for view in document.views
        for each in _unknown(session, view, view.findings(selection))
    ]
    left = len(found) - FINDINGS_SHOWN.most
    if left > 0:
        found.sort(key=lambda pair: _SEVERITIES[pair[1].severity])
        del found[FINDINGS_SHOWN.most :]
    shown = [_plain(session, view, each) for view, each in found]
    if left > 0:
        message = f"{left} more findings are not shown; repair some of these first."
        last = {"range": shown[-1]["range"], "severity": 3, "source": SOURCE, "message": message}
        shown.append(last)
    return shown


def _unknown(session: Session, view: View, found: list[Diagnostic]) -> list[Diagnostic]:
    """What no baseline knows; baselines know files that are one specification."""
    if view.region is not None or not found:
        return found
    return session.settings.unknown(view.document, found)


def page_of(language: Language, code: str) -> str:
    """Return the URI of a rule's page, a file of the installed package."""
    return _uri(language.rules.path(code))


@cache
def _uri(path: str) -> str:
    return Path(path).as_uri()


def _plain(session: Session, view: View, found: Diagnostic) -> dict[str, Any]:
    client = session.client
    plain: dict[str, Any] = {
        "range": view.span(found.start, found.end),
        "severity": _SEVERITIES[found.severity],
        "code": found.code,
        "source": SOURCE,
        "message": message_of(view, found.message),
    }
    if client.shows_pages:
        plain["codeDescription"] = {"href": page_of(view.language, found.code)}
    if client.fades and found.code in view.language.unused_codes:
        plain["tags"] = [_UNNECESSARY]
    if client.relates and found.related:
        places = [_related(session, view, related) for related in found.related]
        plain["relatedInformation"] = [place for place in places if place is not None]
    if client.keeps_data and found.fix is not None:
        plain["data"] = {"fix": found.fix.title}
    return plain


def message_of(view: View, message: str) -> str:
    """Return what is wrong as a client is told: lines that it names are the document's."""
    if view.region is None:
        return message
    return outer_message(view.region, message, view.document.lines)


def _related(session: Session, view: View, related: Related) -> dict[str, Any] | None:
    """Another place that belongs to a finding; None where its file cannot be read."""
    if related.file is None:
        place = {"uri": view.document.uri, "range": view.span(related.start, related.end)}
    else:
        found = location(session, related.file, related.start, related.end)
        if found is None:
            return None
        place = found
    return {"location": place, "message": related.message}
