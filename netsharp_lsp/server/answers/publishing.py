"""Diagnostics in the protocol's JSON, and pushing them to clients without pull.

Knows no rule; a document shows at most `FINDINGS_SHOWN` of them, the most severe.  A keystroke
sends all of them again, so the JSON of each is cached until its text or place changes.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netsharp_lsp.diagnostics.conflicts import unresolved
from netsharp_lsp.diagnostics.model import SEVERITIES, most_severe
from netsharp_lsp.embedded.answers.conflicts import holds_specifications, host_conflicts
from netsharp_lsp.embedded.answers.findings import outer_message
from netsharp_lsp.language import language_by_id, main_language
from netsharp_lsp.limits import FINDINGS_SHOWN
from netsharp_lsp.server.answers.elsewhere import location
from netsharp_lsp.server.documents.views import WrittenFinding
from netsharp_lsp.server.transport.protocol import Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic, Related
    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.interface import Language
    from netsharp_lsp.server.documents.views import OpenDocument, View
    from netsharp_lsp.server.session import Session

    Placed = tuple[View, Diagnostic]

SOURCE = "netsharp"
_UNNECESSARY = 1
_SEVERITIES: dict[str, int] = {severity: number for number, severity in enumerate(SEVERITIES, 1)}


def publish(session: Session, uri: str) -> None:
    """Send the diagnostics of a document's newest version."""
    document = session.documents.get(uri)
    if document is None:
        return
    params: dict[str, Any] = {"uri": uri, "diagnostics": findings_of(session, document)}
    if document.version is not None:
        params["version"] = document.version
    session.notify("textDocument/publishDiagnostics", params)


def findings_of(session: Session, document: OpenDocument) -> Written:
    """Return the findings in all specifications of a document, in the order of the text.

    Of more than `FINDINGS_SHOWN` the most severe come first, and the others are counted.
    """
    if document.refusal is not None:
        start = _range(document, 0, 0)
        return Written(f"[{_notice(start, 'error', document.refusal)}]")
    selection, most = session.selection_of(document.uri), FINDINGS_SHOWN.most
    count = 0
    found: list[Placed] = []
    for view in document.views:
        there, most_severe_there = _most_severe(session, view, selection, most)
        count += there
        found += [(view, each) for each in most_severe_there]
    if count > most:
        found.sort(key=lambda pair: _SEVERITIES[pair[1].severity])
        del found[most:]
    pieces = list(_pieces(session, document, found))
    pieces += _conflicts(document, selection, most)
    if count > most:
        message = f"{count - most} more findings are not shown; repair some of these first."
        view, last = found[-1]
        place = _range(document, *view.outer(last.start, last.end))
        pieces.append(_notice(place, "info", message))
    return Written(f"[{','.join(pieces)}]")


def _most_severe(
    session: Session, view: View, selection: Selection, most: int
) -> tuple[int, Sequence[Diagnostic]]:
    """Return the number of findings outside the baseline, and the most severe."""
    accepted = session.settings.accepted(view.document) if view.region is None else None
    if accepted is None:
        return view.most_severe(selection, most)
    baseline, name = accepted
    found = baseline.new(name, view.document.lines, view.findings(selection))
    return len(found), most_severe(found, most)


def page_of(language: Language, code: str) -> str:
    """Return the URI of a rule's page, a file of the installed package."""
    return _uri(language.rules.path(code))


@cache
def _uri(path: str) -> str:
    return Path(path).as_uri()


