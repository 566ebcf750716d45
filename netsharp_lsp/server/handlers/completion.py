"""textDocument/completion and completionItem/resolve."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.answers.writing import text_edits
from netsharp_lsp.server.transport.parameters import brought_back
from netsharp_lsp.server.transport.protocol import Written
from netsharp_lsp.text.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lsprotocol import types as lsp

    from netsharp_lsp.ide.answers import Completion
    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.server.session import Session

_ABILITY = "textDocument.completion.completionItem"
#: Numbers of the protocol's CompletionItemKind.
_KINDS = {
    "keyword": 14,
    "layer": 7,
    "constant": 21,
    "attribute": 10,
    "activation": 20,
    "function": 3,
    "value": 12,
    "snippet": 15,
    "node": 6,
    "section": 9,
    "file": 17,
}
#: Replacements of newer kinds for clients that do not declare them.
_OLDER_KINDS = {20: 12, 21: 12}
_SNIPPET = 2
#: Placeholder in a cached item for the place where it is inserted; no name contains this character.
_HOLE = "\0"
_WRITTEN_HOLE = json.dumps(_HOLE)


def completion(session: Session, params: lsp.CompletionParams) -> dict[str, Any] | None:
    """Return the completions at a position."""
    place = session.place(params.text_document.uri, params.position)
    if place is None:
        return None
    found = place.view.snapshot.complete(place.offset)
    items = _items(session, place.view, params.position.line, found.items)
    return {"isIncomplete": found.incomplete, "items": items}


def _items(
    session: Session, view: View, row: int, proposals: Iterable[Completion]
) -> list[dict[str, Any]] | Written:
    """Return proposals as the client takes them; in a host those alone that stay on their line."""
    snippets = session.client.can(f"{_ABILITY}.snippetSupport")
    older = not session.client.names_kinds("textDocument.completion.completionItemKind")
    if view.region is None:
        return _written(view, row, proposals, snippets, older)
    items = [_plain(view, proposal, snippets, older) for proposal in proposals]
    return [one for one in items if one and _is_on(row, one["textEdit"]["range"])]


def resolve(session: Session, item: dict[str, Any]) -> dict[str, Any]:
    """Add a proposal's documentation; one that has none came without data."""
    if item.get("data") is None:
        return item
    data = brought_back("completionItem/resolve", item["data"])
    view = session.view(data["uri"], data["view"])
    text = view.snapshot.document(data["topic"]) if view is not None else ""
    if text:
        contents = session.markup(text, f"{_ABILITY}.documentationFormat")
        item["documentation"] = {"kind": contents.kind.value, "value": contents.value}
    return item


def _written(
    view: View, row: int, proposals: Iterable[Completion], snippets: bool, older: bool
) -> Written:
    """Return the proposals for a row of a document that is a specification, in JSON.

    All but the place of one is the same at each letter: JSON of the last answer is reused with a
    new place.
    """
    known, view.proposed = view.proposed, {}
    address = (*view.address.values(), snippets, older)
    found, place, where, is_on = [], (-1, -1), "", False
    for one in proposals:
        key = (*address, *one[:2], *one[4:])
        form = known.get(key)
        if form is None:
            item = _item(view, one, snippets, older)
            item["textEdit"]["range"] = _HOLE
            form = json.dumps(item, separators=(",", ":"))
        view.proposed[key] = form
        if (one.start, one.end) != place:
            place = one.start, one.end
            span = view.span(*place)
            where = json.dumps(span, separators=(",", ":"))
            is_on = _is_on(row, span)
        if is_on:
            found.append(form.replace(_WRITTEN_HOLE, where, 1))
    return Written(f"[{','.join(found)}]")


def _is_on(row: int, place: dict[str, Any]) -> bool:
    """Return whether a range lies on the cursor's line, as it must: between literals it may not."""
    return bool(place["start"]["line"] == row == place["end"]["line"])


def _plain(view: View, proposal: Completion, snippets: bool, older: bool) -> dict[str, Any] | None:
    """Return a proposal as JSON; None where it cannot be written into the text around."""
    text = proposal.insert if proposal.snippet and snippets else proposal.plain
    outer = view.outer_edits([Edit(proposal.start, proposal.end, text)])
    if outer is None or len(outer) != 1:
        return None
    item = _item(view, proposal, snippets, older)
    item["textEdit"] = text_edits(view.document, outer)[0]
    return item


def _item(view: View, proposal: Completion, snippets: bool, older: bool) -> dict[str, Any]:
    """Return a proposal as JSON, without its place."""
    as_snippet = proposal.snippet and snippets
    kind = _KINDS[proposal.kind]
    item: dict[str, Any] = {
        "label": proposal.label,
        "kind": _OLDER_KINDS.get(kind, kind) if older else kind,
        "sortText": f"{proposal.rank:04d}{proposal.label}",
        "textEdit": {"newText": proposal.insert if as_snippet else proposal.plain},
    }
    if proposal.filter_text != proposal.label:
        item["filterText"] = proposal.filter_text
    if as_snippet:
        item["insertTextFormat"] = _SNIPPET
    if proposal.detail:
        item["detail"] = proposal.detail
    if proposal.topic:
        item["data"] = {**view.address, "topic": proposal.topic}
    return item