def _pieces(session: Session, document: OpenDocument, found: Iterable[Placed]) -> Iterator[str]:
    """Yield each diagnostic in JSON, from the version before where it is the same."""
    known, document.written_findings = document.written_findings, {}
    lines = document.lines
    starts = lines.starts if lines.ascii else None
    for view, each in found:
        # Lines that a sentence names are counted in the document, above a specification, too.
        wording = each.wording if view.region is None else None
        if wording is None:
            message = message_of(view, each.message)
            key = (view.language.id, each.code, each.severity, message, each.fix_title)
            before = known.get(key) or document.written_findings.get(key)
            parts = before.parts if before is not None else _as_json(session, view, each, message)
            document.written_findings[key] = WrittenFinding(None, parts, "")
            yield _piece(session, view, each, parts)
            continue
        place = None
        if starts is not None:
            line = bisect_right(starts, each.start) - 1
            place = line, each.start - starts[line]
        before = known.get(wording)
        if before is None or place is None or before.place != place:
            parts = (
                before.parts if before is not None else _as_json(session, view, each, each.message)
            )
            before = WrittenFinding(place, parts, _piece(session, view, each, parts))
        document.written_findings[wording] = before
        yield before.json


def _piece(session: Session, view: View, found: Diagnostic, parts: tuple[str, str]) -> str:
    """Return a diagnostic in JSON, with its places."""
    document = view.document
    place = _range(document, *view.outer(found.start, found.end))
    others = ""
    if session.client.relates and found.related:
        uri = json.dumps(document.uri)
        places = [_related(session, view, uri, related) for related in found.related]
        others = f',"relatedInformation":[{",".join(filter(None, places))}]'
    return f'{{"range":{place},{parts[0]}{others}{parts[1]}}}'


def _as_json(session: Session, view: View, found: Diagnostic, message: str) -> tuple[str, str]:
    """Return the JSON of a diagnostic without its places, before and after the related ones."""
    client = session.client
    plain: dict[str, Any] = {
        "severity": _SEVERITIES[found.severity],
        "code": found.code,
        "source": SOURCE,
        "message": message,
    }
    if client.shows_pages:
        plain["codeDescription"] = {"href": page_of(view.language, found.code)}
    if client.fades and found.code in view.language.unused_codes:
        plain["tags"] = [_UNNECESSARY]
    data = ""
    if client.keeps_data and found.fix_title is not None:
        data = f',"data":{_json({"fix": found.fix_title})}'
    return _json(plain)[1:-1], data


def message_of(view: View, message: str) -> str:
    """Return a message for a client, with line numbers of the document."""
    if view.region is None:
        return message
    return outer_message(view.region, message, view.document.lines)


def _related(session: Session, view: View, uri: str, related: Related) -> str | None:
    """Another place that belongs to a finding; None where its file cannot be read."""
    if related.file is None:
        place = _range(view.document, *view.outer(related.start, related.end))
        where = f'{{"uri":{uri},"range":{place}}}'
    else:
        found = location(session, related.file, related.start, related.end)
        if found is None:
            return None
        where = _json(found)
    return f'{{"location":{where},"message":{_json(related.message)}}}'


def _conflicts(document: OpenDocument, selection: Selection, most: int) -> Iterator[str]:
    """Yield the merge conflicts of a host that no specification in it holds."""
    host = document.host
    conflicts = host_conflicts(host, document.text) if host is not None else ()
    outside = [one for one in conflicts if document.view_at(one.marks[0][1]) is None]
    if not outside or host is None:
        return
    if not document.views and not holds_specifications(host, document.text, conflicts):
        return
    language = language_by_id(main_language())
    found = [unresolved(one, language.conflict_code) for one in outside]
    for one in selection.filter(found)[:most]:
        place = _range(document, one.start, one.end)
        notice = _notice(place, one.severity, one.message)
        yield f'{notice[:-1]},"code":{_json(one.code)}}}'


def _notice(place: str, severity: str, message: str) -> str:
    """Return a diagnostic without a rule, as JSON."""
    plain = {"severity": _SEVERITIES[severity], "source": SOURCE, "message": message}
    return f'{{"range":{place},{_json(plain)[1:-1]}}}'


def _range(document: OpenDocument, start: int, end: int) -> str:
    first, last = document.ruler.places(document.lines, start, end)
    return _RANGE % (*first, *last)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


_RANGE = '{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}'
